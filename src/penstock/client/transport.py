"""Requests to a worker: errors by their meaning, and patience while the workers rebalance."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import httpx

from penstock.clock import Clock, Deadline, SystemClock
from penstock.errors import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PenstockError,
    SetupError,
)

DEFAULT_URL: Final = "http://localhost:8083"

_FIRST_PAUSE: Final = 0.25
_LONGEST_PAUSE: Final = 5.0
#: How Connect begins a 409 that passes; the one that stays is "Connector X already exists".
_MOMENTARY: Final = "Cannot complete request"


class ServerError(PenstockError):
    """The server failed, or what answered is no Connect worker. `status` is that of HTTP."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class UnauthorizedError(ServerError):
    """The server wants a user and a password, or other ones."""


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
        clock: Clock | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self._retry_seconds = retry_seconds
        self._clock = clock or SystemClock()
        self._closed = threading.Event()
        try:
            self._http = httpx.Client(
                base_url=self.url,
                timeout=timeout,
                auth=auth,
                headers={"accept": "application/json", **(headers or {})},
                verify=verify
                if isinstance(verify, bool)
                else ssl.create_default_context(cafile=verify),
            )
        except (httpx.InvalidURL, ValueError, OSError) as error:
            raise SetupError(f"{self.url} can't be used as a worker's address: {error}") from error

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, str | list[str]] | None = None,
    ) -> Any:
        """The answer's JSON, None if it has none; errors as `exchange` raises them."""
        return self.exchange(method, path, body, query)[1]

    def exchange(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, str | list[str]] | None = None,
    ) -> tuple[int, Any]:
        """The status of a request that worked, and the answer's JSON, None if it has none.

        Raises:
            BadRequestError, ForbiddenError, NotFoundError, ConflictError: what the server says.
            SetupError: nobody answers.
            ServerError: any other refusal, or what answers is no Connect worker.
        """
        deadline = Deadline.after(self._retry_seconds, self._clock)
        pause = _FIRST_PAUSE
        while True:
            answer = self._send(method, path, body, query)
            if answer.is_success:
                return answer.status_code, self._document(answer)
            error = self._error(answer)
            if not _passes(error) or deadline.remaining() <= pause:
                raise error
            if self._clock.wait(self._closed, pause):
                raise error
            pause = min(2 * pause, _LONGEST_PAUSE)

    def close(self) -> None:
        """Give up the connections; a request that waits for a rebalance ends."""
        self._closed.set()
        self._http.close()

    def _send(
        self, method: str, path: str, body: Any, query: Mapping[str, str | list[str]] | None
    ) -> httpx.Response:
        try:
            return self._http.request(
                method, path, json=body, params=dict(query) if query else None
            )
        except httpx.TimeoutException as error:
            raise SetupError(f"{self.url} did not answer {method} {path} in time") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            told = str(error) or type(error).__name__
            raise SetupError(
                f"no Connect worker answers at {self.url} ({told}): is it running, and is this "
                "its address? `penstock up` starts one"
            ) from error

    def _document(self, answer: httpx.Response) -> Any:
        if not answer.content:
            return None
        try:
            return answer.json()
        except ValueError as error:
            told = f"{self.url} answered {answer.status_code} without JSON: no Connect worker?"
            raise ServerError(told, answer.status_code) from error

    def _error(self, answer: httpx.Response) -> PenstockError:
        message = _message(answer) or f"{self.url} answered {answer.status_code}"
        if answer.status_code == HTTPStatus.UNAUTHORIZED:
            told = f"{self.url} wants a user and a password, or other ones: {message}"
            return UnauthorizedError(told, answer.status_code)
        kind = _KINDS.get(answer.status_code)
        return ServerError(message, answer.status_code) if kind is None else kind(message)


def _message(answer: httpx.Response) -> str:
    try:
        document = answer.json()
    except ValueError:
        return ""
    return str(document.get("message") or "") if isinstance(document, dict) else ""


def _passes(error: PenstockError) -> bool:
    return isinstance(error, ConflictError) and str(error).startswith(_MOMENTARY)
