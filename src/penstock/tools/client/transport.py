"""Requests to a worker: raises typed errors, and retries while the workers rebalance."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from functools import partial
from http import HTTPStatus
from typing import Any, Final, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx

from penstock.kernel.clock import Clock, Deadline, SystemClock
from penstock.kernel.config.unknown import in_plain_words
from penstock.kernel.errors import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PenstockError,
    SetupError,
)

T = TypeVar("T")

DEFAULT_URL: Final = "http://localhost:8083"

_FIRST_PAUSE: Final = 0.25
_LONGEST_PAUSE: Final = 5.0
_LEAST_SECONDS: Final = 0.5
#: A worker reports its health within ten seconds, so a user sees the reason after 14.
_SLOW_SECONDS: Final = 4.0
#: The beginning of a temporary 409 of Connect; a lasting one is "Connector X already exists".
_MOMENTARY: Final = "Cannot complete request"


class ServerError(PenstockError):
    """The server failed, or is not a Connect worker. `status` is that of HTTP."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class UnauthorizedError(ServerError):
    """The server requires a user and a password, or other ones."""


_KINDS: Final[Mapping[int, type[PenstockError]]] = {
    HTTPStatus.BAD_REQUEST: BadRequestError,
    HTTPStatus.FORBIDDEN: ForbiddenError,
    HTTPStatus.NOT_FOUND: NotFoundError,
    HTTPStatus.CONFLICT: ConflictError,
}


