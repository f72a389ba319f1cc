"""Last known states of connectors and tasks: in memory, or in the status topic."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import Final

from penstock.kafka.clients import Admin, LogRecord
from penstock.kafka.compacted_log import CompactedLog, LogEvents
from penstock.kafka.topics import InternalTopic, ensure_internal_topic
from penstock.kernel.clock import Clock, Deadline, SystemClock
from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import DeadlineExceededError, PenstockError
from penstock.worker.storage.interfaces import Status, TopicStatus
from penstock.worker.storage.status_records import (
    ConnectorKey,
    Key,
    TaskKey,
    TopicKey,
    Value,
    dump_value,
    parse_key,
    parse_value,
)

log = logging.getLogger(__name__)

_WRITE_SECONDS: Final = 30.0
_RETRY_SECONDS: Final = 1.0


class StatusTable:
    """States of connectors, tasks and topics. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._connectors: dict[str, Status] = {}
        self._tasks: dict[str, dict[int, Status]] = {}
        self._topics: dict[str, dict[str, TopicStatus]] = {}
        self.changes = 0

    def connector(self, name: str) -> Status | None:
        with self._lock:
            return self._connectors.get(name)

    def task(self, task: TaskId) -> Status | None:
        with self._lock:
            return self._tasks.get(task.connector, {}).get(task.number)

    def tasks(self, connector: str) -> dict[TaskId, Status]:
        with self._lock:
            found = sorted(self._tasks.get(connector, {}).items())
        return {TaskId(connector, number): status for number, status in found}

    def topics(self, connector: str) -> list[TopicStatus]:
        with self._lock:
            found = sorted(self._topics.get(connector, {}).items())
        return [status for _, status in found]

    def status(self, key: Key) -> Status | None:
        if isinstance(key, ConnectorKey):
            return self.connector(key.connector)
        return self.task(key.task) if isinstance(key, TaskKey) else None

    def set(self, key: Key, value: Value) -> None:
        with self._lock:
            self.changes += 1
            if isinstance(value, TopicStatus):
                self._topics.setdefault(value.connector, {})[value.topic] = value
            elif isinstance(key, ConnectorKey):
                self._connectors[key.connector] = value
            elif isinstance(key, TaskKey):
                self._tasks.setdefault(key.task.connector, {})[key.task.number] = value

    def forget(self, key: Key) -> None:
        with self._lock:
            self.changes += 1
            match key:
                case ConnectorKey(name):
                    self._connectors.pop(name, None)
                case TaskKey(TaskId(name, number)):
                    self._tasks.get(name, {}).pop(number, None)
                case TopicKey(topic, name):
                    self._topics.get(name, {}).pop(topic, None)


def may_write(known: Status | None, status: Status) -> bool:
    """Whether a worker may write this; not if a later generation gave the work to another."""
    return (
        known is None
        or known.worker_id == status.worker_id
        or known.generation <= status.generation
    )


def is_stale(known: Status | None, status: Status) -> bool:
    """Whether it is a late UNASSIGNED for a task that another worker already runs."""
    return (
        status.state == "UNASSIGNED"
        and known is not None
        and known.state == "RUNNING"
        and known.worker_id != status.worker_id
        and known.generation >= status.generation
    )


class _Statuses:
    """The base of both stores: a table that shows every put at once."""

    def __init__(self) -> None:
        self._table = StatusTable()

    @property
    def changes(self) -> int:
        return self._table.changes

    def connector(self, name: str) -> Status | None:
        return self._table.connector(name)

    def task(self, task: TaskId) -> Status | None:
        return self._table.task(task)

    def tasks(self, connector: str) -> dict[TaskId, Status]:
        return self._table.tasks(connector)

    def topics(self, connector: str) -> list[TopicStatus]:
        return self._table.topics(connector)

    def put_connector(self, name: str, status: Status | None) -> None:
        self._put_status(ConnectorKey(name), status)

    def put_task(self, task: TaskId, status: Status | None) -> None:
        self._put_status(TaskKey(task), status)

    def put_topic(self, status: TopicStatus) -> None:
        self._put(TopicKey(status.topic, status.connector), status)

    def remove_topics(self, connector: str) -> None:
        for status in self._table.topics(connector):
            self._put(TopicKey(status.topic, connector), None)

    def _put_status(self, key: Key, status: Status | None) -> None:
        if status is None or may_write(self._table.status(key), status):
            self._put(key, status)

    def _put(self, key: Key, value: Value | None) -> None:
        if value is None:
            self._table.forget(key)
        else:
            self._table.set(key, value)


