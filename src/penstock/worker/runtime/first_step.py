"""Whether a task has finished its first poll or batch."""

from __future__ import annotations

from penstock.kernel.data.record import TaskId
from penstock.kernel.wire.states import STARTING
from penstock.worker.interface import WorkerEvents


class FirstStep:
    """Shows beside a task's state that its first poll or batch has not ended yet.

    Most faults of a connector appear only then, when its task is already RUNNING.
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
