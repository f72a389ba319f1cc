"""What every handler needs: the herder, a deadline, the body, and an answer in JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from hmac import compare_digest
from typing import Any, Final, Protocol, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from penstock.kernel.clock import Deadline
from penstock.kernel.errors import BadRequestError, ForbiddenError
from penstock.kernel.wire.json import decode, encode
from penstock.worker.herder.interface import Herder
from penstock.worker.rest.errors import JSON, error_response
from penstock.worker.settings import SECRETS_HEADER

REQUEST_SECONDS: Final = 90.0
HEALTH_SECONDS: Final = 10.0
# More digits are out of every range, and Python refuses to read very many.
_DIGITS: Final = re.compile(r"\d{1,40}", re.ASCII)
_SIGNED: Final = re.compile(r"[+-]?\d{1,40}", re.ASCII)

SLASH: Final = "\0"
"""Stands for a slash inside a segment until the routing is done; no path contains NUL itself."""

T = TypeVar("T")


class Answer(Protocol):
    def to_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Clearance:
    """Which requests get stored secrets in clear: `never`, `always`, or those `with-token`."""

    shown: str = "never"
    token: str = field(default="", repr=False)

    def of(self, request: Request) -> bool:
        """Whether this request gets secrets in clear.

        Raises:
            ForbiddenError: it has a wrong token; hiding the secrets would not say why.
        """
        given = request.headers.get(SECRETS_HEADER)
        if self.shown != "with-token" or given is None:
            return self.shown == "always"
        if not compare_digest(given.encode("latin-1"), self.token.encode()):
            raise ForbiddenError(f"{SECRETS_HEADER} is not the worker's penstock.secrets.token")
        return True


class UntypedBodyError(Exception):
    """A body without a media type."""


class Herding:
    """Calls the herder on threads, so that a slow answer delays no other request.

    Health has threads of its own: it must answer when all others are busy.
    """

    def __init__(self, herder: Herder, threads: int = 200) -> None:
        self.herder = herder
        self._threads = threads
        self._limiters: dict[str, CapacityLimiter] = {}

    async def call(self, verb: Callable[..., T], *args: Any, **named: Any) -> T:
        """Call a method of the herder that takes a deadline."""
        deadline = Deadline.after(REQUEST_SECONDS)
        return await self.run(partial(verb, *args, **named, deadline=deadline))

    async def run(self, work: Callable[[], T], pool: str = "requests") -> T:
        limiter = self._limiters.setdefault(pool, CapacityLimiter(self._threads))
        return await to_thread.run_sync(work, limiter=limiter, abandon_on_cancel=True)


def herding(request: Request) -> Herding:
    found = request.app.state.herding
    assert isinstance(found, Herding)  # noqa: S101 - set by the app itself
    return found


def clear(request: Request) -> bool:
    """Whether the answer has secrets in clear."""
    clearance = request.app.state.clearance
    assert isinstance(clearance, Clearance)  # noqa: S101 - set by the app itself
    return clearance.of(request)


def answer(
    value: Answer | list[Any] | Mapping[str, Any],
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    plain = value if isinstance(value, list | dict) else _plain(value)
    return written(encode(plain), status, headers)


def written(text: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer that is JSON already."""
    return Response(text, status, {**(headers or {}), "content-type": JSON})


def segment(request: Request, name: str) -> str:
    """A parameter of the path, as it was before it was escaped."""
    return str(request.path_params[name]).replace(SLASH, "/")


def empty(status: int) -> Response:
    return Response(None, status)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value.to_json()


async def body_of(request: Request) -> Any:
    """The JSON value of the request's body; None if it has none."""
    body = await request.body()
    given = request.headers.get("content-type")
    if body and (given is None or given.split(";")[0].strip() == "*/*"):
        raise UntypedBodyError
    return decode(body)


async def on_untyped_body(request: Request, error: Exception) -> Response:
    """Connect detects this only when it reads the body, so its answer has a content type."""
    del request, error
    return error_response(415, "HTTP 415 Unsupported Media Type")


async def on_disconnect(request: Request, error: Exception) -> Response:
    """The client is gone: no one reads this answer."""
    del request, error
    return Response(None, 400)


def flag(request: Request, name: str, *, default: bool) -> bool:
    """A boolean of the query, by Java's rules: whatever is not "true" is false."""
    given = request.query_params.get(name)
    return default if not given else given.lower() == "true"


def whole_number(request: Request, name: str, *, default: int, least: int, most: int) -> int:
    """A number of the query.

    Raises:
        BadRequestError: it is not a number, or out of range.
    """
    given = request.query_params.get(name)
    if not given:
        return default
    if not _DIGITS.fullmatch(given) or not least <= int(given) <= most:
        raise BadRequestError(f"{name} must be a whole number from {least} to {most}, not {given}")
    return int(given)


def task_number(request: Request) -> int:
    """The task's number in the path.

    Raises:
        NoSuchPathError: it is not a Java int.
    """
    text = segment(request, "task")
    if not _SIGNED.fullmatch(text) or not -(2**31) <= int(text) < 2**31:
        raise NoSuchPathError
    return int(text)


class NoSuchPathError(Exception):
    """A path whose parameter can't be read."""


async def on_no_such_path(request: Request, error: Exception) -> Response:
    del request, error
    return error_response(404, "HTTP 404 Not Found")


def accepts_json(request: Request) -> None:
    """Refuse requests that do not accept JSON, and bodies of another media type.

    Raises:
        HTTPException: 415 or 406, in this order.
    """
    given = request.headers.get("content-type")
    if given is not None and given.split(";")[0].strip().lower() not in (JSON, "*/*"):
        raise HTTPException(415)
    wanted = request.headers.get("accept")
    if wanted is not None and not any(map(_is_json, wanted.split(","))):
        raise HTTPException(406)


def _is_json(media_range: str) -> bool:
    kind, *parameters = (part.strip().lower() for part in media_range.split(";"))
    refused = any(part.replace(" ", "") in ("q=0", "q=0.0") for part in parameters)
    return kind in (JSON, "application/*", "*/*") and not refused
