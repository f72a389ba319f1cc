"""Connector configs, task configs and target states: in memory, or in the config topic."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from penstock.kafka.clients import Admin, LogRecord
from penstock.kafka.compacted_log import CompactedLog, LogEvents
from penstock.kafka.topics import InternalTopic, ensure_internal_topic
from penstock.kernel.clock import Clock, Deadline
from penstock.worker.storage.config_records import (
    CommitRecord,
    ConnectorRecord,
    FencingRecord,
    LoggerRecord,
    Record,
    RestartRecord,
    SessionKeyRecord,
    TargetRecord,
    TaskRecord,
    dump,
    parse,
)
from penstock.worker.storage.interfaces import ClusterSnapshot, ConnectorEntry, RestartRequest

log = logging.getLogger(__name__)

_STARTED = "STARTED"
Config = Mapping[str, str]


@dataclass(slots=True)
class ConfigState:
    """The state after all records of the config topic read so far."""

    offset: int = -1
    session_key: SessionKeyRecord | None = None
    #: Connectors whose earlier producers were fenced out, with the task count at that time.
    fenced: dict[str, int] = field(default_factory=dict)
    _configs: dict[str, Config] = field(default_factory=dict)
    _targets: dict[str, str] = field(default_factory=dict)
    _tasks: dict[str, tuple[Config, ...]] = field(default_factory=dict)
    _inconsistent: set[str] = field(default_factory=set)
    #: Task records whose commit record has not come yet.
    _waiting: dict[str, dict[int, Config]] = field(default_factory=dict)

    def apply(self, record: Record) -> None:
        match record:
            case ConnectorRecord():
                self._connector(record)
            case TargetRecord():
                self._target(record)
            case TaskRecord(name, number, config):
                self._waiting.setdefault(name, {})[number] = config
            case CommitRecord(name, tasks):
                self._commit(name, tasks)
            case FencingRecord():
                self._fence(record)
            case SessionKeyRecord():
                self.session_key = record

    def _connector(self, record: ConnectorRecord) -> None:
        if record.config is None:
            self._configs.pop(record.connector, None)
            self._forget_tasks(record.connector)
        else:
            self._configs[record.connector] = record.config

    def _target(self, record: TargetRecord) -> None:
        if record.target is None:
            self._targets.pop(record.connector, None)
        else:
            self._targets[record.connector] = record.target

    def _fence(self, record: FencingRecord) -> None:
        if record.task_count is None:
            self.fenced.pop(record.connector, None)
        else:
            self.fenced[record.connector] = record.task_count

    def _commit(self, name: str, tasks: int) -> None:
        waiting = self._waiting.pop(name, {})
        if name not in self._configs:
            # Left over by compaction from a connector that was deleted.
            self._forget_tasks(name)
        elif all(number in waiting for number in range(tasks)):
            self._tasks[name] = tuple(waiting[number] for number in range(tasks))
            self._inconsistent.discard(name)
        else:
            # Compaction removed some task records of this commit.
            self._tasks[name] = ()
            self._inconsistent.add(name)

    def _forget_tasks(self, name: str) -> None:
        self._tasks.pop(name, None)
        self._waiting.pop(name, None)
        self._inconsistent.discard(name)

    def snapshot(self) -> ClusterSnapshot:
        names = sorted(self._configs.keys() | self._targets.keys())
        return ClusterSnapshot({name: self._entry(name) for name in names}, self.offset)

    def _entry(self, name: str) -> ConnectorEntry:
        return ConnectorEntry(
            self._configs.get(name),
            self._targets.get(name, _STARTED),
            self._tasks.get(name, ()),
            name not in self._inconsistent,
        )


@dataclass(frozen=True, slots=True)
class ConfigEvents:
    """Callbacks for records that are requests, not state. They must return at once.

    The reading thread calls them, only for records read after start(): older requests are done.
    """

    restart: Callable[[RestartRequest], None] = lambda _: None
    logger: Callable[[str, str], None] = lambda _namespace, _level: None

    def notify(self, record: Record) -> None:
        if isinstance(record, RestartRecord):
            request = (record.connector, record.include_tasks, record.only_failed)
            self.restart(RestartRequest(*request))
        elif isinstance(record, LoggerRecord):
            self.logger(record.namespace, record.level)


def _connector_records(name: str, config: Config, target: str | None) -> list[Record]:
    before: list[Record] = [] if target is None else [TargetRecord(name, target)]
    return [*before, ConnectorRecord(name, config)]


def _task_records(name: str, configs: Sequence[Config]) -> list[Record]:
    return [TaskRecord(name, number, config) for number, config in enumerate(configs)]


class MemoryConfigStore:
    """Configs of a standalone worker, lost when its process ends."""

    def __init__(self, events: ConfigEvents | None = None) -> None:
        self._events = events or ConfigEvents()
        self._state = ConfigState()
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], None]] = []
        self._snapshot: ClusterSnapshot | None = None

    def start(self, deadline: Deadline) -> None:
        return

    def snapshot(self) -> ClusterSnapshot:
        with self._lock:
            if self._snapshot is None:
                self._snapshot = self._state.snapshot()
            return self._snapshot

    def refresh(self, deadline: Deadline) -> None:
        return

    def subscribe(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def put_connector(
        self, name: str, config: Config, deadline: Deadline, *, target: str | None = None
    ) -> None:
        self._apply(*_connector_records(name, config, target))

    def remove_connector(self, name: str, deadline: Deadline) -> None:
        self._apply(ConnectorRecord(name, None), TargetRecord(name, None))

    def put_target(self, name: str, target: str, deadline: Deadline) -> None:
        self._apply(TargetRecord(name, target))

    def put_tasks(self, name: str, configs: Sequence[Config], deadline: Deadline) -> None:
        self._apply(*_task_records(name, configs), CommitRecord(name, len(configs)))

    def put_restart(self, request: RestartRequest, deadline: Deadline) -> None:
        asked = RestartRecord(request.connector, request.include_tasks, request.only_failed)
        self._apply(asked)

    def put_logger(self, namespace: str, level: str, deadline: Deadline) -> None:
        self._apply(LoggerRecord(namespace, level))

    def close(self) -> None:
        return

    def _apply(self, *records: Record) -> None:
        with self._lock:
            for record in records:
                self._state.apply(record)
                self._state.offset = max(0, self._state.offset) + 1
            self._snapshot = None
        for record in records:
            self._events.notify(record)
        for listener in self._listeners:
            listener()


class KafkaConfigStore:
    """The config topic, in Connect's bytes. Writes return when they were read back."""

    def __init__(
        self,
        topic: InternalTopic,
        properties: Mapping[str, str],
        admin: Admin,
        *,
        events: ConfigEvents | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._topic = topic
        self._admin = admin
        self._events = events or ConfigEvents()
        self._state = ConfigState()
        self._snapshot: ClusterSnapshot | None = None
        self._started = False
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], None]] = []
        self._log = CompactedLog(
            topic.spec.name, properties, admin, LogEvents(self._read, self._notify), clock=clock
        )

    def start(self, deadline: Deadline) -> None:
        """Create the topic if it is missing, and read it."""
        ensure_internal_topic(self._admin, self._topic, deadline)
        self._log.start(deadline)
        self._started = True

    def snapshot(self) -> ClusterSnapshot:
        with self._lock:
            if self._snapshot is None:
                self._snapshot = self._state.snapshot()
            return self._snapshot

    def refresh(self, deadline: Deadline) -> None:
        self._log.read_to_end(deadline)

    def subscribe(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    @property
    def session_key(self) -> SessionKeyRecord | None:
        """The key that signs requests between workers, if a leader wrote one."""
        return self._state.session_key

    def put_connector(
        self, name: str, config: Config, deadline: Deadline, *, target: str | None = None
    ) -> None:
        self._append(_connector_records(name, config, target), deadline)

    def remove_connector(self, name: str, deadline: Deadline) -> None:
        self._append([ConnectorRecord(name, None), TargetRecord(name, None)], deadline)

    def put_target(self, name: str, target: str, deadline: Deadline) -> None:
        self._append([TargetRecord(name, target)], deadline)

    def put_tasks(self, name: str, configs: Sequence[Config], deadline: Deadline) -> None:
        # All task records must be stored before the commit record.
        if configs:
            self._append(_task_records(name, configs), deadline)
        self._append([CommitRecord(name, len(configs))], deadline)

    def put_restart(self, request: RestartRequest, deadline: Deadline) -> None:
        asked = RestartRecord(request.connector, request.include_tasks, request.only_failed)
        self._append([asked], deadline)

    def put_logger(self, namespace: str, level: str, deadline: Deadline) -> None:
        self._append([LoggerRecord(namespace, level)], deadline)

    def put_session_key(self, key: SessionKeyRecord, deadline: Deadline) -> None:
        self._append([key], deadline)

    def close(self) -> None:
        self._log.close()

    def _append(self, records: Sequence[Record], deadline: Deadline) -> None:
        written = self._log.append([dump(record) for record in records], deadline)
        self._log.wait_for(written, deadline)

    # ----------------------------------------------------------------------- follower's thread

    def _read(self, stored: LogRecord) -> None:
        record = _parsed(stored)
        with self._lock:
            # Not the reader's position, which counts transaction markers: no other worker does.
            self._state.offset = stored.offset + 1
            if record is not None:
                self._state.apply(record)
            self._snapshot = None
        if record is not None and self._started:
            self._events.notify(record)

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()


def _parsed(stored: LogRecord) -> Record | None:
    try:
        return parse(stored.key or b"", stored.value)
    except (ValueError, KeyError) as error:
        log.error(
            "Skipped record %d of the config topic (%r): %s", stored.offset, stored.key, error
        )
        return None