class MemoryStatusStore(_Statuses):
    """States of a standalone worker, lost when its process ends."""

    def start(self, deadline: Deadline) -> None:
        return

    def flush(self, deadline: Deadline) -> None:
        return

    def close(self) -> None:
        return


class KafkaStatusStore(_Statuses):
    """The status topic, in Connect's bytes.

    Readers in this process see a put at once. A thread of its own writes the newest state of each
    key, and repeats failed writes until they succeed.
    """

    def __init__(
        self,
        topic: InternalTopic,
        properties: Mapping[str, str],
        admin: Admin,
        *,
        clock: Clock | None = None,
    ) -> None:
        super().__init__()
        self._topic = topic
        self._admin = admin
        self._clock = clock or SystemClock()
        self._changed = threading.Condition()
        #: Values not yet confirmed as written, oldest first.
        self._pending: dict[Key, Value | None] = {}
        self._stop = threading.Event()
        self._writer: threading.Thread | None = None
        self._log = CompactedLog(
            topic.spec.name, properties, admin, LogEvents(self._read), clock=clock
        )

    def start(self, deadline: Deadline) -> None:
        """Create the topic if it is missing, and read it."""
        ensure_internal_topic(self._admin, self._topic, deadline)
        self._log.start(deadline)
        self._writer = threading.Thread(target=self._write, name="status-writer", daemon=True)
        self._writer.start()

    def flush(self, deadline: Deadline) -> None:
        with self._changed:
            while self._pending:
                if deadline.expired or self._stop.is_set():
                    step = f"writing {len(self._pending)} statuses to {self._topic.spec.name}"
                    raise DeadlineExceededError(f"ran out of time while {step}")
                self._changed.wait(deadline.remaining())

    def close(self) -> None:
        """Write no more; flush() first."""
        self._stop.set()
        with self._changed:
            self._changed.notify_all()
        self._log.close()

    def _put_status(self, key: Key, status: Status | None) -> None:
        with self._changed:
            super()._put_status(key, status)

    def _put(self, key: Key, value: Value | None) -> None:
        with self._changed:
            self._pending.pop(key, None)
            self._pending[key] = value
            super()._put(key, value)
            self._changed.notify_all()

    # ------------------------------------------------------------------------ writer's thread

    def _write(self) -> None:
        while not self._stop.is_set():
            with self._changed:
                while not self._pending and not self._stop.is_set():
                    self._changed.wait()
                batch = dict(self._pending)
            if batch:
                self._write_batch(batch)

    def _write_batch(self, batch: Mapping[Key, Value | None]) -> None:
        records = [
            (str(key).encode(), None if value is None else dump_value(value))
            for key, value in batch.items()
        ]
        deadline = Deadline.after(_WRITE_SECONDS, self._clock)
        try:
            # Wait until it is read back: older states of these keys may come before.
            self._log.wait_for(self._log.append(records, deadline), deadline)
        except PenstockError as error:
            if not self._stop.is_set():
                log.warning("Statuses are not stored yet, trying again: %s", error)
            self._clock.wait(self._stop, _RETRY_SECONDS)
            return
        with self._changed:
            for key, value in batch.items():
                if self._pending.get(key, _ABSENT) is value:
                    del self._pending[key]
            self._changed.notify_all()

    # ---------------------------------------------------------------------- follower's thread

    def _read(self, record: LogRecord) -> None:
        key = parse_key(record.key or b"")
        if key is None:
            log.warning("Skipped a record of the status topic with the key %r", record.key)
            return
        value = None if record.value is None else parse_value(key, record.value)
        with self._changed:
            if key in self._pending:
                return  # Our own value is newer and will be written.
            known = self._table.status(key)
            if isinstance(value, Status) and isinstance(key, TaskKey) and is_stale(known, value):
                return
            super()._put(key, value)


_ABSENT: Final = object()
