"""The simplest stores that keep their contracts, with switches to make them fail or hang."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import DeadlineExceededError, StorageError
from penstock.worker.storage.interfaces import (
    ClusterSnapshot,
    ConnectorEntry,
    RestartRequest,
    Status,
    TopicStatus,
)


class FakeConfigs:
    def __init__(self) -> None:
        self.connectors: dict[str, ConnectorEntry] = {}
        self.log: list[tuple[str, Any]] = []
        self.unreachable = threading.Event()
        self.failing_task_writes = 0
        self._listeners: list[Callable[[], None]] = []
        self._snapshot = ClusterSnapshot()

    def start(self, deadline: Deadline) -> None:
        if self.unreachable.is_set():
            raise StorageError("no broker answers")

    def snapshot(self) -> ClusterSnapshot:
        return self._snapshot

    def refresh(self, deadline: Deadline) -> None: ...

    def subscribe(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def put_connector(
        self, name: str, config: Mapping[str, str], deadline: Deadline, *, target: str | None = None
    ) -> None:
        if target is not None:
            self.log.append((f"target-state-{name}", target))
        entry = self.connectors.get(name, ConnectorEntry(None))
        entry = replace(entry, config=dict(config), target=target or entry.target)
        self._write(f"connector-{name}", dict(config), name, entry)

    def remove_connector(self, name: str, deadline: Deadline) -> None:
        self._write(f"connector-{name}", None, name, None)

    def put_target(self, name: str, target: str, deadline: Deadline) -> None:
        entry = replace(self.connectors[name], target=target)
        self._write(f"target-state-{name}", target, name, entry)

    def put_tasks(
        self, name: str, configs: Sequence[Mapping[str, str]], deadline: Deadline
    ) -> None:
        if self.failing_task_writes:
            self.failing_task_writes -= 1
            raise StorageError("no broker answers")
        entry = replace(self.connectors[name], tasks=tuple(configs), consistent=True)
        self._write(f"commit-{name}", len(configs), name, entry)

    def put_restart(self, request: RestartRequest, deadline: Deadline) -> None:
        self.log.append((f"restart-connector-{request.connector}", request))

    def put_logger(self, namespace: str, level: str, deadline: Deadline) -> None:
        self.log.append((f"logger-cluster-{namespace}", level))

    def close(self) -> None: ...

    def _write(self, key: str, value: Any, name: str, entry: ConnectorEntry | None) -> None:
        self.log.append((key, value))
        if entry is None:
            self.connectors.pop(name, None)
        else:
            self.connectors[name] = entry
        self._snapshot = ClusterSnapshot(dict(self.connectors), len(self.log))
        for listener in self._listeners:
            listener()


class FakeStatuses:
    def __init__(self) -> None:
        self.connectors: dict[str, Status] = {}
        self.all_tasks: dict[str, dict[TaskId, Status]] = {}
        self.all_topics: dict[str, dict[str, TopicStatus]] = {}
        self.history: list[tuple[str, str | None]] = []
        self.flushed = False
        self.kafka_is_away = False

    @property
    def changes(self) -> int:
        return len(self.history)

    def start(self, deadline: Deadline) -> None: ...

    def connector(self, name: str) -> Status | None:
        return self.connectors.get(name)

    def task(self, task: TaskId) -> Status | None:
        return self.all_tasks.get(task.connector, {}).get(task)

    def tasks(self, connector: str) -> dict[TaskId, Status]:
        return dict(self.all_tasks.get(connector, {}))

    def put_connector(self, name: str, status: Status | None) -> None:
        if status is None:
            self.connectors.pop(name, None)
        else:
            self.connectors[name] = status
        self.history.append((name, status.state if status else None))

    def put_task(self, task: TaskId, status: Status | None) -> None:
        tasks = self.all_tasks.setdefault(task.connector, {})
        if status is None:
            tasks.pop(task, None)
        else:
            tasks[task] = status
        self.history.append((str(task), status.state if status else None))

    def topics(self, connector: str) -> list[TopicStatus]:
        return list(self.all_topics.get(connector, {}).values())

    def put_topic(self, status: TopicStatus) -> None:
        self.all_topics.setdefault(status.connector, {})[status.topic] = status

    def remove_topics(self, connector: str) -> None:
        self.all_topics.pop(connector, None)

    def flush(self, deadline: Deadline) -> None:
        if self.kafka_is_away:
            time.sleep(deadline.remaining())
            raise DeadlineExceededError("ran out of time while writing statuses")
        self.flushed = True

    def close(self) -> None: ...


class FakeOffsets:
    def start(self, deadline: Deadline) -> None: ...

    def get(self, connector: str, partition: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return None

    def all(self, connector: str) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        return []

    def refresh(self, deadline: Deadline) -> None: ...

    def put(
        self,
        connector: str,
        offsets: Sequence[tuple[Mapping[str, Any], Mapping[str, Any] | None]],
        deadline: Deadline,
    ) -> None: ...

    def close(self) -> None: ...
