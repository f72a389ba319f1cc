"""Calls into the worker and into plugins, off the herder's thread.

Whatever a plugin does may hang. So each connector has a lane: its calls run in order, one at a
time, and those of different connectors run side by side. A lane has a thread only while it works.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, TypeVar

from penstock.clock import Deadline
from penstock.errors import DeadlineExceededError

log = logging.getLogger(__name__)

T = TypeVar("T")


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
            _run(work, done)


def within(step: str, work: Callable[[], T], deadline: Deadline) -> T:
    """Run it on a thread of its own and wait for it no longer than the deadline.

    Raises:
        DeadlineExceededError: it took longer; it is left behind, not ended.
    """
    done: Future[T] = Future()
    thread = threading.Thread(target=_run, args=(work, done), name=f"herder {step}", daemon=True)
    thread.start()
    return wait_for(step, done, deadline)


def wait_for(step: str, done: Future[T], deadline: Deadline) -> T:
    """The value of a future, or DeadlineExceededError that names the step."""
    try:
        return done.result(deadline.remaining())
    except FutureTimeoutError as error:
        if done.done():
            raise
        done.cancel()
        raise DeadlineExceededError(f"Request timed out while {step}") from error


def _run(work: Callable[[], T], done: Future[T]) -> None:
    if not done.set_running_or_notify_cancel():
        return
    try:
        done.set_result(work())
    except Exception as error:  # noqa: BLE001 - it belongs to whoever waits for the future
        done.set_exception(error)
