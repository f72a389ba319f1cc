"""A thread for the long calls of one task, so that the task's own thread is not blocked."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

from penstock.kernel.calls import run_into

T = TypeVar("T")


class JobThread:
    """Runs one call after another. A call that hangs does not keep the process from ending."""

    def __init__(self, name: str) -> None:
        self._calls: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None]
        self._calls = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, call: Callable[[], T]) -> Future[T]:
        done: Future[T] = Future()
        # The context has the connector and task that log lines are about.
        self._calls.put((partial(copy_context().run, call), done))
        return done

    def close(self) -> None:
        """Let the thread end after the calls submitted so far."""
        self._calls.put(None)

    def _run(self) -> None:
        while (entry := self._calls.get()) is not None:
            call, done = entry
            run_into(done, call)
