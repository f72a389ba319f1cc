"""HTTP around the routes: paths, HEAD, CORS and extra headers, as Connect's server treats them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from typing import Final
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.kernel.clock import Clock, SystemClock
from penstock.worker.rest.errors import error_response
from penstock.worker.rest.requests import SLASH

_ENCODED: Final = re.compile(rb"%(?![0-9a-fA-F]{2})")
#: Paths that two servers may parse differently, with the message of Connect's server.
_REFUSED: Final = (
    (re.compile(rb"(?<=/)\.{1,2}(?=/|;|$)"), "Ambiguous URI path segment"),
    (re.compile(rb"%00"), "Bad Request"),
    (re.compile(rb"//"), "Ambiguous URI empty segment"),
    (_ENCODED, "Bad Request"),
)
_DEFAULT_METHODS: Final = "GET,POST,HEAD"
_PREFLIGHT_SECONDS: Final = "60"
_MEDIA_TYPE: Final = re.compile(r"\s*[^/\s;,]+/[^/\s;,]+\s*(;.*)?")


@dataclass(frozen=True, slots=True)
class HeaderRule:
    """One rule of response.http.headers.config."""

    action: str
    name: str
    value: str

    @classmethod
    def parse(cls, text: str) -> HeaderRule:
        action, _, rest = text.partition(" ")
        name, _, value = rest.partition(":")
        return cls(action, name.strip(), value.strip())

    def apply(self, headers: MutableHeaders, clock: Clock) -> None:
        value = self.value
        if self.action.endswith("Date"):
            value = formatdate((clock.wall_ms() + int(value)) / 1000, usegmt=True)
        if self.action.startswith("set"):
            headers[self.name] = value
        else:
            headers.append(self.name, value)


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Settings for all requests: CORS by origin patterns, header rules, the longest body."""

    allow_origin: str = ""
    allow_methods: str = ""
    headers: tuple[HeaderRule, ...] = ()
    max_body: int = 10_485_760

    def allows(self, origin: str) -> bool:
        patterns = [pattern.strip() for pattern in self.allow_origin.split(",")]
        return any(pattern == "*" or _fits(pattern, origin) for pattern in patterns)


def _fits(pattern: str, origin: str) -> bool:
    try:
        return re.fullmatch(pattern, origin) is not None
    except re.error:
        return pattern == origin


class BodyTooLongError(Exception):
    """The body of a request is longer than this worker takes."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"The request body is longer than {most} bytes, the limit set by "
            "penstock.rest.max.body.bytes"
        )


async def on_long_body(request: Request, error: Exception) -> Response:
    del request
    return error_response(413, str(error))


class Protocol:
    """ASGI middleware; the innermost app sees clean paths and no HEAD."""

    def __init__(self, app: ASGIApp, options: HttpOptions, clock: Clock | None = None) -> None:
        self._app = app
        self._options = options
        self._clock = clock or SystemClock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._add_headers(MutableHeaders(scope=message), scope["method"], given)
            await send(message)

        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        wrong = self._objection(raw, given)
        if wrong is not None:
            await error_response(*wrong)(scope, receive, send_with_headers)
            return
        try:
            inner = dict(scope, path=_clean(raw))
        except UnicodeDecodeError:
            await error_response(400, "Bad UTF-8 encoding")(scope, receive, send_with_headers)
            return
        inner["method"] = "GET" if scope["method"] == "HEAD" else scope["method"]
        await self._app(inner, self._limited(receive), send_with_headers)

    def _objection(self, raw: bytes, given: Mapping[str, str]) -> tuple[int, str] | None:
        """Status and text for a request that is refused before any handler; None: it is fine."""
        for pattern, words in _REFUSED:
            if pattern.search(raw):
                return 400, words
        kind = given.get("content-type")
        if kind is not None and not _MEDIA_TYPE.fullmatch(kind):
            return 400, "Bad Request"
        if int(given.get("content-length", 0)) > self._options.max_body:
            return 413, str(BodyTooLongError(self._options.max_body))
        return None

    def _limited(self, receive: Receive) -> Receive:
        """Count the bytes of the body as they arrive: it may have no Content-Length."""
        size = 0

        async def limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self._options.max_body:
                raise BodyTooLongError(self._options.max_body)
            return message

        return limited

    def _add_headers(self, headers: MutableHeaders, method: str, given: Mapping[str, str]) -> None:
        if self._options.allow_origin:
            for name, value in self._cors(method, given):
                headers[name] = value
        for rule in self._options.headers:
            rule.apply(headers, self._clock)

    def _cors(self, method: str, given: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        yield "vary", "Origin"
        origin = given.get("origin")
        if origin is None or not self._options.allows(origin):
            return
        yield "access-control-allow-origin", origin
        if method == "OPTIONS" and "access-control-request-method" in given:
            yield "access-control-allow-methods", self._options.allow_methods or _DEFAULT_METHODS
            yield "access-control-allow-headers", "Content-Type"
            yield "access-control-max-age", _PREFLIGHT_SECONDS


def _clean(raw: bytes) -> str:
    """The path without `;parameters` and without a slash at its end.

    A slash inside a connector's name does not separate segments: see SLASH.
    """
    segments = [unquote_to_bytes(segment.split(b";")[0]).decode() for segment in raw.split(b"/")]
    return "/".join(segment.replace("/", SLASH) for segment in segments).rstrip("/") or "/"
