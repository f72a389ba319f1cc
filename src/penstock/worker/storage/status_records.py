"""The records of the status topic: parses and writes Connect's bytes. Pure functions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from penstock.kernel.data.record import TaskId
from penstock.worker.storage.interfaces import Status, TopicStatus
from penstock.worker.storage.java_json import decode, encode


@dataclass(frozen=True, slots=True)
class ConnectorKey:
    """`status-connector-<name>`"""

    connector: str

    def __str__(self) -> str:
        return f"status-connector-{self.connector}"


@dataclass(frozen=True, slots=True)
class TaskKey:
    """`status-task-<name>-<number>`"""

    task: TaskId

    def __str__(self) -> str:
        return f"status-task-{self.task.connector}-{self.task.number}"


@dataclass(frozen=True, slots=True)
class TopicKey:
    """`status-topic-<topic>:connector-<name>`"""

    topic: str
    connector: str

    def __str__(self) -> str:
        return f"status-topic-{self.topic}:connector-{self.connector}"


Key = ConnectorKey | TaskKey | TopicKey
Value = Status | TopicStatus

_KEYS: Final = (
    (re.compile(r"status-connector-(.+)", re.DOTALL), ConnectorKey),
    (
        re.compile(r"status-task-(.+)-(\d+)", re.DOTALL),
        lambda name, number: TaskKey(TaskId(name, int(number))),
    ),
    (re.compile(r"status-topic-([^:]+):connector-(.+)", re.DOTALL), TopicKey),
)


def parse_key(data: bytes) -> Key | None:
    """Parse a key; None if it is not one of Connect's."""
    name = data.decode(errors="replace")
    for pattern, key in _KEYS:
        match = pattern.fullmatch(name)
        if match:
            made: Key = key(*match.groups())
            return made
    return None


def parse_value(key: Key, data: bytes) -> Value:
    """Raises ValueError or KeyError if the record is not one that Connect writes."""
    content = decode(data)
    if not isinstance(content, dict):
        raise ValueError(f"the value of {key} is not a JSON object")
    return _topic_status(content["topic"]) if isinstance(key, TopicKey) else _status(content)


def _status(content: dict[str, Any]) -> Status:
    return Status(
        str(content["state"]),
        str(content["worker_id"]),
        int(content["generation"]),
        content.get("trace"),
        content.get("version"),
        content.get("figures"),
    )


def _topic_status(content: dict[str, Any]) -> TopicStatus:
    return TopicStatus(
        str(content["name"]),
        str(content["connector"]),
        int(content["task"]),
        int(content["discoverTimestamp"]),
    )


def dump_value(value: Value) -> bytes:
    """In the bytes that Connect writes."""
    if isinstance(value, Status):
        # Connect ignores fields that it does not know.
        figures = {} if value.figures is None else {"figures": dict(value.figures)}
        return encode({
            "state": value.state, "trace": value.trace, "worker_id": value.worker_id,
            "generation": value.generation, "version": value.version, **figures,
        })  # fmt: skip
    return encode({
        "topic": {
            "name": value.topic, "connector": value.connector, "task": value.task,
            "discoverTimestamp": value.discovered_ms,
        }
    })  # fmt: skip
