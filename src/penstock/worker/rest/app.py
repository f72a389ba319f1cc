"""The REST API: its route table on one screen, and the app made of it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette import routing
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response

from penstock import __version__
from penstock.kernel.errors import PenstockError
from penstock.worker.herder.interface import Herder
from penstock.worker.rest import cluster, connectors
from penstock.worker.rest.errors import on_error, on_http_error
from penstock.worker.rest.openapi import describe
from penstock.worker.rest.protocol import BodyTooLongError, HttpOptions, Protocol, on_long_body
from penstock.worker.rest.requests import (
    Clearance,
    Herding,
    NoSuchPathError,
    UntypedBodyError,
    accepts_json,
    answer,
    on_disconnect,
    on_no_such_path,
    on_untyped_body,
)

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Route:
    """One operation. `query` names its parameters, `body` and `answer` the JSON schemas.

    `others` are further answers: their status, and their schema.
    """

    method: str
    path: str
    handler: Handler
    status: int = 200
    answer: str | None = None
    body: str | None = None
    query: tuple[str, ...] = ()
    others: tuple[tuple[int, str | None], ...] = ()
    hidden: bool = False


_C: Final = "/connectors/{connector}"
_P: Final = "/connector-plugins/{plugin}/config"

ROUTES: Final = (
    Route("GET", "/", cluster.root, answer="ServerInfo"),
    Route(
        "GET", "/health", cluster.health, answer="Health",
        others=((500, "Health"), (503, "Health")),
    ),
    Route("GET", "/connectors", connectors.list_connectors, answer="Connectors", query=("expand",)),
    Route("POST", "/connectors", connectors.create_connector, 201, "ConnectorInfo", "Create"),
    Route("GET", _C, connectors.get_connector, answer="ConnectorInfo"),
    Route("DELETE", _C, connectors.delete_connector, 204),
    Route("GET", f"{_C}/config", connectors.get_config, answer="Config"),
    Route(
        "PUT", f"{_C}/config", connectors.put_config, 200, "ConnectorInfo", "Config",
        others=((201, "ConnectorInfo"),),
    ),
    Route("PATCH", f"{_C}/config", connectors.patch_config, 200, "ConnectorInfo", "Patch"),
    Route("GET", f"{_C}/status", connectors.get_status, answer="ConnectorStatus"),
    Route(
        "POST", f"{_C}/restart", connectors.restart, 202, "ConnectorStatus",
        query=("includeTasks", "onlyFailed"), others=((204, None),),
    ),
    Route("PUT", f"{_C}/pause", connectors.pause, 202),
    Route("PUT", f"{_C}/resume", connectors.resume, 202),
    Route("PUT", f"{_C}/stop", connectors.stop, 204),
    Route("GET", f"{_C}/tasks", connectors.list_tasks, answer="Tasks"),
    Route("POST", f"{_C}/tasks", connectors.internal, hidden=True),
    Route("PUT", f"{_C}/fence", connectors.internal, hidden=True),
    Route("GET", f"{_C}/tasks/{{task}}/status", connectors.get_task_status, answer="TaskState"),
    Route("POST", f"{_C}/tasks/{{task}}/restart", connectors.restart_task, 204),
    Route("GET", f"{_C}/topics", connectors.get_topics, answer="ActiveTopics"),
    Route("PUT", f"{_C}/topics/reset", connectors.reset_topics, 202),
    Route("GET", f"{_C}/offsets", connectors.get_offsets, answer="Offsets"),
    Route("PATCH", f"{_C}/offsets", connectors.alter_offsets, 200, "Message", "Offsets"),
    Route("DELETE", f"{_C}/offsets", connectors.reset_offsets, answer="Message"),
    Route(
        "GET", "/connector-plugins", cluster.list_plugins, answer="Plugins",
        query=("connectorsOnly",),
    ),
    Route("GET", "/penstock/broken-plugins", cluster.list_broken_plugins, answer="BrokenPlugins"),
    Route(
        "GET", f"/penstock{_C}/logs", connectors.get_logs, answer="Logs",
        query=("limit", "after", "since", "level"),
    ),
    Route(
        "POST", f"/penstock{_C}/copy", connectors.copy_connector, 201, "ConnectorInfo", "Create"
    ),
    Route("GET", "/penstock/secrets/salt", cluster.secrets_salt, answer="Salt"),
    Route(
        "POST", "/penstock/secrets/compare", cluster.compare_secrets, 200, "SameSecrets", "Secrets"
    ),
    Route("GET", _P, cluster.get_plugin_config, answer="Definitions", query=("version",)),
    Route("PUT", f"{_P}/validate", cluster.validate, 200, "ConfigInfos", "Config"),
    Route(
        "POST", "/connector-plugins/{plugin}/preview", cluster.preview, 200, "Previews", "Preview"
    ),
)  # fmt: skip

ADMIN_ROUTES: Final = (
    Route("GET", "/admin/loggers", cluster.list_loggers, answer="Loggers"),
    Route("GET", "/admin/loggers/{logger}", cluster.get_logger, answer="LoggerLevel"),
    Route(
        "PUT", "/admin/loggers/{logger}", cluster.set_logger, 200, "Names", "Level",
        query=("scope",), others=((204, None),),
    ),
    Route("DELETE", "/admin/loggers/{logger}", cluster.take_back_logger, answer="Names"),
)  # fmt: skip


def make_app(
    herder: Herder,
    options: HttpOptions = HttpOptions(),  # noqa: B008 - frozen
    routes: Iterable[Route] = (*ROUTES, *ADMIN_ROUTES),
    clearance: Clearance = Clearance(),  # noqa: B008 - frozen
) -> Protocol:
    """The ASGI app that serves these routes."""
    routes = tuple(routes)
    allowed: dict[str, set[str]] = {}
    for route in routes:
        allowed.setdefault(route.path, set()).add(route.method)
    served = [routing.Route(each.path, _handler(each), methods=[each.method]) for each in routes]
    served += [
        routing.Route(path, _options(methods), methods=["OPTIONS"])
        for path, methods in allowed.items()
    ]
    served.append(routing.Route("/openapi.json", _openapi(routes), methods=["GET"]))
    app = Starlette(routes=served, exception_handlers=_ERROR_HANDLERS)
    app.router.redirect_slashes = False
    app.state.herding = Herding(herder)
    app.state.clearance = clearance
    return Protocol(app, options)


_ERROR_HANDLERS: Final[dict[type[Exception], Any]] = {
    HTTPException: on_http_error,
    UntypedBodyError: on_untyped_body,
    NoSuchPathError: on_no_such_path,
    BodyTooLongError: on_long_body,
    ClientDisconnect: on_disconnect,
    PenstockError: on_error,
    Exception: on_error,
}
# Java's order of methods in an Allow header.
_METHODS: Final = ("HEAD", "DELETE", "POST", "GET", "OPTIONS", "PUT", "PATCH")


def _handler(route: Route) -> Handler:
    if route.path == "/health":
        return route.handler

    async def checked(request: Request) -> Response:
        accepts_json(request)
        return await route.handler(request)

    return checked


def _options(methods: set[str]) -> Handler:
    known = {*methods, "OPTIONS"} | ({"HEAD"} if "GET" in methods else set())
    ordered = [method for method in _METHODS if method in known]

    async def options(request: Request) -> Response:
        del request
        found = PlainTextResponse(", ".join(ordered), headers={"allow": ",".join(ordered)})
        found.headers["content-type"] = "text/plain"
        return found

    return options


def _openapi(routes: Sequence[Route]) -> Handler:
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if not route.hidden:
            paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    about = {
        "title": "Penstock",
        "version": __version__,
        "description": "Kafka Connect's REST API.",
    }

    async def openapi(request: Request) -> Response:
        del request
        return answer({"openapi": "3.1.0", "info": about, "paths": paths})

    return openapi


def _operation(route: Route) -> dict[str, Any]:
    name = route.handler.__name__
    return {
        "summary": name.replace("_", " ").title(),
        "description": inspect.getdoc(route.handler),
        "operationId": re.sub(r"\W", "_", f"{name}{route.path}_{route.method.lower()}"),
        **describe(
            route.path,
            route.query,
            route.body,
            {route.status: route.answer, **dict(route.others)},
        ),
    }