class Transport:
    """One pool of connections to one address. For use from any thread."""

    def __init__(
        self,
        url: str,
        *,
        timeout: float,
        retry_seconds: float,
        auth: tuple[str, str] | None,
        headers: Mapping[str, str] | None,
        verify: bool | str,
        on_wait: Callable[[str], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.url, in_url = _apart(url)
        auth = auth or in_url
        self._retry_seconds = retry_seconds
        self._clock = clock or SystemClock()
        self._timeout = timeout
        self._limit: Deadline | None = None
        self._closed = threading.Event()
        self._on_wait = on_wait
        self._reported: set[str] = set()
        try:
            self._http = httpx.Client(
                base_url=self.url,
                timeout=timeout,
                auth=auth,
                headers={"accept": "application/json", **(headers or {})},
                verify=_trusted(verify, self.url),
            )
        except (httpx.InvalidURL, ValueError, OSError) as error:
            raise SetupError(f"{self.url} can't be used as a worker's address: {error}") from error

    def ask(
        self,
        method: str,
        path: str,
        read: Callable[[Any], T],
        body: Any = None,
        query: Mapping[str, str | list[str]] | None = None,
    ) -> T:
        """What `read` makes of the answer; raises the errors of `exchange`."""
        return self.exchange(method, path, read, body, query)[1]

    def exchange(
        self,
        method: str,
        path: str,
        read: Callable[[Any], T],
        body: Any = None,
        query: Mapping[str, str | list[str]] | None = None,
    ) -> tuple[int, T]:
        """The status of a successful request, and what `read` makes of the answer's JSON.

        `read` gets None if there is no body, and may raise any error for wrong JSON.

        Raises:
            BadRequestError, ForbiddenError, NotFoundError, ConflictError: the server's errors.
            SetupError: no server answers.
            ServerError: any other error, or the server is not a Connect worker.
        """
        deadline = Deadline.after(self._lasting(self._retry_seconds), self._clock)
        pause = _FIRST_PAUSE
        while True:
            answer = self._send(method, path, body, query)
            if answer.is_success:
                return answer.status_code, self._understood(answer, read)
            error = self._error(answer)
            if not _passes(error) or deadline.remaining() <= pause:
                raise error
            if self._clock.wait(self._closed, pause):
                raise error
            pause = min(2 * pause, _LONGEST_PAUSE)

    def until(self, deadline: Deadline) -> Transport:
        """The same connections; no request over this one outlasts the deadline."""
        limited = copy(self)
        limited._limit = deadline  # noqa: SLF001 - its own kind
        return limited

    def _lasting(self, seconds: float) -> float:
        if self._limit is None:
            return seconds
        return min(seconds, max(_LEAST_SECONDS, self._limit.remaining()))

    def close(self) -> None:
        """Close the connections; a request that waits for a rebalance ends."""
        self._closed.set()
        self._http.close()

    def _send(
        self, method: str, path: str, body: Any, query: Mapping[str, str | list[str]] | None
    ) -> httpx.Response:
        try:
            with self._reporting_waits():
                return self._http.request(
                    method,
                    path,
                    json=body,
                    params=dict(query) if query else None,
                    timeout=self._lasting(self._timeout),
                )
        except httpx.TimeoutException as error:
            raise SetupError(f"{self.url} did not answer {method} {path} in time") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = str(error) or type(error).__name__
            raise SetupError(
                f"no Connect worker answers at {self.url} ({reason}): check that it is running and"
                " that this is its address; `penstock up` starts one"
            ) from error

    @contextmanager
    def _reporting_waits(self) -> Iterator[None]:
        if self._on_wait is None:
            yield
            return
        answered = threading.Event()
        work = partial(self._report_waits, answered, self._on_wait)
        threading.Thread(target=work, name="what-it-waits-for", daemon=True).start()
        try:
            yield
        finally:
            answered.set()

    def _report_waits(self, answered: threading.Event, report: Callable[[str], None]) -> None:
        while not answered.wait(_SLOW_SECONDS):
            with suppress(httpx.HTTPError, RuntimeError):  # no answer, or we are closed
                found = self._http.get("/health", timeout=self._timeout)
                # Workers before Kafka 3.9 have no such path.
                is_health = found.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR
                reason = _message(found) if is_health else ""
                if reason and reason not in self._reported:
                    self._reported.add(reason)
                    report(f"still waiting for {self.url}: {reason}")

    def _understood(self, answer: httpx.Response, read: Callable[[Any], T]) -> T:
        try:
            return read(answer.json() if answer.content else None)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            text = (
                f"{self.url} answered {answer.status_code}, but not as a Connect worker does"
                f" ({type(error).__name__}: {error}): check the address"
            )
            raise ServerError(text, answer.status_code) from error

    def _error(self, answer: httpx.Response) -> PenstockError:
        message = _message(answer) or (
            f"{self.url} answered {answer.status_code} without a reason: check that this is the"
            " address of a Connect worker"
        )
        if answer.status_code == HTTPStatus.UNAUTHORIZED:
            text = f"{self.url} requires a user and a password, or other ones: {message}"
            return UnauthorizedError(text, answer.status_code)
        kind = _KINDS.get(answer.status_code)
        return ServerError(message, answer.status_code) if kind is None else kind(message)


def _apart(url: str) -> tuple[str, tuple[str, str] | None]:
    """The address without its user and password, because it is shown; and those two."""
    try:
        found = urlsplit(url)
    except ValueError as error:
        raise SetupError(
            f"not a worker's address: {error}; it must look like http://HOST:8083"
        ) from error
    if found.scheme not in ("http", "https"):
        # Without its scheme, the password in an address can't be located.
        shown = url.rpartition("@")[2]
        raise SetupError(
            f"{shown!r} is not a worker's address: it must begin with http:// or https://, as in"
            " http://HOST:8083"
        )
    _, at, place = found.netloc.rpartition("@")
    plain = urlunsplit(found._replace(netloc=place)).rstrip("/")
    return plain, (unquote(found.username or ""), unquote(found.password or "")) if at else None


def _trusted(verify: bool | str, url: str) -> bool | ssl.SSLContext:  # noqa: FBT001 - httpx's
    if isinstance(verify, str):
        return _authorities(verify)
    # Reading the machine's authorities takes longer than a command; http does not need them.
    return verify and url.startswith("https:")


def _authorities(file: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=file)
    except OSError as error:
        raise SetupError(f"the ca-file {file} can't be read: {error}") from error


def _message(answer: httpx.Response) -> str:
    try:
        document = answer.json()
    except ValueError:
        return ""
    message = str(document.get("message") or "") if isinstance(document, dict) else ""
    return in_plain_words(message)


def may_pass(error: PenstockError) -> bool:
    """Whether the same request may work later: a worker may be restarting."""
    if isinstance(error, ServerError):
        return error.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return isinstance(error, SetupError) or _passes(error)


def _passes(error: PenstockError) -> bool:
    """Whether the error is that of a rebalance, which takes seconds."""
    return isinstance(error, ConflictError) and str(error).startswith(_MOMENTARY)
