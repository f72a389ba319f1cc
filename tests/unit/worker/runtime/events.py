"""What a worker tells, noted down."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from penstock.kernel.data.record import TaskId
from penstock.testing.waiting import eventually
from penstock.worker.interface import State


class Notes:
    """Satisfies WorkerEvents."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.states: list[tuple[str, State]] = []
        self.traces: dict[str, str | None] = {}
        self.configs: list[tuple[str, list[dict[str, str]]]] = []
        self.topics: list[tuple[str, str]] = []
        self.figures: list[dict[str, int]] = []

    def connector_state(self, name: str, state: State, trace: str | None) -> None:
        with self._lock:
            self.states.append((name, state))
            self.traces[name] = trace

    def task_state(self, task: TaskId, state: State, trace: str | None) -> None:
        self.connector_state(str(task), state, trace)

    def task_figures(self, task: TaskId, figures: Mapping[str, int]) -> None:
        with self._lock:
            self.figures.append(dict(figures))

    def task_configs(self, connector: str, configs: Sequence[Mapping[str, str]]) -> None:
        with self._lock:
            self.configs.append((connector, [dict(each) for each in configs]))

    def topic_used(self, task: TaskId, topic: str) -> None:
        with self._lock:
            self.topics.append((str(task), topic))

    def of(self, name: str) -> list[State]:
        with self._lock:
            return [state for who, state in self.states if who == name]

    def await_states(self, name: str, *states: State) -> None:
        eventually(lambda: self.of(name), lambda now: now == list(states), seconds=10)


def await_that(condition: Callable[[], bool]) -> None:
    eventually(condition)
