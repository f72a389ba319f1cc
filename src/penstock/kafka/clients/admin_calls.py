"""What every verb of administration is made of: one client, deadlines, and repeated calls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import kafka
import kafka.errors
from kafka.admin import KafkaAdminClient

from penstock.clock import Deadline
from penstock.data.record import TopicPartition
from penstock.errors import RetriableError, SetupError
from penstock.kafka.clients.calls import within
from penstock.kafka.clients.connect import python_admin
from penstock.kafka.clients.failures import python_failure

_RETRY_SECONDS: Final = 0.2
_LEAST_SECONDS: Final = 1.0


class AdminCalls:
    """One administration client. Connects at the first call; for use from any thread."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._properties = dict(properties)
        self._where = self._properties.get("bootstrap.servers", "localhost:9092")
        # Two, because connecting lasts as long as no broker answers: close() does not wait for it.
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
        """What a call of the library gives; `step` is what an error says was under way."""
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
        """Repeat what the broker can't do just now (its coordinator is loading, its leader moved):
        every verb here may be repeated."""
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
            # A little less than there is, so that its own error is the one that is seen.
            client = python_admin(self._properties, 0.9 * deadline.remaining())
            with self._lock:
                if closes == self._closes:
                    self._client = client
                    return client
        client.close()
        raise SetupError(self.at("the connection was closed while it was made"))


def theirs(partition: TopicPartition) -> Any:
    """A partition as the library names it."""
    return kafka.TopicPartition(partition.topic, partition.partition)


def ours(partition: Any) -> TopicPartition:
    return TopicPartition(partition.topic, partition.partition)
