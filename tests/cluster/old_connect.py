"""A Connect server of old: a real worker, but for the requests that it would not know."""

from __future__ import annotations

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

import httpx

from penstock.testing.waiting import patient

_SINCE_3_5 = re.compile(r"(GET|PATCH|DELETE) /connectors/[^/]+/offsets|PUT /connectors/[^/]+/stop")
_SINCE_3_6 = re.compile(r"(PATCH|DELETE) /connectors/[^/]+/offsets")
_UNKNOWN = b'{"error_code":404,"message":"HTTP 404 Not Found"}'
_NOT_ALLOWED = b'{"error_code":405,"message":"HTTP 405 Method Not Allowed"}'


class OldConnect:
    """Stands in front of a worker and hides what Connect 3.4 did not have, or 3.5."""

    def __init__(self, url: str, *, knows_stop: bool = False) -> None:
        handler = _handler(url, knows_stop=knows_stop)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(url: str, *, knows_stop: bool) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            asked = f"{self.command} {self.path}"
            if not knows_stop and _SINCE_3_5.fullmatch(asked):
                self._answer(404, _UNKNOWN)
                return
            if _SINCE_3_6.fullmatch(asked):
                self._answer(405, _NOT_ALLOWED)
                return
            kind = {"content-type": "application/json"} if body else {}
            answer = httpx.request(
                self.command, url + self.path, content=body, headers=kind, timeout=patient()
            )
            self._answer(answer.status_code, answer.content)

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _pass_on  # noqa: N815 - theirs

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - theirs
            return

    return Handler
