"""Handlers for /connectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from penstock.kernel.config.values import trim
from penstock.kernel.errors import BadRequestError, MalformedRequestError
from penstock.kernel.logs import LEVELS
from penstock.kernel.wire.json import strings
from penstock.kernel.wire.models import ConnectorOffsets, CreateConnector, Message, named_config
from penstock.worker.rest.requests import (
    answer,
    body_of,
    clear,
    empty,
    flag,
    herding,
    segment,
    task_number,
    whole_number,
    written,
)

_MOST_LINES: Final = 10_000


async def list_connectors(request: Request) -> Response:
    """Names of all connectors; with `expand=status` or `expand=info`, their status or config."""
    herd = herding(request)
    if "expand" not in request.query_params:
        return answer(await herd.call(herd.herder.connectors))
    wanted = request.query_params.getlist("expand")
    return written(await herd.call(herd.herder.expanded, wanted, clear=clear(request)))


async def create_connector(request: Request) -> Response:
    """Create a connector; its tasks are started in the background."""
    sent = CreateConnector.of(await body_of(request))
    name = trim(sent.name or "")
    return await _created(request, name, named_config(name, sent.config), sent.initial_state)


async def copy_connector(request: Request) -> Response:
    """Create a connector with the config of another one, secrets included.

    `config` has the keys that differ; null leaves a key out.
    """
    sent = CreateConnector.of(await body_of(request))
    name = trim(sent.name or "")
    if not name:
        raise BadRequestError("the request has no name for the new connector")
    config = named_config(name, sent.config or {})
    return await _created(request, name, config, sent.initial_state, like=_name(request))


async def _created(
    request: Request,
    name: str,
    config: Mapping[str, str | None],
    initial_state: str | None,
    like: str | None = None,
) -> Response:
    herd = herding(request)
    verb = herd.herder.create_connector
    info = await herd.call(verb, name, config, initial_state, clear=clear(request), like=like)
    return answer(info, 201, {"location": _location(request, name)})


async def get_connector(request: Request) -> Response:
    """A connector's config, tasks and type."""
    herd = herding(request)
    found = await herd.call(herd.herder.connector_info, _name(request), clear=clear(request))
    return answer(found)


async def get_logs(request: Request) -> Response:
    """What a connector and its tasks have logged on this worker: the last lines, or the next."""
    herd, query = herding(request), request.query_params
    found = await herd.call(
        herd.herder.logs,
        _name(request),
        limit=whole_number(request, "limit", default=100, least=1, most=_MOST_LINES),
        since_ms=whole_number(request, "since", default=0, least=0, most=2**63 - 1),
        after=query.get("after"),
        level=_level(query.get("level") or "ALL"),
    )
    return answer(found)


def _level(text: str) -> str:
    if text.upper() not in LEVELS:
        raise BadRequestError(f"unknown level {text}; use one of {', '.join(LEVELS)}")
    return text.upper()


async def delete_connector(request: Request) -> Response:
    """Delete a connector and stop its tasks; its offsets stay."""
    herd = herding(request)
    await herd.call(herd.herder.delete_connector, _name(request))
    return empty(204)


async def get_config(request: Request) -> Response:
    """A connector's config; secrets are hidden unless the worker shows them."""
    herd = herding(request)
    found = await herd.call(herd.herder.connector_config, _name(request), clear=clear(request))
    return answer(found)


async def put_config(request: Request) -> Response:
    """Create a connector or replace its config."""
    name = _name(request)
    config = named_config(name, strings(await body_of(request), "the request"))
    herd = herding(request)
    verb = herd.herder.put_connector_config
    done = await herd.call(verb, name, config, clear=clear(request))
    if done.created:
        return answer(done.info, 201, {"location": _location(request, name)})
    return answer(done.info)


