"""What a herder needs of a worker, and what a worker tells a herder.

The herder decides, the worker runs. Neither imports the other: `runtime` satisfies Worker,
`herder` satisfies WorkerEvents, `bootstrap` joins them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from penstock.api.plugin import PluginKind
from penstock.clock import Deadline
from penstock.data.record import TaskId


class TargetState(StrEnum):
    """What a user wants of a connector."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


class State(StrEnum):
    """What a connector or task is doing."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    FAILED = "FAILED"
    STOPPED = "STOPPED"
    RESTARTING = "RESTARTING"
    DESTROYED = "DESTROYED"


@dataclass(frozen=True, slots=True)
class PartitionOffset:
    """One entry of the offsets API: {"partition": {…}, "offset": {…} or null}."""

    partition: Mapping[str, Any]
    offset: Mapping[str, Any] | None


class WorkerEvents(Protocol):
    """What a worker reports. Called on any thread; must return at once (put it on a queue)."""

    def connector_state(self, name: str, state: State, trace: str | None) -> None: ...

    def task_state(self, task: TaskId, state: State, trace: str | None) -> None: ...

    def task_figures(self, task: TaskId, figures: Mapping[str, int]) -> None:
        """What a running task wants shown in its status beside its state."""
        ...

    def task_configs(self, connector: str, configs: Sequence[Mapping[str, str]]) -> None:
        """A running connector made its task configs: after its start, its resume, or on its wish.

        They are complete: the connector's own, plus `task.class`, and for sinks `topics` or
        `topics.regex`, as in Connect's task-<name>-<n> records.
        """
        ...

    def topic_used(self, task: TaskId, topic: str) -> None:
        """The task read from or wrote to the topic, for the first time since it started."""
        ...


class Worker(Protocol):
    """Runs connectors and tasks on this machine; knows nothing of a group or of REST.

    start_* return at once and report by events; a plugin that hangs holds up nobody else.
    Configs come in as stored, with `${provider:…}` references unresolved: the worker resolves them.
    """

    def connector_version(self, config: Mapping[str, str]) -> str | None: ...

    def start_connector(
        self, name: str, config: Mapping[str, str], target: TargetState
    ) -> None: ...

    def stop_connector(self, name: str, deadline: Deadline) -> None:
        """Stop it if it runs here; returns when it stopped or was given up at the deadline."""
        ...

    def start_task(
        self,
        task: TaskId,
        connector_config: Mapping[str, str],
        task_config: Mapping[str, str],
        target: TargetState,
    ) -> None: ...

    def stop_tasks(self, tasks: Sequence[TaskId], deadline: Deadline) -> None:
        """Stop those that run here, all at once; offsets are committed when it returns."""
        ...

    def set_target_state(self, name: str, target: TargetState) -> None:
        """Pause or resume the connector and its tasks. (STOPPED: the herder stops the tasks.)"""
        ...

    def request_task_configs(self, name: str) -> None:
        """Have the connector make its task configs again; they come as an event."""
        ...

    def running_connectors(self) -> frozenset[str]: ...

    def running_tasks(self) -> frozenset[TaskId]: ...

    def offsets(
        self, name: str, config: Mapping[str, str], kind: PluginKind, deadline: Deadline
    ) -> list[PartitionOffset]:
        """Stored offsets of a source, or committed offsets of a sink's group."""
        ...

    def alter_offsets(
        self,
        name: str,
        config: Mapping[str, str],
        kind: PluginKind,
        offsets: Sequence[PartitionOffset] | None,
        deadline: Deadline,
    ) -> str:
        """Change (or, with None, forget all) offsets of a stopped connector; the REST message.

        Raises:
            BadRequestError: they don't make sense for this connector.
        """
        ...

    def preview(
        self,
        config: Mapping[str, str],
        records: Sequence[Any] | None,
        limit: int,
        deadline: Deadline,
    ) -> list[dict[str, Any]]:
        """What the connector's converters and transforms make of records; nothing is written.

        Args:
            records: as the REST API takes them; None for records that the connector would read.
            limit: how many of those.

        Raises:
            BadRequestError: the records can't be read, or there are too many.
        """
        ...

    def chain_problems(self, config: Mapping[str, str]) -> Mapping[str, str]:
        """What is wrong with transforms that only Spark can check, by the key to change."""
        ...

    def obstacle(self) -> str | None:
        """What keeps all tasks from moving on, in words for people; None if nothing does."""
        ...

    def outside_problems(self, resolved: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
        """What a connector finds wrong with the outside world that a config names, by key.

        Raises whatever keeps it from looking. `resolved`: what config providers keep is in it.
        """
        ...

    def close(self, deadline: Deadline) -> None:
        """Stop everything."""
        ...
