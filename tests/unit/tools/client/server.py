"""A small HTTP server that gives the answers it is told to give, and remembers what was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from penstock.machine.free_ports import free_port
from penstock.testing.waiting import patient


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


Answer = tuple[int, Any] | Callable[[str], tuple[int, Any]]


@dataclass
class Scripted:
    """`answers` are given in turn, the last one again and again; some are made for a path."""

    url: str
    answers: Sequence[Answer]
    asked: list[Asked] = field(default_factory=list)

    @property
    def requests(self) -> list[str]:
        return [f"{each.method} {each.path}" for each in self.asked]

    def next(self, path: str) -> tuple[int, bytes]:
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        status, body = answer(path) if callable(answer) else answer
        return status, body if isinstance(body, bytes) else json.dumps(body).encode()


@contextmanager
def serving(*answers: Answer) -> Iterator[Scripted]:
    port = free_port()
    script = Scripted(f"http://127.0.0.1:{port}", answers)

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            sent = self.rfile.read(size)
            headers = {name.lower(): text for name, text in self.headers.items()}
            body = json.loads(sent) if sent else None
            script.asked.append(Asked(self.command, self.path, headers, body))
            status, answer = script.next(self.path)
            self.send_response(status)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = handle_any  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002

    http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield script
    finally:
        http.shutdown()
        http.server_close()
        thread.join(patient())
