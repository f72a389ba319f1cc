"""The herder's own thread: everything that changes cluster state runs here, one after another."""

from __future__ import annotations

import heapq
import itertools
import logging
import queue
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from penstock.kernel.clock import Clock, Deadline
from penstock.kernel.errors import DeadlineExceededError

log = logging.getLogger(__name__)

T = TypeVar("T")

_IDLE_SECONDS: Final = 60.0
_WAITING: Final = "waiting for requests"


@dataclass(frozen=True, slots=True)
class Stage:
    """What the thread is doing, and since when."""

    description: str
    since_ms: int

    def __str__(self) -> str:
        since = datetime.fromtimestamp(self.since_ms / 1000, UTC)
        text = since.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return f"{self.description}, which began at {text}"


@dataclass(frozen=True, slots=True)
class Command:
    """An action, and the deadline after which it is not run any more (None: no deadline)."""

    step: str
    action: Callable[[], Any]
    deadline: Deadline | None = None
    done: Future[Any] = field(default_factory=Future)

    def run(self) -> None:
        if not self.done.set_running_or_notify_cancel():
            return
        try:
            self.done.set_result(self.action())
        except Exception as error:  # noqa: BLE001 - it belongs to the caller, not to this thread
            self.done.set_exception(error)


class CommandThread:
    """Runs commands in order on one thread. `call` waits for the answer, `post` does not."""

    def __init__(self, clock: Clock, name: str = "herder") -> None:
        self._clock = clock
        self._queue: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        self._timers: list[tuple[float, int, Command]] = []
        self._numbers = itertools.count()
        self._stage = Stage("awaiting startup", clock.wall_ms())
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._ended = threading.Event()

    @property
    def stage(self) -> Stage:
        return self._stage

    def start(self) -> None:
        self._thread.start()

    def enter(self, description: str) -> None:
        """Record what the thread does now; requests that time out report it."""
        if description != self._stage.description:
            self._stage = Stage(description, self._clock.wall_ms())

    def post(self, step: str, action: Callable[[], Any]) -> None:
        """Queue an action; log what it raises."""
        command = Command(step, action)
        command.done.add_done_callback(lambda done: _log_failure(step, done))
        self._queue.put(command)

    def post_later(self, seconds: float, step: str, action: Callable[[], Any]) -> None:
        """post() after so many seconds. Only this thread may call it."""
        command = Command(step, action)
        command.done.add_done_callback(lambda done: _log_failure(step, done))
        at = self._clock.now() + seconds
        heapq.heappush(self._timers, (at, next(self._numbers), command))

    def call(self, step: str, action: Callable[[], T], deadline: Deadline) -> T:
        """Run an action and return its value, or raise what it raises.

        Raises:
            DeadlineExceededError: the thread did not get to it in time, and will not run it later.
        """
        command = Command(step, action, deadline)
        self._queue.put(command)
        try:
            value: T = command.done.result(deadline.remaining())
        except (FutureTimeoutError, CancelledError) as error:
            if not command.done.cancel() and command.done.done() and not command.done.cancelled():
                return command.done.result()  # type: ignore[no-any-return]
            raise self.timed_out() from error
        return value

    def timed_out(self) -> DeadlineExceededError:
        """The error for a request that waited too long for this thread."""
        return DeadlineExceededError(f"Request timed out. The worker is currently {self._stage}")

    def stop(self, deadline: Deadline) -> None:
        """End the thread after what it is doing now; commands still waiting are cancelled."""
        self._queue.put(None)
        self._ended.wait(deadline.remaining())

    def _run(self) -> None:
        try:
            while (command := self._next()) is not None:
                if command.deadline is not None and command.deadline.expired:
                    command.done.cancel()
                    continue
                self.enter(command.step)
                command.run()
                self.enter(_WAITING)
        finally:
            self._cancel_rest()
            self._ended.set()

    def _next(self) -> Command | None:
        while True:
            now = self._clock.now()
            if self._timers and self._timers[0][0] <= now:
                return heapq.heappop(self._timers)[2]
            wait = min(_IDLE_SECONDS, self._timers[0][0] - now) if self._timers else _IDLE_SECONDS
            with suppress(queue.Empty):
                return self._queue.get(timeout=wait)

    def _cancel_rest(self) -> None:
        with suppress(queue.Empty):
            while (command := self._queue.get_nowait()) is not None:
                command.done.cancel()


def _log_failure(step: str, done: Future[Any]) -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        log.error("The herder failed while %s", step, exc_info=error)
