"""Serves the REST API on the worker's listeners, on a thread of its own."""

from __future__ import annotations

import asyncio
import logging
import math
import socket
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, cast

import uvicorn

from penstock import __version__
from penstock.kernel.clock import Deadline
from penstock.kernel.errors import SetupError
from penstock.worker.herder.interface import Herder
from penstock.worker.rest.app import ADMIN_ROUTES, ROUTES, make_app
from penstock.worker.rest.limits import ConnectionLimits, LimitedConnection
from penstock.worker.rest.listeners import Listener, Listeners
from penstock.worker.rest.protocol import HeaderRule, HttpOptions, Protocol
from penstock.worker.rest.requests import Clearance
from penstock.worker.rest.tls import server_context
from penstock.worker.settings import WorkerSettings, header_rules

log = logging.getLogger(__name__)

_STOP_SECONDS = 3


class RestServer:
    """start() returns once requests are answered; close() lets those under way finish."""

    def __init__(self, listeners: Listeners, herder: Herder, settings: WorkerSettings) -> None:
        self._listeners = listeners
        self._servers = list(_servers(listeners, herder, settings))
        self._thread = threading.Thread(target=self._serve, name="rest", daemon=True)

    def start(self, deadline: Deadline) -> None:
        self._thread.start()
        while not all(server.started for server, _ in self._servers):
            if not self._thread.is_alive() or deadline.expired:
                raise SetupError("the REST server did not start; see the log for the reason")
            deadline.clock.wait(threading.Event(), 0.005)

    def close(self, deadline: Deadline) -> None:
        for server, _ in self._servers:
            server.should_exit = True
        self._thread.join(deadline.remaining())
        self._listeners.close()

    def _serve(self) -> None:
        asyncio.run(self._serve_all())

    async def _serve_all(self) -> None:
        await asyncio.gather(*(server.serve(sockets) for server, sockets in self._servers))


def _servers(
    listeners: Listeners, herder: Herder, settings: WorkerSettings
) -> Iterator[tuple[uvicorn.Server, list[socket.socket]]]:
    options = HttpOptions(
        settings.access_control_allow_origin,
        settings.access_control_allow_methods,
        tuple(map(HeaderRule.parse, header_rules(settings.response_http_headers_config))),
        settings.penstock_rest_max_body_bytes,
    )
    own_admin = listeners.admin is not None
    token = settings.penstock_secrets_token
    clearance = Clearance(settings.penstock_secrets_shown, token.value if token else "")
    routes = ROUTES if own_admin else (*ROUTES, *ADMIN_ROUTES)
    main = make_app(herder, options, routes, clearance)
    yield from _by_scheme(main, listeners.main, settings)
    if listeners.admin:
        admin = make_app(herder, options, ADMIN_ROUTES)
        yield from _by_scheme(admin, listeners.admin, settings)


def _by_scheme(
    app: Protocol, listeners: Sequence[Listener], settings: WorkerSettings
) -> Iterator[tuple[uvicorn.Server, list[socket.socket]]]:
    limits = ConnectionLimits.of(settings)
    for secure in (False, True):
        sockets = [listener.socket for listener in listeners if listener.secure is secure]
        if not sockets:
            continue
        config = uvicorn.Config(
            app,
            # uvicorn calls it with keyword arguments, like the class of any protocol.
            http=cast("Any", partial(LimitedConnection, limits)),
            log_config=None,
            access_log=False,
            server_header=False,
            headers=[("server", f"penstock/{__version__}")],
            timeout_keep_alive=math.ceil(limits.idle_seconds),
            timeout_graceful_shutdown=_STOP_SECONDS,
            lifespan="off",
        )
        config.load()
        if secure:
            config.ssl = server_context(settings.props)
        yield uvicorn.Server(config), sockets
