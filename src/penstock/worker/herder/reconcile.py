"""What to start and stop so that a worker runs what the configs say; pure functions.

A connector or task that failed counts as started: only a changed config or a user's restart
starts it again. So a failure never becomes a loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from penstock.kernel.data.record import TaskId
from penstock.worker.interface import TargetState
from penstock.worker.storage.interfaces import ClusterSnapshot, ConnectorEntry


@dataclass(frozen=True, slots=True)
class StartedConnector:
    """The config and target that a connector last got."""

    config: Mapping[str, str]
    target: TargetState


@dataclass(frozen=True, slots=True)
class StartedTask:
    """What a task was started with."""

    connector_config: Mapping[str, str]
    config: Mapping[str, str]


@dataclass(slots=True)
class Started:
    """Everything that the herder started on the worker. Owned by the herder's thread."""

    connectors: dict[str, StartedConnector] = field(default_factory=dict)
    tasks: dict[str, dict[TaskId, StartedTask]] = field(default_factory=dict)
    #: The config of each connector from which its current task configs were made.
    applied: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def tasks_of(self, connector: str) -> dict[TaskId, StartedTask]:
        return self.tasks.get(connector, {})

    @property
    def all_tasks(self) -> list[TaskId]:
        return [task for tasks in self.tasks.values() for task in tasks]

    def note(self, change: Change) -> None:
        """Record a change that the worker is about to carry out."""
        name = change.connector
        tasks = self.tasks.setdefault(name, {})
        for task in change.stop_tasks:
            tasks.pop(task, None)
        tasks.update(change.start_tasks)
        if change.stop:
            self.connectors.pop(name, None)
        if change.start is not None:
            self.connectors[name] = change.start
            self.applied.setdefault(name, change.start.config)
        elif change.retarget is not None:
            self.connectors[name] = replace(self.connectors[name], target=change.retarget)
        if name not in self.connectors:
            self.applied.pop(name, None)
            self.tasks.pop(name, None)


@dataclass(frozen=True, slots=True)
class Change:
    """What to do for one connector, in this order: stop tasks, stop, start, retarget, start tasks.

    `start` has the config and target to start with; `retarget` is a new target for what runs.
    """

    connector: str
    stop_tasks: tuple[TaskId, ...] = ()
    stop: bool = False
    start: StartedConnector | None = None
    retarget: TargetState | None = None
    start_tasks: Mapping[TaskId, StartedTask] = field(default_factory=dict)
    target: TargetState = TargetState.STARTED

    @property
    def empty(self) -> bool:
        return not (self.stop_tasks or self.stop or self.start or self.retarget or self.start_tasks)


def changes(snapshot: ClusterSnapshot, started: Started, names: Iterable[str]) -> Iterator[Change]:
    """One change for each of these connectors whose wanted state is not what was started."""
    for name in names:
        change = _change(
            name,
            snapshot.connectors.get(name),
            started.connectors.get(name),
            started.tasks_of(name),
            started.applied,
        )
        if not change.empty:
            yield change


def _change(
    name: str,
    entry: ConnectorEntry | None,
    connector: StartedConnector | None,
    tasks: Mapping[TaskId, StartedTask],
    applied: Mapping[str, Mapping[str, str]],
) -> Change:
    if entry is None or entry.config is None:
        return Change(name, stop_tasks=tuple(tasks), stop=connector is not None)
    target = TargetState(entry.target)
    wanted = wanted_tasks(name, entry, applied.get(name, entry.config))
    new = {task: found for task, found in wanted.items() if tasks.get(task) != found}
    restart = connector is not None and connector.config != entry.config
    return Change(
        name,
        stop_tasks=tuple(task for task in tasks if task not in wanted or task in new),
        stop=restart,
        start=StartedConnector(entry.config, target) if connector is None or restart else None,
        retarget=(
            target
            if connector is not None and not restart and connector.target is not target
            else None
        ),
        start_tasks=new,
        target=target,
    )


def wanted_tasks(
    name: str, entry: ConnectorEntry, applied: Mapping[str, str]
) -> dict[TaskId, StartedTask]:
    """The tasks a connector should run: none if it is stopped or task configs are missing."""
    if entry.target == TargetState.STOPPED or not entry.consistent:
        return {}
    return {
        TaskId(name, number): StartedTask(applied, config)
        for number, config in enumerate(entry.tasks)
    }
