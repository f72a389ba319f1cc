"""The REST API: its route table on one screen, and the app made of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from fastapi import Depends, FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from penstock import __version__
from penstock.errors import PenstockError
from penstock.herder.herder import Herder
from penstock.rest import cluster, connectors
from penstock.rest.errors import on_error, on_http_error
from penstock.rest.openapi import describe
from penstock.rest.protocol import HttpOptions, Protocol
from penstock.rest.requests import (
    Clearance,
    Herding,
    NoSuchPathError,
    UntypedBodyError,
    accepts_json,
    on_no_such_path,
    on_untyped_body,
)

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Route:
    """One operation. `query` names its parameters, `body` and `answer` what is sent and comes."""

    method: str
    path: str
    handler: Handler
    status: int = 200
    answer: str | None = None
    body: str | None = None
    query: tuple[str, ...] = ()
    hidden: bool = False


_C: Final = "/connectors/{connector}"
_P: Final = "/connector-plugins/{plugin}/config"

ROUTES: Final = (
    Route("GET", "/", cluster.root, answer="ServerInfo"),
    Route("GET", "/health", cluster.health, answer="Health"),
    Route("GET", "/connectors", connectors.list_connectors, answer="Names", query=("expand",)),
    Route("POST", "/connectors", connectors.create_connector, 201, "ConnectorInfo", "Create"),
    Route("GET", _C, connectors.get_connector, answer="ConnectorInfo"),
    Route("DELETE", _C, connectors.delete_connector, 204),
    Route("GET", f"{_C}/config", connectors.get_config, answer="Config"),
    Route("PUT", f"{_C}/config", connectors.put_config, 200, "ConnectorInfo", "Config"),
    Route("PATCH", f"{_C}/config", connectors.patch_config, 200, "ConnectorInfo", "Patch"),
    Route("GET", f"{_C}/status", connectors.get_status, answer="ConnectorStatus"),
    Route(
        "POST", f"{_C}/restart", connectors.restart, 202, "ConnectorStatus",
        query=("includeTasks", "onlyFailed"),
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
        query=("scope",),
    ),
)  # fmt: skip


def make_app(
    herder: Herder,
    options: HttpOptions = HttpOptions(),  # noqa: B008 - frozen
    routes: Iterable[Route] = (*ROUTES, *ADMIN_ROUTES),
    clearance: Clearance = Clearance(),  # noqa: B008 - frozen
) -> Protocol:
    """The ASGI app that serves these routes."""
    app = FastAPI(
        title="Penstock",
        version=__version__,
        description="Kafka Connect's REST API.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.herding = Herding(herder)
    app.state.clearance = clearance
    app.openapi_version = "3.1.0"
    allowed: dict[str, set[str]] = {}
    for route in routes:
        _add(app, route)
        allowed.setdefault(route.path, set()).add(route.method)
    for path, methods in allowed.items():
        app.add_route(path, _options(methods), ["OPTIONS"], include_in_schema=False)
    for kind, handler in _ERROR_HANDLERS.items():
        app.add_exception_handler(kind, handler)
    return Protocol(app, options)


_ERROR_HANDLERS: Final[dict[type[Exception], Any]] = {
    HTTPException: on_http_error,
    UntypedBodyError: on_untyped_body,
    NoSuchPathError: on_no_such_path,
    PenstockError: on_error,
    Exception: on_error,
}
# Java's order of methods in an Allow header.
_METHODS: Final = ("HEAD", "DELETE", "POST", "GET", "OPTIONS", "PUT", "PATCH")


def _add(app: FastAPI, route: Route) -> None:
    plain = route.path in ("/", "/health")
    app.add_api_route(
        route.path,
        route.handler,
        methods=[route.method],
        status_code=route.status,
        response_model=None,
        response_class=Response,
        include_in_schema=not route.hidden,
        dependencies=[] if plain and route.path == "/health" else [Depends(accepts_json)],
        openapi_extra=describe(route.path, route.query, route.body, route.answer, route.status),
    )


def _options(methods: set[str]) -> Handler:
    known = {*methods, "OPTIONS"} | ({"HEAD"} if "GET" in methods else set())
    ordered = [method for method in _METHODS if method in known]

    async def options(request: Request) -> Response:
        del request
        found = PlainTextResponse(", ".join(ordered), headers={"allow": ",".join(ordered)})
        found.headers["content-type"] = "text/plain"
        return found

    return options
