"""What the rest of Penstock needs of storage: protocols and the values they exchange."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TaskId


class OffsetStore(Protocol):
    """Source offsets by connector and source partition. What put() stored survives a crash."""

    def start(self, deadline: Deadline) -> None: ...

    def get(self, connector: str, partition: Mapping[str, Any]) -> Mapping[str, Any] | None: ...

    def all(self, connector: str) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """Every partition of the connector with its offset, in a stable order."""
        ...

    def refresh(self, deadline: Deadline) -> None:
        """Read what other workers wrote: afterwards get() and all() are current."""
        ...

    def put(
        self,
        connector: str,
        offsets: Sequence[tuple[Mapping[str, Any], Mapping[str, Any] | None]],
        deadline: Deadline,
    ) -> None:
        """Store offsets; None deletes one. Durable when it returns."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ConnectorEntry:
    """The stored state of one connector. `target` is STARTED, PAUSED or STOPPED."""

    config: Mapping[str, str] | None
    target: str = "STARTED"
    tasks: tuple[Mapping[str, str], ...] = ()
    #: False if task records of the last commit record are missing: create them again.
    consistent: bool = True


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """All configs at one moment. `offset` = offset of the last record read + 1, -1 if none."""

    connectors: Mapping[str, ConnectorEntry] = field(default_factory=dict)
    offset: int = -1


@dataclass(frozen=True, slots=True)
class RestartRequest:
    """A restart-connector-<name> record."""

    connector: str
    include_tasks: bool
    only_failed: bool


class ConfigStore(Protocol):
    """Connector configs, task configs and target states, as an ordered log.

    Writes return when the record is stored AND read back, so a snapshot taken afterwards has it.
    """

    def start(self, deadline: Deadline) -> None:
        """Create the topic if it is missing, and read it to the end."""
        ...

    def snapshot(self) -> ClusterSnapshot: ...

    def refresh(self, deadline: Deadline) -> None:
        """Read to the current end."""
        ...

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call the listener (any thread, returns at once) whenever something new was read."""
        ...

    def put_connector(
        self,
        name: str,
        config: Mapping[str, str],
        deadline: Deadline,
        *,
        target: str | None = None,
    ) -> None:
        """Store a config; a target state, if given, is written before it."""
        ...

    def remove_connector(self, name: str, deadline: Deadline) -> None: ...

    def put_target(self, name: str, target: str, deadline: Deadline) -> None: ...

    def put_tasks(
        self, name: str, configs: Sequence[Mapping[str, str]], deadline: Deadline
    ) -> None:
        """All task records, then the commit record."""
        ...

    def put_restart(self, request: RestartRequest, deadline: Deadline) -> None: ...

    def put_logger(self, namespace: str, level: str, deadline: Deadline) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Status:
    """State of a connector or task, as stored. Only Penstock's tasks have figures."""

    state: str
    worker_id: str
    generation: int
    trace: str | None = None
    version: str | None = None
    figures: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class TopicStatus:
    """A topic that a connector used."""

    topic: str
    connector: str
    task: int
    discovered_ms: int


class StatusStore(Protocol):
    """Last known states. Writes do not wait for the broker (Connect's do not either), but
    a reader in the same process sees them at once; a failed write is logged and repeated."""

    def start(self, deadline: Deadline) -> None: ...

    @property
    def changes(self) -> int:
        """The number of changes; while it is the same, no state has changed."""
        ...

    def connector(self, name: str) -> Status | None: ...

    def task(self, task: TaskId) -> Status | None: ...

    def tasks(self, connector: str) -> dict[TaskId, Status]: ...

    def put_connector(self, name: str, status: Status | None) -> None:
        """Store; None removes (tombstone)."""
        ...

    def put_task(self, task: TaskId, status: Status | None) -> None: ...

    def topics(self, connector: str) -> list[TopicStatus]: ...

    def put_topic(self, status: TopicStatus) -> None: ...

    def remove_topics(self, connector: str) -> None: ...

    def flush(self, deadline: Deadline) -> None:
        """Wait until everything put so far is stored."""
        ...

    def close(self) -> None: ...
