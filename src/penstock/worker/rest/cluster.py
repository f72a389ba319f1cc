"""Handlers for the worker itself: root, health, plugins and loggers."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from penstock.kernel.clock import Deadline
from penstock.kernel.errors import BadRequestError, MalformedRequestError
from penstock.kernel.wire.json import mapping, strings
from penstock.kernel.wire.models import PreviewRequest
from penstock.worker.rest.requests import (
    HEALTH_SECONDS,
    answer,
    body_of,
    empty,
    flag,
    herding,
    segment,
)

log = logging.getLogger(__name__)

_HEALTH_STATUS: Final = {"healthy": 200, "starting": 503, "unhealthy": 500}


async def root(request: Request) -> Response:
    """Version of the worker and id of its Kafka cluster."""
    return answer(herding(request).herder.server_info())


async def health(request: Request) -> Response:
    """Whether the worker has started and answers."""
    herd = herding(request)
    deadline = Deadline.after(HEALTH_SECONDS)
    found = await herd.run(partial(herd.herder.health, deadline), pool="health")
    return answer(found, _HEALTH_STATUS[found.status])


async def list_plugins(request: Request) -> Response:
    """Connectors that are installed; with `connectorsOnly=false` all plugins."""
    only = flag(request, "connectorsOnly", default=True)
    herd = herding(request)
    # The herder imports new plugins now, which may be slow.
    found = await herd.run(partial(herd.herder.plugins, connectors_only=only))
    return answer([dict(plugin) for plugin in found])


async def list_broken_plugins(request: Request) -> Response:
    """Plugins that can't be loaded, and why."""
    herd = herding(request)
    found = await herd.run(herd.herder.broken_plugins)
    return answer([dict(plugin) for plugin in found])


async def get_plugin_config(request: Request) -> Response:
    """Definitions of a plugin's keys."""
    herd = herding(request)
    version = request.query_params.get("version")
    plugin = segment(request, "plugin")
    return answer(await herd.call(herd.herder.plugin_config, plugin, version))


async def validate(request: Request) -> Response:
    """Check a connector's config, key by key."""
    config = strings(await body_of(request), "the request")
    if config is None:
        raise MalformedRequestError("the request has no connector config")
    herd = herding(request)
    return answer(await herd.call(herd.herder.validate, segment(request, "plugin"), config))


async def secrets_salt(request: Request) -> Response:
    """The salt for digests of secrets."""
    return answer({"salt": herding(request).herder.secrets_salt()})


async def compare_secrets(request: Request) -> Response:
    """Whether these are digests of the stored values, for clients that can't see the values."""
    where = "the request"
    sent = mapping(await body_of(request), where)
    asked = mapping(sent.get("digests"), f"{where}.digests")
    digests = {name: _texts(given, f"{where}.digests.{name}") for name, given in asked.items()}
    herd = herding(request)
    return answer(await herd.call(herd.herder.same_secrets, str(sent.get("salt")), digests))


def _texts(given: Any, where: str) -> dict[str, str]:
    found = strings(given, where) or {}
    return {name: value for name, value in found.items() if value is not None}


async def preview(request: Request) -> Response:
    """Show what a connector makes of records, after each of its steps; nothing is written."""
    sent = PreviewRequest.of(await body_of(request))
    herd, plugin = herding(request), segment(request, "plugin")
    shown = await herd.call(herd.herder.preview, plugin, sent.config, sent.records, sent.limit)
    return answer({"records": shown})


async def list_loggers(request: Request) -> Response:
    """Levels of all loggers of this worker."""
    found = herding(request).herder.loggers()
    return answer({name: level.to_json() for name, level in found.items()})


async def get_logger(request: Request) -> Response:
    """Level of one logger; `root` is the root logger."""
    return answer(herding(request).herder.logger(segment(request, "logger")))


async def set_logger(request: Request) -> Response:
    """Set the level of a logger and all below it, on this worker or, `scope=cluster`, on all."""
    name, herd = segment(request, "logger"), herding(request)
    sent = strings(await body_of(request), "the request")
    if sent is None:
        raise MalformedRequestError('the request has no body; send {"level": …}')
    level = sent.get("level")
    if level is None:
        raise BadRequestError("Desired 'level' parameter was not specified in request.")
    scope = request.query_params.get("scope", "worker")
    if scope.lower() == "cluster":
        await herd.call(herd.herder.set_cluster_logger, name, level)
        return empty(204)
    if scope.lower() != "worker":
        log.warning("Unknown scope %r for a logger; the level is set on this worker only", scope)
    return answer(herd.herder.set_logger(name, level))


async def take_back_logger(request: Request) -> Response:
    """Give a logger and all below it the levels they had when the worker started."""
    return answer(herding(request).herder.take_back_logger(segment(request, "logger")))
