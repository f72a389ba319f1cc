"""HTTP connections with limits: their number, and the time for each part of a request.

Also refuses requests that two servers could parse differently.
"""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Self

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from penstock.kernel.wire.json import encode
from penstock.kernel.wire.models import ErrorMessage
from penstock.worker.rest.errors import JSON
from penstock.worker.settings import WorkerSettings

log = logging.getLogger(__name__)

_BARE_LINE_FEED: Final = re.compile(rb"(?<!\r)\n")


class _Awaited(Enum):
    """What the server waits for a client to send."""

    REQUEST = "idle"
    HEADERS = "header"
    BODY = "body"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """See the worker's settings of these names; times in seconds."""

    connections: int
    idle_seconds: float
    header_seconds: float
    body_seconds: float

    @classmethod
    def of(cls, settings: WorkerSettings) -> Self:
        return cls(
            settings.penstock_rest_max_connections,
            settings.penstock_rest_idle_timeout_ms / 1000,
            settings.penstock_rest_header_timeout_ms / 1000,
            settings.penstock_rest_body_timeout_ms / 1000,
        )

    def seconds(self, awaited: _Awaited) -> float:
        if awaited is _Awaited.REQUEST:
            return self.idle_seconds
        return self.header_seconds if awaited is _Awaited.HEADERS else self.body_seconds


class _StrictConnection(h11.Connection):
    """h11's reader, but stricter; `refusal` says what was wrong."""

    refusal: h11.RemoteProtocolError | None = None

    def next_event(self) -> Any:
        try:
            self._check_lines()
            event = super().next_event()
            if isinstance(event, h11.Request):
                _check_length(event)
        except h11.RemoteProtocolError as error:
            self.refusal = error
            raise
        return event

    def _check_lines(self) -> None:
        if self.their_state is not h11.IDLE:
            return
        head, _, _ = self.trailing_data[0].partition(b"\r\n\r\n")
        if _BARE_LINE_FEED.search(head):
            raise h11.RemoteProtocolError("a line of the header ends without a carriage return")


def _check_length(request: h11.Request) -> None:
    given = {name for name, _ in request.headers}
    if {b"content-length", b"transfer-encoding"} <= given:
        raise h11.RemoteProtocolError("Content-Length and Transfer-Encoding exclude each other")


class LimitedConnection(H11Protocol):
    """One connection. It is closed if its client does not send in time what is awaited."""

    conn: _StrictConnection

    def __init__(self, limits: ConnectionLimits, **given: Any) -> None:
        super().__init__(**given)
        self.conn = _StrictConnection(h11.SERVER)
        self._limits = limits
        self._awaited: tuple[_Awaited, object] = (_Awaited.NOTHING, None)
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        most = self._limits.connections
        if len(self.connections) > most:
            self._refuse(503, f"all {most} connections are in use (penstock.rest.max.connections)")
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for timer in (self._timer, self._write_timer):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        # The client does not read its answer; closing the connection also ends its handler.
        self._write_timer = self.loop.call_later(self._limits.idle_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()

    def send_400_response(self, msg: str) -> None:
        wrong = self.conn.refusal
        status = 400 if wrong is None else wrong.error_status_hint
        self._refuse(status, msg if wrong is None else f"Invalid HTTP request: {wrong}")

    def _watch(self) -> None:
        """Start the timer when another thing is awaited; more of the same gets no more time."""
        awaited = self._owed()
        if (awaited, self.cycle) == self._awaited:
            return
        self._awaited = (awaited, self.cycle)
        if self._timer is not None:
            self._timer.cancel()
        if awaited is not _Awaited.NOTHING:
            self._timer = self.loop.call_later(self._limits.seconds(awaited), self._too_late)

    def _owed(self) -> _Awaited:
        if self.transport.is_closing():
            return _Awaited.NOTHING
        if self.conn.their_state is h11.SEND_BODY:
            return _Awaited.BODY
        if self.conn.their_state is not h11.IDLE:
            return _Awaited.NOTHING
        return _Awaited.HEADERS if self.conn.trailing_data[0] else _Awaited.REQUEST

    def _too_late(self) -> None:
        awaited, _ = self._awaited
        if awaited is _Awaited.REQUEST:
            self.timeout_keep_alive_handler()
            return
        seconds = self._limits.seconds(awaited)
        self._refuse(408, f"the request's {awaited.value} did not come within {seconds:g} s")

    def _refuse(self, status: int, words: str) -> None:
        """Answer, if no answer has begun, and close; a running handler sees a disconnect."""
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = encode(ErrorMessage(status, words).to_json())
            headers = [("content-type", JSON), ("connection", "close")]
            headers.append(("content-length", str(len(body))))
            for event in (
                h11.Response(status_code=status, headers=headers),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
