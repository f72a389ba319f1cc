"""The records of the config topic: parses and writes Connect's bytes. Pure functions."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from penstock.worker.storage.java_json import decode, encode


@dataclass(frozen=True, slots=True)
class ConnectorRecord:
    """A connector's configuration; None: it was deleted."""

    connector: str
    config: Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class TargetRecord:
    """STARTED, PAUSED or STOPPED; None: it was deleted."""

    connector: str
    target: str | None


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A task's configuration, valid from the next commit record of its connector."""

    connector: str
    number: int
    config: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """The task records before it are complete."""

    connector: str
    tasks: int


@dataclass(frozen=True, slots=True)
class FencingRecord:
    """Producers of so many earlier tasks were fenced out (exactly once only)."""

    connector: str
    task_count: int | None


@dataclass(frozen=True, slots=True)
class RestartRecord:
    connector: str
    include_tasks: bool
    only_failed: bool


@dataclass(frozen=True, slots=True)
class LoggerRecord:
    namespace: str
    level: str


@dataclass(frozen=True, slots=True)
class SessionKeyRecord:
    """The key that signs requests between workers."""

    algorithm: str
    created_ms: int
    key: bytes = field(repr=False)


Record = (
    ConnectorRecord
    | TargetRecord
    | TaskRecord
    | CommitRecord
    | FencingRecord
    | RestartRecord
    | LoggerRecord
    | SessionKeyRecord
)

_TARGETS: Final = frozenset({"STARTED", "PAUSED", "STOPPED"})
_TASK_KEY: Final = re.compile(r"task-(?P<connector>.+)-(?P<number>\d+)", re.DOTALL)


def parse(key: bytes, value: bytes | None) -> Record | None:
    """The record; None for an unknown key, or a deletion that has no effect.

    Raises:
        ValueError: the record is not one that Connect writes.
    """
    name = key.decode()
    content = None if value is None else decode(value)
    if not isinstance(content, dict | None):
        raise ValueError(f"the value of {name} is not a JSON object")
    # The order matters: "task-" is the beginning of "tasks-fencing-" only up to its dash.
    for prefix, reader in _READERS.items():
        if name.startswith(prefix):
            return reader(name.removeprefix(prefix), content)
    return None


def _connector(name: str, content: dict[str, Any] | None) -> Record | None:
    return ConnectorRecord(name, None if content is None else _properties(content))


def _target(name: str, content: dict[str, Any] | None) -> Record | None:
    if content is None:
        return TargetRecord(name, None)
    # state.v2 knows STOPPED; workers before 3.5 read and write `state` alone.
    target = content.get("state.v2", content.get("state"))
    if target not in _TARGETS:
        raise ValueError(f"unknown target state {target}")
    return TargetRecord(name, str(target))


def _task(name: str, content: dict[str, Any] | None) -> Record | None:
    match = _TASK_KEY.fullmatch(f"task-{name}")
    if match is None:
        raise ValueError(f"task-{name} has no task number")
    if content is None:
        return None
    return TaskRecord(match["connector"], int(match["number"]), _properties(content))


def _commit(name: str, content: dict[str, Any] | None) -> Record | None:
    return None if content is None else CommitRecord(name, _whole(content, "tasks"))


def _fencing(name: str, content: dict[str, Any] | None) -> Record | None:
    return FencingRecord(name, None if content is None else _whole(content, "task-count"))


def _restart(name: str, content: dict[str, Any] | None) -> Record | None:
    if content is None:
        return None
    return RestartRecord(
        name, bool(content.get("include-tasks", False)), bool(content.get("only-failed", False))
    )


def _logger(name: str, content: dict[str, Any] | None) -> Record | None:
    return None if content is None else LoggerRecord(name, str(content["level"]))


def _session_key(name: str, content: dict[str, Any] | None) -> Record | None:
    if name or content is None:
        return None
    key = base64.b64decode(content["key"])
    return SessionKeyRecord(str(content["algorithm"]), _whole(content, "creation-timestamp"), key)


_READERS: Final = {
    "target-state-": _target,
    "connector-": _connector,
    "task-": _task,
    "commit-": _commit,
    "restart-connector-": _restart,
    "tasks-fencing-": _fencing,
    "logger-cluster-": _logger,
    "session-key": _session_key,
}


def _properties(content: Mapping[str, Any]) -> dict[str, str]:
    properties = content.get("properties")
    if not isinstance(properties, dict):
        raise ValueError("it has no properties")
    return properties


def _whole(content: Mapping[str, Any], name: str) -> int:
    number = content.get(name)
    if not isinstance(number, int) or isinstance(number, bool):
        raise ValueError(f"{name} is {number!r}, not a whole number")
    return number


def dump(record: Record) -> tuple[bytes, bytes | None]:
    """Key and value, in the bytes that Connect writes."""
    key, content = _dumped(record)
    return key.encode(), None if content is None else encode(content)


def _dumped(record: Record) -> tuple[str, object]:  # noqa: PLR0911 - one line for each kind
    match record:
        case ConnectorRecord(name, config):
            return f"connector-{name}", None if config is None else {"properties": config}
        case TargetRecord(name, target):
            return f"target-state-{name}", None if target is None else _target_states(target)
        case TaskRecord(name, number, config):
            return f"task-{name}-{number}", {"properties": config}
        case CommitRecord(name, tasks):
            return f"commit-{name}", {"tasks": tasks}
        case FencingRecord(name, count):
            return f"tasks-fencing-{name}", None if count is None else {"task-count": count}
        case RestartRecord(name, include_tasks, only_failed):
            content = {"include-tasks": include_tasks, "only-failed": only_failed}
            return f"restart-connector-{name}", content
        case LoggerRecord(namespace, level):
            return f"logger-cluster-{namespace}", {"level": level}
        case SessionKeyRecord():
            return "session-key", {
                "key": record.key,
                "algorithm": record.algorithm,
                "creation-timestamp": record.created_ms,
            }


def _target_states(target: str) -> dict[str, str]:
    # Workers before 3.5 do not know STOPPED: PAUSED is the nearest.
    return {"state": "PAUSED" if target == "STOPPED" else target, "state.v2": target}
