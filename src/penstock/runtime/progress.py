"""What a task has moved since it started; counted by batch, and whether that was anything yet."""

from __future__ import annotations

import threading

from penstock.data.record import TaskId
from penstock.wire.states import STARTING
from penstock.worker_port import WorkerEvents


class TaskProgress:
    """Counters of one task; written on its thread, read from any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._records = 0
        self._batches = 0

    def moved(self, records: int) -> None:
        with self._lock:
            self._records += records
            self._batches += 1

    @property
    def records(self) -> int:
        with self._lock:
            return self._records

    @property
    def batches(self) -> int:
        with self._lock:
            return self._batches


class FirstStep:
    """Shows beside a task's state that its first poll or batch has not come to its end yet.

    Most of what is wrong with a connector shows only then, when its task has long been RUNNING.
    """

    def __init__(self, task: TaskId, events: WorkerEvents) -> None:
        self._task = task
        self._events = events
        self._begun = self._ended = False

    def begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._events.task_figures(self._task, {STARTING: 1})

    def end(self) -> None:
        if not self._ended:
            self._ended = True
            self._events.task_figures(self._task, {})
