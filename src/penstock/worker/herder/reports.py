"""The worker's reports, queued until the herder listens.

The worker is made before the herder that needs it, so the worker gets this to report to.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from penstock.kernel.data.record import TaskId
from penstock.worker.interface import State, WorkerEvents


class WorkerReports:
    """WorkerEvents that forwards everything in order, and queues it until there is a listener."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listener: WorkerEvents | None = None
        self._queued: list[Callable[[WorkerEvents], None]] = []

    def deliver_to(self, listener: WorkerEvents) -> None:
        with self._lock:
            self._listener = listener
            for report in self._queued:
                report(listener)
            self._queued.clear()

    def connector_state(self, name: str, state: State, trace: str | None) -> None:
        self._report(lambda listener: listener.connector_state(name, state, trace))

    def task_state(self, task: TaskId, state: State, trace: str | None) -> None:
        self._report(lambda listener: listener.task_state(task, state, trace))

    def task_figures(self, task: TaskId, figures: Mapping[str, int]) -> None:
        self._report(lambda listener: listener.task_figures(task, figures))

    def task_configs(self, connector: str, configs: Sequence[Mapping[str, str]]) -> None:
        self._report(lambda listener: listener.task_configs(connector, configs))

    def topic_used(self, task: TaskId, topic: str) -> None:
        self._report(lambda listener: listener.topic_used(task, topic))

    def _report(self, report: Callable[[WorkerEvents], None]) -> None:
        with self._lock:
            if self._listener is None:
                self._queued.append(report)
                return
        report(self._listener)
