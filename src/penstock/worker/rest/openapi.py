"""What /openapi.json says of each operation: parameters, bodies and answers as JSON schemas."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

Schema = dict[str, Any]


def _object(**fields: Schema) -> Schema:
    return {"type": "object", "properties": fields}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _map(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


TEXT: Final[Schema] = {"type": "string"}
NUMBER: Final[Schema] = {"type": "integer"}
FLAG: Final[Schema] = {"type": "boolean"}
CONFIG: Final = _map(TEXT)
_NULLABLE: Final[Schema] = {"type": ["string", "null"]}
_TASK_REF: Final = _object(connector=TEXT, task=NUMBER)
_STATE: Final = _object(
    state=TEXT, worker_id=TEXT, version=_NULLABLE, trace=TEXT, notes=_list(TEXT)
)
_TASK_STATE: Final = _object(
    id=NUMBER, state=TEXT, worker_id=TEXT, version=_NULLABLE, trace=TEXT, figures=_map(NUMBER)
)
_PART: Final[Schema] = {"type": ["object", "null"]}
_LEVEL: Final = _object(level=TEXT, last_modified={"type": ["integer", "null"]})
_DEFINITION: Final = _object(
    name=TEXT,
    type=TEXT,
    required=FLAG,
    default_value=_NULLABLE,
    importance=TEXT,
    documentation=TEXT,
    group=_NULLABLE,
    width=TEXT,
    display_name=TEXT,
    dependents=_list(TEXT),
    order=NUMBER,
)
_VALUE: Final = _object(
    name=TEXT,
    value=_NULLABLE,
    recommended_values=_list(TEXT),
    errors=_list(TEXT),
    visible=FLAG,
)
_PREVIEW_RECORD: Final = _object(
    topic=TEXT,
    partition=NUMBER,
    offset=NUMBER,
    timestamp=NUMBER,
    key={},
    value={},
    key_base64=TEXT,
    value_base64=TEXT,
    headers=_map(_NULLABLE),
)
_PREVIEW_STEP: Final = _object(
    step=TEXT,
    **{"class": _NULLABLE},
    records=_list({"type": "object"}),
    error=_object(stage=TEXT, **{"class": TEXT}, message=TEXT),
)

_INFO: Final = _object(name=TEXT, config=CONFIG, tasks=_list(_TASK_REF), type=TEXT)
_STATUS: Final = _object(name=TEXT, connector=_STATE, tasks=_list(_TASK_STATE), type=TEXT)

SCHEMAS: Final[dict[str, Schema]] = {
    "ActiveTopics": _map(_object(topics=_list(TEXT))),
    "BrokenPlugins": _list(_object(name=TEXT, path=TEXT, error=TEXT)),
    "Config": CONFIG,
    "ConfigInfos": _object(
        name=TEXT,
        error_count=NUMBER,
        groups=_list(TEXT),
        configs=_list(_object(definition=_DEFINITION, value=_VALUE)),
    ),
    "ConnectorInfo": _INFO,
    "ConnectorStatus": _STATUS,
    # A list of names; with `expand` an object, by name.
    "Connectors": {"anyOf": [_list(TEXT), _map(_object(status=_STATUS, info=_INFO))]},
    "Create": _object(
        name=TEXT,
        config=CONFIG,
        initial_state={"type": "string", "enum": ["RUNNING", "PAUSED", "STOPPED"]},
    ),
    "Definitions": _list(_DEFINITION),
    "Health": _object(status=TEXT, message=TEXT),
    "Level": _object(level=TEXT),
    "LoggerLevel": _LEVEL,
    "Loggers": _map(_LEVEL),
    "Logs": _object(
        lines=_list(
            _object(
                timestamp=NUMBER,
                level=TEXT,
                task={"type": ["integer", "null"]},
                logger=TEXT,
                message=TEXT,
            )
        ),
        cursor=TEXT,
    ),
    "Message": _object(message=TEXT),
    "Names": _list(TEXT),
    "Offsets": _object(offsets=_list(_object(partition=_PART, offset=_PART))),
    "Patch": _map(_NULLABLE),
    "Plugins": _list(_object(**{"class": TEXT, "type": TEXT, "version": TEXT})),
    "Preview": _object(config=CONFIG, records=_list(_PREVIEW_RECORD), limit=NUMBER),
    "Previews": _object(records=_list(_object(steps=_list(_PREVIEW_STEP)))),
    "Salt": _object(salt=TEXT),
    "SameSecrets": _map(_map(FLAG)),
    "Secrets": _object(salt=TEXT, digests=_map(CONFIG)),
    "ServerInfo": _object(version=TEXT, commit=TEXT, kafka_cluster_id=TEXT),
    "TaskState": _TASK_STATE,
    "Tasks": _list(_object(id=_TASK_REF, config=CONFIG)),
}
_ERROR: Final = _object(error_code=NUMBER, message=TEXT)
_PARAMETERS: Final[dict[str, Schema]] = {
    "expand": _list({"type": "string", "enum": ["status", "info"]}),
    "includeTasks": FLAG,
    "onlyFailed": FLAG,
    "connectorsOnly": FLAG,
    "version": TEXT,
    "scope": {"type": "string", "enum": ["worker", "cluster"]},
    "task": NUMBER,
    "limit": NUMBER,
    "since": NUMBER,
    "level": {"type": "string", "enum": ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"]},
}


def describe(
    path: str,
    query: Sequence[str],
    body: str | None,
    answers: Mapping[int, str | None],
) -> Schema:
    """An operation's parameters, body and responses."""
    found: Schema = {
        "parameters": [
            *(_parameter(name, "path") for name in re.findall(r"{(\w+)}", path)),
            *(_parameter(name, "query") for name in query),
        ],
        "responses": {
            **{
                str(status): {"description": HTTPStatus(status).phrase}
                | _content(SCHEMAS.get(answer or ""))
                for status, answer in answers.items()
            },
            "default": {"description": "Error"} | _content(_ERROR),
        },
    }
    if body is not None:
        found["requestBody"] = {"required": True} | _content(SCHEMAS[body])
    return found


def _parameter(name: str, place: str) -> Schema:
    schema = _PARAMETERS.get(name, TEXT)
    return {"name": name, "in": place, "required": place == "path", "schema": schema}


def _content(schema: Schema | None) -> Schema:
    return {} if schema is None else {"content": {"application/json": {"schema": schema}}}
