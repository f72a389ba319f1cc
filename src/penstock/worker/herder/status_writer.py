"""Stores the states of connectors and tasks, on the herder's thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from penstock.kernel.clock import Clock
from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import PenstockError
from penstock.worker.interface import State
from penstock.worker.storage.interfaces import ConnectorEntry, Status, StatusStore, TopicStatus

# States stored without the plugin's version, as in Connect's own records.
_UNVERSIONED: Final = frozenset({State.UNASSIGNED, State.DESTROYED})
_ENDED: Final = frozenset({State.FAILED, State.UNASSIGNED})
_PAUSED_OR_RESUMED: Final = frozenset({State.RUNNING.value, State.PAUSED.value})

Version = Callable[[Mapping[str, str]], str | None]


@dataclass(frozen=True, slots=True)
class Identity:
    """The worker that writes statuses, and the generation of its group; constant if alone."""

    worker_id: str
    generation: Callable[[], int] = lambda: 1


class Records:
    """Stores states and topics of connectors that exist, and removes those of deleted ones."""

    def __init__(
        self, statuses: StatusStore, identity: Identity, clock: Clock, version: Version
    ) -> None:
        self._statuses = statuses
        self._identity = identity
        self._clock = clock
        self._version = version

    def connector(
        self, name: str, entry: ConnectorEntry | None, state: State, trace: str | None
    ) -> None:
        # A connector deleted meanwhile gets no status, even if it still reports one.
        if entry is not None:
            status = self._status(state, trace, self._statuses.connector(name), entry)
            self._statuses.put_connector(name, status)

    def task(
        self, task: TaskId, entry: ConnectorEntry | None, state: State, trace: str | None
    ) -> None:
        if entry is not None and task.number < len(entry.tasks):
            known = self._statuses.task(task)
            status = self._status(state, trace, known, entry)
            if known is not None and {known.state, status.state} == _PAUSED_OR_RESUMED:
                status = replace(status, figures=known.figures)
            self._statuses.put_task(task, status)

    def figures(self, task: TaskId, figures: Mapping[str, int]) -> None:
        """Store the task's figures beside its state, until the state changes."""
        known = self._statuses.task(task)
        if known is not None and self._ran(known):
            self._statuses.put_task(task, replace(known, figures=dict(figures) or None))

    def topic(self, task: TaskId, entry: ConnectorEntry | None, topic: str) -> None:
        known = (status.topic for status in self._statuses.topics(task.connector))
        if entry is not None and topic not in known:
            now = self._clock.wall_ms()
            self._statuses.put_topic(TopicStatus(topic, task.connector, task.number, now))

    def restarting(self, name: str, connector: Status, tasks: Mapping[TaskId, Status]) -> None:
        """Store the statuses of a restart plan, until the restart is done."""
        self._statuses.put_connector(name, connector)
        for task, status in tasks.items():
            self._statuses.put_task(task, status)

    def forget(self, name: str, entry: ConnectorEntry | None) -> None:
        """Remove the statuses of tasks, or of a connector, that were deleted."""
        left = 0 if entry is None else len(entry.tasks)
        for task in list(self._statuses.tasks(name)):
            if task.number >= left:
                self._statuses.put_task(task, None)
        if entry is None:
            self._statuses.put_connector(name, None)
            self._statuses.remove_topics(name)

    def sign_off(self, connectors: Iterable[str], tasks: Iterable[TaskId]) -> None:
        """Store UNASSIGNED for everything that ran here and did not fail."""
        for name in connectors:
            known = self._statuses.connector(name)
            if self._ran(known):
                self._statuses.put_connector(name, self._status(State.UNASSIGNED, None, known))
        for task in tasks:
            known = self._statuses.task(task)
            if self._ran(known):
                self._statuses.put_task(task, self._status(State.UNASSIGNED, None, known))

    def _ran(self, status: Status | None) -> bool:
        here = self._identity.worker_id
        return status is not None and status.worker_id == here and status.state not in _ENDED

    def _status(
        self,
        state: State,
        trace: str | None,
        known: Status | None,
        entry: ConnectorEntry | None = None,
    ) -> Status:
        version = None
        if entry is not None and entry.config is not None and state not in _UNVERSIONED:
            with suppress(PenstockError):
                version = self._version(entry.config)
        # A lone worker must outrank earlier writers, such as the group it takes over from.
        generation = max(self._identity.generation(), known.generation if known else 0)
        return Status(state.value, self._identity.worker_id, generation, trace, version)
