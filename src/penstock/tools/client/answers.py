"""Answers of a worker of any version as objects; what an old version lacks is empty."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from penstock.kernel.config.unknown import unknown_keys, with_guess
from penstock.kernel.wire.models import (
    ConnectorInfo,
    ConnectorOffsets,
    ConnectorStatus,
    Health,
    LoggerLevel,
    LogLine,
    LogPage,
    OffsetEntry,
    ServerInfo,
    StateInfo,
    TaskInfo,
    TaskRef,
)

T = TypeVar("T")

CLASS: Final = "connector.class"


@dataclass(frozen=True, slots=True)
class Expanded:
    """All that GET /connectors?expand=info&expand=status says of a connector."""

    info: ConnectorInfo
    status: ConnectorStatus | None


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry of GET /connector-plugins; `type` is source, sink, transformation, and so on."""

    class_name: str
    type: str
    version: str | None

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Plugin:
        """From the server's JSON."""
        return cls(str(found["class"]), str(found.get("type", "")), found.get("version"))


@dataclass(frozen=True, slots=True)
class KeyCheck:
    """The result of a validation for one key."""

    name: str
    value: str | None
    errors: Sequence[str]
    definition: Mapping[str, Any] | None
    recommended: Sequence[Any] = ()
    visible: bool = True

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> KeyCheck:
        """From the server's JSON."""
        definition = found.get("definition")
        value = found.get("value") or {}
        return cls(
            str(value.get("name") or (definition or {}).get("name")),
            value.get("value"),
            tuple(value.get("errors") or ()),
            definition,
            tuple(value.get("recommended_values") or ()),
            bool(value.get("visible", True)),
        )

    @property
    def messages(self) -> list[str]:
        """The errors; for a mistyped class with the name that was probably meant."""
        return [with_guess(error, map(str, self.recommended)) for error in self.errors]


@dataclass(frozen=True, slots=True)
class Validation:
    """PUT /connector-plugins/{plugin}/config/validate."""

    name: str
    error_count: int
    groups: Sequence[str]
    keys: Sequence[KeyCheck]

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Validation:
        """From the server's JSON."""
        keys = tuple(KeyCheck.of(each) for each in found.get("configs", ()))
        count = int(found.get("error_count", 0))
        return cls(str(found.get("name", "")), count, tuple(found.get("groups", ())), keys)

    @property
    def errors(self) -> dict[str, Sequence[str]]:
        """The messages of each wrong key."""
        return {key.name: key.messages for key in self.keys if key.errors}

    @property
    def guesses(self) -> dict[str, str]:
        """Errors of classes that were probably mistyped: each with the name probably meant."""
        return {
            error: message
            for key in self.keys
            for error, message in zip(key.errors, key.messages, strict=True)
            if message != error
        }

    def unknown(self, config: Collection[str]) -> dict[str, str]:
        """Messages about the keys of a config that no plugin declares."""
        declared = {key.name for key in self.keys if key.definition}
        # Every worker declares this one: an answer without it has no list of keys.
        if CLASS not in declared:
            return {}
        return unknown_keys(config, declared, complete=not self.errors)


def server_info(found: Mapping[str, Any]) -> ServerInfo:
    """GET /."""
    return ServerInfo(
        str(found.get("version", "")), str(found.get("commit", "")), found.get("kafka_cluster_id")
    )


def health(found: Mapping[str, Any]) -> Health:
    """GET /health."""
    return Health(str(found.get("status", "")), str(found.get("message", "")))


def connector_info(found: Mapping[str, Any]) -> ConnectorInfo:
    """GET /connectors/{c}."""
    config = {name: value for name, value in found["config"].items() if value is not None}
    tasks = [TaskRef(each["connector"], int(each["task"])) for each in found.get("tasks", ())]
    return ConnectorInfo(str(found["name"]), config, tasks, str(found.get("type") or "unknown"))


def connector_status(found: Mapping[str, Any]) -> ConnectorStatus:
    """GET /connectors/{c}/status."""
    tasks = [state_info(each) for each in found.get("tasks", ())]
    kind = str(found.get("type") or "unknown")
    return ConnectorStatus(str(found["name"]), state_info(found["connector"]), tasks, kind)


def state_info(found: Mapping[str, Any]) -> StateInfo:
    """The state of a connector or a task."""
    return StateInfo(
        str(found["state"]),
        str(found.get("worker_id", "")),
        found.get("version"),
        found.get("trace"),
        found.get("id"),
        found.get("figures"),
        tuple(found.get("notes") or ()),
    )


def task_info(found: Mapping[str, Any]) -> TaskInfo:
    """An entry of GET /connectors/{c}/tasks."""
    identity = found["id"]
    return TaskInfo(TaskRef(identity["connector"], int(identity["task"])), found.get("config", {}))


def offsets(found: Mapping[str, Any]) -> ConnectorOffsets:
    """GET /connectors/{c}/offsets."""
    entries = (
        OffsetEntry(each.get("partition"), each.get("offset")) for each in found.get("offsets", ())
    )
    return ConnectorOffsets(tuple(entries))


def log_page(found: Mapping[str, Any]) -> LogPage:
    """GET /penstock/connectors/{c}/logs."""
    lines = [
        LogLine(
            int(each["timestamp"]),
            str(each["level"]),
            each.get("task"),
            str(each.get("logger", "")),
            str(each["message"]),
        )
        for each in found["lines"]
    ]
    return LogPage(lines, str(found["cursor"]))


def logger_level(found: Mapping[str, Any]) -> LoggerLevel:
    """GET /admin/loggers/{logger}."""
    return LoggerLevel(str(found["level"]), found.get("last_modified"))


def names(found: Any) -> list[str]:
    """GET /connectors."""
    if not isinstance(found, list):
        raise TypeError("expected a list of names")
    return [str(each) for each in found]


def mapping(found: Any) -> dict[str, Any]:
    """A JSON object."""
    if not isinstance(found, dict):
        raise TypeError("expected an object")
    return found


def mappings(found: Any) -> list[dict[str, Any]]:
    """A list of JSON objects."""
    return [mapping(each) for each in found]


def by_name(read: Callable[[Any], T]) -> Callable[[Any], dict[str, T]]:
    """Reads a JSON object, each member with `read`."""
    return lambda found: {name: read(each) for name, each in mapping(found).items()}


def message(found: Any) -> str:
    """The answer to a change of offsets."""
    return str(mapping(found or {}).get("message", ""))


def nothing(found: Any) -> None:
    """An answer without a body."""
    del found