async def patch_config(request: Request) -> Response:
    """Change some keys of a config; null removes a key."""
    patch = strings(await body_of(request), "the request")
    if patch is None:
        raise MalformedRequestError("the request has no body; send the keys to change")
    herd = herding(request)
    verb = herd.herder.patch_connector_config
    return answer(await herd.call(verb, _name(request), patch, clear=clear(request)))


async def get_status(request: Request) -> Response:
    """State of a connector and its tasks."""
    herd = herding(request)
    return answer(await herd.call(herd.herder.connector_status, _name(request)))


async def restart(request: Request) -> Response:
    """Restart the connector, with `includeTasks` its tasks too, with `onlyFailed` what failed."""
    name, herd = _name(request), herding(request)
    tasks = flag(request, "includeTasks", default=False)
    failed = flag(request, "onlyFailed", default=False)
    if not tasks and not failed:
        await herd.call(herd.herder.restart_connector, name)
        return empty(204)
    status = await herd.call(
        herd.herder.restart_connector_and_tasks, name, include_tasks=tasks, only_failed=failed
    )
    return answer(status, 202)


async def pause(request: Request) -> Response:
    """Pause the connector and its tasks."""
    herd = herding(request)
    await herd.call(herd.herder.pause_connector, _name(request))
    return empty(202)


async def resume(request: Request) -> Response:
    """Resume a paused or stopped connector."""
    herd = herding(request)
    await herd.call(herd.herder.resume_connector, _name(request))
    return empty(202)


async def stop(request: Request) -> Response:
    """Stop the connector and remove its tasks; its config stays."""
    herd = herding(request)
    await herd.call(herd.herder.stop_connector, _name(request))
    return empty(204)


async def list_tasks(request: Request) -> Response:
    """The tasks with their configs."""
    herd = herding(request)
    found = await herd.call(herd.herder.tasks, _name(request), clear=clear(request))
    return answer([task.to_json() for task in found])


async def get_task_status(request: Request) -> Response:
    """State of one task."""
    herd, task = herding(request), task_number(request)
    return answer(await herd.call(herd.herder.task_status, _name(request), task))


async def restart_task(request: Request) -> Response:
    """Restart one task."""
    herd, task = herding(request), task_number(request)
    await herd.call(herd.herder.restart_task, _name(request), task)
    return empty(204)


async def get_topics(request: Request) -> Response:
    """Topics the connector has used since it was created or since the last reset."""
    herd = herding(request)
    return answer(await herd.call(herd.herder.active_topics, _name(request)))


async def reset_topics(request: Request) -> Response:
    """Forget the topics the connector has used."""
    herd = herding(request)
    await herd.call(herd.herder.reset_active_topics, _name(request))
    return empty(202)


async def get_offsets(request: Request) -> Response:
    """The connector's offsets."""
    herd = herding(request)
    return answer(await herd.call(herd.herder.offsets, _name(request)))


async def alter_offsets(request: Request) -> Response:
    """Change offsets of a stopped connector; a null offset forgets one."""
    offsets = ConnectorOffsets.of(await body_of(request))
    herd = herding(request)
    return answer(Message(await herd.call(herd.herder.alter_offsets, _name(request), offsets)))


async def reset_offsets(request: Request) -> Response:
    """Forget all offsets of a stopped connector."""
    herd = herding(request)
    return answer(Message(await herd.call(herd.herder.reset_offsets, _name(request))))


async def internal(request: Request) -> Response:
    """For workers of the group only."""
    await request.body()
    raise BadRequestError("Internal request missing required signature")


def _name(request: Request) -> str:
    return segment(request, "connector")


def _location(request: Request, name: str) -> str:
    # Clients resolve a segment of only dots as a relative path.
    escaped = name.replace(".", "%2E") if name in (".", "..") else quote(name, safe=_PLAIN)
    return f"{request.url.scheme}://{request.url.netloc}/connectors/{escaped}"


# What Java's UriBuilder leaves as it is in a path segment.
_PLAIN = "-._~!$&'()*+,=:@"
