"""Calls into the worker and into plugins, off the herder's thread.

Any call into a plugin may hang. So each connector has a lane: its calls run in order, one at a
time, and those of different connectors run in parallel. A lane has a thread only while it works.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from penstock.kernel import calls
from penstock.kernel.clock import Deadline

T = TypeVar("T")

_LATE: Final = "Request timed out"


class Lanes:
    """One queue of work for each connector. May be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._waiting: dict[str, deque[tuple[Callable[[], Any], Future[Any]]]] = {}

    def submit(self, connector: str, work: Callable[[], T]) -> Future[T]:
        done: Future[T] = Future()
        with self._lock:
            lane = self._waiting.get(connector)
            if lane is not None:
                lane.append((work, done))
                return done
            self._waiting[connector] = deque([(work, done)])
        # A thread that hangs in a plugin must not keep the process from ending.
        threading.Thread(
            target=self._work, args=(connector,), name=f"herder-{connector}", daemon=True
        ).start()
        return done

    def join(self, deadline: Deadline) -> bool:
        """Wait until no lane has work; False if the deadline came first."""
        with self._idle:
            return self._idle.wait_for(lambda: not self._waiting, deadline.remaining())

    def _work(self, connector: str) -> None:
        while True:
            with self._idle:
                lane = self._waiting[connector]
                if not lane:
                    del self._waiting[connector]
                    self._idle.notify_all()
                    return
                work, done = lane.popleft()
            calls.run_into(done, work)


def within(deadline: Deadline, step: str, work: Callable[[], T]) -> T:
    """As `penstock.kernel.calls.within`, in the words of Connect's REST API."""
    return calls.within(deadline, step, work, late=_LATE)


def result_of(done: Future[T], deadline: Deadline, step: str) -> T:
    """As `penstock.kernel.calls.result_of`, in the words of Connect's REST API."""
    return calls.result_of(done, deadline, step, late=_LATE)
