"""The base of all administration calls: one client, deadlines, and retries."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import kafka
import kafka.errors
from kafka.admin import KafkaAdminClient

from penstock.kafka.clients.connect import python_admin
from penstock.kafka.clients.failures import python_failure
from penstock.kernel.calls import within
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import RetriableError, SetupError

_RETRY_SECONDS: Final = 0.2
_LEAST_SECONDS: Final = 1.0


class AdminCalls:
    """One administration client. Connects at the first call; for use from any thread."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._properties = dict(properties)
        self._where = self._properties.get("bootstrap.servers", "localhost:9092")
        # Two, because connecting blocks until a broker answers: close() does not wait for it.
        self._connecting = threading.Lock()
        self._lock = threading.Lock()
        self._client: KafkaAdminClient | None = None
        self._closes = 0

    def close(self) -> None:
        with self._lock:
            self._closes += 1
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def do(self, deadline: Deadline, step: str, call: Callable[[KafkaAdminClient], Any]) -> Any:
        """The result of a call of the library; errors name the `step`."""
        step = self.at(step)
        return within(deadline, step, lambda: self._call(deadline, step, call))

    def check(self, outcomes: Iterable[type[Exception]], step: str) -> None:
        """Raise the first of the outcomes that is an error."""
        for outcome in outcomes:
            if outcome is not kafka.errors.NoError:
                error = outcome("refused")
                raise python_failure(error, self.at(step)) from error

    def at(self, step: str) -> str:
        return f"{step} (Kafka at {self._where})"

    def _call(self, deadline: Deadline, step: str, call: Callable[[KafkaAdminClient], Any]) -> Any:
        """Retry while the broker can't answer (its coordinator is loading, its leader moved):
        every call here may be repeated."""
        pause = threading.Event()
        while True:
            try:
                return call(self._connected(deadline))
            except Exception as error:
                failure = python_failure(error, step)
                if not isinstance(failure, RetriableError) or deadline.remaining() < _LEAST_SECONDS:
                    raise failure from error
            deadline.clock.wait(pause, _RETRY_SECONDS)

    def _connected(self, deadline: Deadline) -> KafkaAdminClient:
        with self._connecting:
            with self._lock:
                known, closes = self._client, self._closes
            if known is not None:
                return known
            # A little less than the time left, so that the user sees the library's own error.
            client = python_admin(self._properties, 0.9 * deadline.remaining())
            with self._lock:
                if closes == self._closes:
                    self._client = client
                    return client
        client.close()
        raise SetupError(self.at("the client was closed while it connected"))


def theirs(partition: TopicPartition) -> Any:
    """A partition as the library's type."""
    return kafka.TopicPartition(partition.topic, partition.partition)


def ours(partition: Any) -> TopicPartition:
    return TopicPartition(partition.topic, partition.partition)
