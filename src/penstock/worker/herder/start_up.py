"""A herder's start: Kafka is asked who it is, the stores are read; tried until it works."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, wait
from functools import partial
from typing import Any, Final

from penstock.kernel.clock import Clock, Deadline
from penstock.kernel.errors import DeadlineExceededError, RetriableError, StorageError
from penstock.worker.herder.command_thread import CommandThread
from penstock.worker.herder.lanes import Lanes
from penstock.worker.storage.stores import Stores

log = logging.getLogger(__name__)

READING_STORES: Final = "initializing and reading to the end of internal topics"

_ATTEMPT_SECONDS: Final = 30.0
# Whoever starts a worker without a broker reads soon that there is none.
_FIRST_ANSWER_SECONDS: Final = 10.0
_BETWEEN_ATTEMPTS_SECONDS: Final = 1.0


class StartUp:
    """The steps of a start, each repeated as long as what fails may get better by itself."""

    def __init__(
        self, thread: CommandThread, lanes: Lanes, clock: Clock, stopping: threading.Event
    ) -> None:
        self._thread = thread
        self._lanes = lanes
        self._clock = clock
        self._stopping = stopping

    def cluster_id(self, ask: Callable[[Deadline], str | None]) -> str | None:
        """The id of the Kafka cluster. Asked first, so that only one says there is no broker."""
        found: str | None = self._insist(ask, _FIRST_ANSWER_SECONDS)
        return found

    def start(self, stores: Stores) -> None:
        """All at once: each waits for the broker most of the time. The first failure is enough."""
        self._thread.enter(READING_STORES)
        begun = [
            self._lanes.submit(type(store).__name__, partial(self._insist, store.start))
            for store in (stores.configs, stores.statuses, stores.offsets)
        ]
        for ended in wait(begun, return_when=FIRST_EXCEPTION).done:
            ended.result()

    def _insist(
        self, step: Callable[[Deadline], Any], first_seconds: float = _ATTEMPT_SECONDS
    ) -> Any:
        """Try until it works, as long as what fails may get better by itself."""
        seconds = first_seconds
        while True:
            if self._stopping.is_set():
                raise RetriableError("the worker is stopping")
            try:
                return step(Deadline.after(seconds, self._clock))
            except (DeadlineExceededError, RetriableError, StorageError) as error:
                log.warning("Kafka can't be used yet, trying again: %s", error)
                self._thread.enter(f"waiting for Kafka ({error})")
                seconds = _ATTEMPT_SECONDS
                self._clock.wait(self._stopping, _BETWEEN_ATTEMPTS_SECONDS)
