"""The addresses the REST API listens on. They are bound before anything else is started, so that
the worker reports a port in use at once."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from penstock.kernel.errors import SetupError
from penstock.worker.settings import WorkerSettings

_BACKLOG: Final = 2048
_DEFAULT_PORT: Final = 8083


@dataclass(frozen=True, slots=True)
class Listener:
    """One bound socket and its URL."""

    url: str
    socket: socket.socket
    secure: bool

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])


@dataclass(frozen=True, slots=True)
class Listeners:
    """All sockets of a worker. `admin` is None where admin requests go to the main ones."""

    main: Sequence[Listener]
    admin: Sequence[Listener] | None
    advertised_host: str
    advertised_port: int
    secure: bool

    @property
    def worker_id(self) -> str:
        """The worker's id in statuses: host and port, without a scheme."""
        return f"{self.advertised_host}:{self.advertised_port}"

    @property
    def url(self) -> str:
        """The URL at which other workers reach this one."""
        return f"{'https' if self.secure else 'http'}://{self.worker_id}/"

    def close(self) -> None:
        for listener in (*self.main, *(self.admin or ())):
            listener.socket.close()


def bind(settings: WorkerSettings) -> Listeners:
    """Bind every listener of the settings.

    Raises:
        SetupError: an address can't be used; the text names it, the key and what to do.
    """
    bound: list[Listener] = []
    try:
        main = _bind_all("listeners", settings.listeners, bound)
        urls = settings.admin_listeners
        admin = None if urls is None else _bind_all("admin.listeners", filter(None, urls), bound)
    except SetupError:
        for listener in bound:
            listener.socket.close()
        raise
    shown = _advertised(main, settings.rest_advertised_listener)
    return Listeners(
        main,
        admin,
        settings.rest_advertised_host_name or shown.host or socket.getfqdn(),
        settings.rest_advertised_port or shown.port,
        shown.secure,
    )


def _advertised(listeners: Sequence[Listener], scheme: str | None) -> Listener:
    wanted = [found for found in listeners if not scheme or found.url.startswith(f"{scheme}:")]
    return (wanted or list(listeners))[0]


def _bind_all(key: str, urls: Iterable[str], bound: list[Listener]) -> list[Listener]:
    found = []
    for url in urls:
        found.append(_bind(key, url))
        bound.append(found[-1])
    return found


def _bind(key: str, url: str) -> Listener:
    parts = urlsplit(url)
    port = _DEFAULT_PORT if parts.port is None else parts.port
    try:
        family, *_, address = socket.getaddrinfo(
            parts.hostname or "0.0.0.0",  # noqa: S104 - no host means every address, as in Connect
            port,
            type=socket.SOCK_STREAM,
            flags=socket.AI_PASSIVE,
        )[0]
        # With the protocol named, asyncio sends each answer at once; else every request on a
        # connection that is kept waits 40 ms for the client's acknowledgement.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    except OSError as error:
        raise SetupError(f"{key}={url}: the host can't be resolved: {error}") from error
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        # Listening now makes a second worker fail at its start, and early callers wait in line.
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise SetupError(
            f"{key}={url}: can't listen on port {port}: {error.strerror}. "
            f"Stop the process that uses it (is another worker running?), or change {key}."
        ) from error
    listener.setblocking(False)
    return Listener(url, listener, parts.scheme == "https")
