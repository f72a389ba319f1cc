"""The requests and answers of the REST API, their fields in Kafka Connect's order.

Requests have `of(json)`, answers have `to_json()`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from penstock.kernel.errors import BadRequestError, MalformedRequestError
from penstock.kernel.wire.json import mapping, only, plain, strings, text

Json = dict[str, Any]

# ------------------------------------------------------------------------------------- requests

INITIAL_STATES = {"RUNNING": "STARTED", "PAUSED": "PAUSED", "STOPPED": "STOPPED"}
DEFAULT_PREVIEW: Final = 5


@dataclass(frozen=True, slots=True)
class CreateConnector:
    """POST /connectors. `initial_state` is a target state: STARTED, PAUSED or STOPPED."""

    name: str | None
    config: Mapping[str, str | None] | None
    initial_state: str | None = None

    @classmethod
    def of(cls, body: Any) -> CreateConnector:
        where = "the request"
        if body is None:
            raise MalformedRequestError('the request has no body; send {"name": …, "config": {…}}')
        fields = mapping(body, where)
        only(fields, where, ("config", "name", "initial_state"))
        state = text(fields.get("initial_state"), "initial_state")
        if state is not None and state.upper() not in INITIAL_STATES:
            allowed = ", ".join(INITIAL_STATES)
            raise MalformedRequestError(f"initial_state is {state}; it must be one of {allowed}")
        return cls(
            text(fields.get("name"), "name"),
            strings(fields.get("config"), "config"),
            None if state is None else INITIAL_STATES[state.upper()],
        )


@dataclass(frozen=True, slots=True)
class PreviewRequest:
    """POST /connector-plugins/{plugin}/preview; also accepts the body of POST /connectors.

    Without `records` it shows those that the connector would read, at most `limit` of them.
    """

    config: Mapping[str, str | None]
    records: list[Any] | None = None
    limit: int = DEFAULT_PREVIEW

    @classmethod
    def of(cls, body: Any) -> PreviewRequest:
        where = "the request"
        if body is None:
            raise MalformedRequestError('the request has no body; send {"config": {…}}')
        fields = mapping(body, where)
        only(fields, where, ("config", "records", "limit", "name", "initial_state"))
        config = strings(fields.get("config"), "config")
        if config is None:
            raise MalformedRequestError("the request has no connector config")
        records = plain(fields.get("records"))
        limit = plain(fields.get("limit", DEFAULT_PREVIEW))
        if records is not None and not isinstance(records, list):
            raise MalformedRequestError("records must be a list")
        if not isinstance(limit, int) or isinstance(limit, bool):
            raise MalformedRequestError("limit must be a whole number")
        name = text(fields.get("name"), "name")
        return cls({**config, **({} if name is None else {"name": name})}, records, limit)


def named_config(name: str, config: Mapping[str, str | None] | None) -> dict[str, str | None]:
    """A config with the connector's name in it.

    Raises:
        BadRequestError: it has another name.
        MalformedRequestError: there is no config.
    """
    if config is None:
        raise MalformedRequestError("the request has no connector config")
    given = config.get("name")
    if given is not None and given != name:
        raise BadRequestError(
            f"Connector name configuration ({given}) doesn't match "
            f"connector name in the URL ({name})"
        )
    return {**config, "name": name}


@dataclass(frozen=True, slots=True)
class OffsetEntry:
    """One partition with its offset; either may be null in a request."""

    partition: Mapping[str, Any] | None
    offset: Mapping[str, Any] | None

    @classmethod
    def of(cls, item: Any, where: str) -> OffsetEntry:
        fields = mapping(item, where)
        only(fields, where, ("partition", "offset"))
        parts = [
            None if fields.get(name) is None else mapping(plain(fields[name]), f"{where}.{name}")
            for name in ("partition", "offset")
        ]
        return cls(*parts)

    def to_json(self) -> Json:
        return {"partition": self.partition, "offset": self.offset}


@dataclass(frozen=True, slots=True)
class ConnectorOffsets:
    """GET and PATCH /connectors/{c}/offsets."""

    offsets: tuple[OffsetEntry, ...] = ()

    @classmethod
    def of(cls, body: Any) -> ConnectorOffsets:
        where = "the request"
        if body is None:
            raise MalformedRequestError('the request has no body; send {"offsets": […]}')
        fields = mapping(body, where)
        only(fields, where, ("offsets",))
        items = fields.get("offsets")
        if items is None:
            return cls()
        if not isinstance(items, list):
            raise MalformedRequestError("offsets must be a JSON array")
        return cls(
            tuple(OffsetEntry.of(item, f"offsets[{place}]") for place, item in enumerate(items))
        )

    def to_json(self) -> Json:
        return {"offsets": [entry.to_json() for entry in self.offsets]}


# -------------------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class ErrorMessage:
    """The body of every error."""

    error_code: int
    message: str

    def to_json(self) -> Json:
        return {"error_code": self.error_code, "message": self.message}


@dataclass(frozen=True, slots=True)
class Message:
    """The answer to a change of offsets."""

    message: str

    def to_json(self) -> Json:
        return {"message": self.message}


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """GET /."""

    version: str
    commit: str
    kafka_cluster_id: str | None

    def to_json(self) -> Json:
        return {
            "version": self.version,
            "commit": self.commit,
            "kafka_cluster_id": self.kafka_cluster_id,
        }


@dataclass(frozen=True, slots=True)
class Health:
    """GET /health. `status` is healthy, starting or unhealthy."""

    status: str
    message: str

    def to_json(self) -> Json:
        return {"status": self.status, "message": self.message}


@dataclass(frozen=True, slots=True)
class TaskRef:
    """A task by connector and number."""

    connector: str
    task: int

    def to_json(self) -> Json:
        return {"connector": self.connector, "task": self.task}


@dataclass(frozen=True, slots=True)
class ConnectorInfo:
    """GET /connectors/{c}; `type` is source, sink or unknown."""

    name: str
    config: Mapping[str, str]
    tasks: Sequence[TaskRef]
    type: str

    def to_json(self) -> Json:
        return {
            "name": self.name,
            "config": dict(self.config),
            "tasks": [task.to_json() for task in self.tasks],
            "type": self.type,
        }


@dataclass(frozen=True, slots=True)
class Created:
    """The result of PUT of a config."""

    created: bool
    info: ConnectorInfo


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """One entry of GET /connectors/{c}/tasks."""

    id: TaskRef
    config: Mapping[str, str]

    def to_json(self) -> Json:
        return {"id": self.id.to_json(), "config": dict(self.config)}


@dataclass(frozen=True, slots=True)
class StateInfo:
    """State of a connector or, with `id`, of a task. Empty fields are left out of the JSON.

    `figures`: numbers that a task reports, such as {"skipped_numbers": 3}. `notes`: warnings about
    a connector's config, such as a mistyped key. Connect has neither.
    """

    state: str
    worker_id: str
    version: str | None
    trace: str | None = None
    id: int | None = None
    figures: Mapping[str, int] | None = None
    notes: Sequence[str] = ()

    def to_json(self) -> Json:
        found: Json = {} if self.id is None else {"id": self.id}
        found |= {"state": self.state, "worker_id": self.worker_id, "version": self.version}
        if self.trace:
            found["trace"] = self.trace
        if self.figures:
            found["figures"] = dict(self.figures)
        if self.notes:
            found["notes"] = list(self.notes)
        return found


@dataclass(frozen=True, slots=True)
class ConnectorStatus:
    """GET /connectors/{c}/status; tasks by number."""

    name: str
    connector: StateInfo
    tasks: Sequence[StateInfo]
    type: str

    def to_json(self) -> Json:
        return {
            "name": self.name,
            "connector": self.connector.to_json(),
            "tasks": [task.to_json() for task in self.tasks],
            "type": self.type,
        }


@dataclass(frozen=True, slots=True)
class ActiveTopics:
    """GET /connectors/{c}/topics."""

    connector: str
    topics: Sequence[str]

    def to_json(self) -> Json:
        return {self.connector: {"topics": list(self.topics)}}


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line that a connector, or its task of this number, logged; the time is in epoch ms."""

    timestamp: int
    level: str
    task: int | None
    logger: str
    message: str
    number: int = 0
    """Its place among all lines of the worker; not in the JSON."""

    def to_json(self) -> Json:
        return {
            "timestamp": self.timestamp,
            "level": self.level,
            "task": self.task,
            "logger": self.logger,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class LogPage:
    """GET /penstock/connectors/{c}/logs; send `cursor` back to get the lines after these."""

    lines: Sequence[LogLine]
    cursor: str

    def to_json(self) -> Json:
        return {"lines": [line.to_json() for line in self.lines], "cursor": self.cursor}


@dataclass(frozen=True, slots=True)
class LoggerLevel:
    """A logger's level and when a request last changed it on this worker, in epoch ms."""

    level: str
    last_modified: int | None = None

    def to_json(self) -> Json:
        return {"level": self.level, "last_modified": self.last_modified}
