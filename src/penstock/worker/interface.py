"""What a herder needs of a worker, and what a worker reports to a herder.

The herder decides, the worker executes. Neither imports the other: `runtime` satisfies Worker,
`herder` satisfies WorkerEvents, `bootstrap` joins them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from penstock.api.plugin import PluginKind
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TaskId


class TargetState(StrEnum):
    """The state that a user requested for a connector."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


class State(StrEnum):
    """The state of a connector or task."""

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
        """Figures that a running task shows in its status beside its state."""
        ...

    def task_configs(self, connector: str, configs: Sequence[Mapping[str, str]]) -> None:
        """A connector made its task configs: after a start or resume, or because it requested it.

        They are complete: the connector's own, plus `task.class`, and for sinks `topics` or
        `topics.regex`, as in Connect's task-<name>-<n> records.
        """
        ...

    def topic_used(self, task: TaskId, topic: str) -> None:
        """The task read from or wrote to the topic, for the first time since it started."""
        ...


class Worker(Protocol):
    """Runs connectors and tasks on this machine; knows nothing of a group or of REST.

    start_* return at once and report by events; a plugin that hangs blocks no other.
    Callers pass configs as stored; the worker resolves their `${provider:…}` references.
    """

    def connector_version(self, config: Mapping[str, str]) -> str | None: ...

    def start_connector(
        self, name: str, config: Mapping[str, str], target: TargetState
    ) -> None: ...

    def stop_connector(self, name: str, deadline: Deadline) -> None:
        """Stop it if it runs here; return when it has stopped or, at the deadline, is abandoned."""
        ...

    def start_task(
        self,
        task: TaskId,
        connector_config: Mapping[str, str],
        task_config: Mapping[str, str],
        target: TargetState,
    ) -> None: ...

    def stop_tasks(self, tasks: Sequence[TaskId], deadline: Deadline) -> None:
        """Stop those that run here, all at once; return when their offsets are committed."""
        ...

    def set_target_state(self, name: str, target: TargetState) -> None:
        """Pause or resume the connector and its tasks. (STOPPED: the herder stops the tasks.)"""
        ...

    def request_task_configs(self, name: str) -> None:
        """Let the connector make its task configs again, and report them as an event."""
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
        """Change offsets of a stopped connector (None deletes all); return the REST message.

        Raises:
            BadRequestError: the offsets are invalid for this connector.
        """
        ...

    def preview(
        self,
        config: Mapping[str, str],
        records: Sequence[Any] | None,
        limit: int,
        deadline: Deadline,
    ) -> list[dict[str, Any]]:
        """The records after each of the connector's steps; nothing is written.

        Args:
            records: as the REST API takes them; None for records that the connector would read.
            limit: how many of those.

        Raises:
            BadRequestError: the records can't be read, or there are too many.
        """
        ...

    def chain_problems(self, config: Mapping[str, str]) -> Mapping[str, str]:
        """Errors of transforms that only Spark can detect, by the key to change."""
        ...

    def obstacle(self) -> str | None:
        """What all tasks wait for, as a message for users; None if nothing."""
        ...

    def outside_problems(self, resolved: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
        """Errors of the servers and tables that a config names, by key.

        Raises whatever prevents the check. `resolved`: with the values of config providers.
        """
        ...

    def close(self, deadline: Deadline) -> None:
        """Stop everything."""
        ...
