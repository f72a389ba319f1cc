"""Whether a worker is well: it has started, its herder answers, Kafka and Spark are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from penstock.kernel.clock import Clock, Deadline
from penstock.kernel.errors import DeadlineExceededError, PenstockError
from penstock.kernel.wire.models import Health
from penstock.worker.herder.command_thread import CommandThread

_BROKER_SECONDS: Final = 4.0


class HealthCheck:
    """Answers /health.

    Args:
        thread: the herder's own.
        cluster_id: asks Kafka who it is.
        obstacle: why the worker moves no record, if it knows.
    """

    def __init__(
        self,
        thread: CommandThread,
        cluster_id: Callable[[Deadline], str | None],
        obstacle: Callable[[], str | None],
        clock: Clock,
    ) -> None:
        self._thread = thread
        self._cluster_id = cluster_id
        self._obstacle = obstacle
        self._clock = clock

    def starting(self, deadline: Deadline, *, knows_kafka: bool) -> Health:
        """While the worker starts; `knows_kafka` once it had an answer of its broker."""
        away = self._broker_away(deadline) if knows_kafka else None
        now = away or f"The worker is currently {self._thread.stage}"
        return Health("starting", f"Worker is still starting up. {now}")

    def started(self, deadline: Deadline) -> Health:
        """After that."""
        try:
            self._answer_soon(deadline)
        except DeadlineExceededError as error:
            text = "Worker was unable to handle this request and may be unable to handle other "
            return Health("unhealthy", f"{text}requests. {error}")
        if obstacle := self._obstacle() or self._broker_away(deadline):
            return Health("unhealthy", f"Worker answers, but no record moves. {obstacle}")
        return Health("healthy", "Worker has completed startup and is ready to handle requests.")

    def _answer_soon(self, deadline: Deadline) -> None:
        """Have the herder's thread answer.

        Raises:
            DeadlineExceededError: it did not; the text says what it waits for or what it does.
        """
        first = Deadline.after(max(0.0, deadline.remaining() - _BROKER_SECONDS), self._clock)
        try:
            self._thread.call("answering a health check", lambda: None, first)
        except DeadlineExceededError:
            if away := self._broker_away(deadline):
                raise DeadlineExceededError(away) from None
            self._thread.call("answering a health check", lambda: None, deadline)

    def _broker_away(self, deadline: Deadline) -> str | None:
        """What is waited for, if Kafka does not answer; None if it does."""
        try:
            self._cluster_id(Deadline.after(min(_BROKER_SECONDS, deadline.remaining())))
        except PenstockError as error:
            return f"It waits for Kafka: {error}"
        return None
