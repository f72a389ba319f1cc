"""Requests that are too long, too slow, too many or ambiguous, over real sockets."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from penstock.testing.waiting import eventually, patient
from tests.unit.worker.herder.harness import SOURCE, running
from tests.unit.worker.rest.served import Served

JSON = {"content-type": "application/json"}


@contextmanager
def serving(**props: str) -> Iterator[Served]:
    with running() as bench:
        served = Served(bench, **props)
        yield served
        served.close()


def opened(served: Served) -> socket.socket:
    port = served.listeners.main[0].port
    return socket.create_connection(("127.0.0.1", port), timeout=patient())


def answer(connection: socket.socket) -> tuple[int, Any]:
    """Status and body of all that comes until the server closes the connection."""
    received = b""
    while chunk := connection.recv(65536):
        received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def exchanged(served: Served, request: bytes) -> tuple[int, str]:
    with opened(served) as connection:
        connection.sendall(request)
        status, body = answer(connection)
    return status, body["message"]


BODY_HEAD = (
    b"PUT /connectors/c/config HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1000\r\n\r\n"
)


@pytest.mark.parametrize("begun", [BODY_HEAD, BODY_HEAD.replace(b"/config", b"/nowhere")])
def test_slow_bodies_end_however_many_there_are(begun: bytes) -> None:
    """Those that no handler reads end as well."""
    with serving(penstock_rest_body_timeout_ms="300") as served:
        connections = [opened(served) for _ in range(400)]
        for connection in connections:
            connection.sendall(begun)
        assert served.http.get("/connectors").status_code == 200
        open_ones = set(connections)
        ended = []
        # Byte after byte: what comes is no reason to wait longer.
        while open_ones:
            for connection in list(open_ones):
                try:
                    connection.sendall(b" ")
                except OSError:
                    ended.append(connection)
                    open_ones.discard(connection)
            served.http.get("/connectors")
        assert len(ended) == 400
        for connection in connections:
            connection.close()


def test_a_late_body_is_answered() -> None:
    with serving(penstock_rest_body_timeout_ms="100") as served:
        assert exchanged(served, BODY_HEAD + b"{") == (
            408,
            "the request's body did not come within 0.1 s",
        )


def test_a_header_that_does_not_end_is_answered() -> None:
    with serving(penstock_rest_header_timeout_ms="100") as served:
        assert exchanged(served, b"GET /connectors HTTP/1.1\r\nHost:") == (
            408,
            "the request's header did not come within 0.1 s",
        )


def test_a_connection_without_a_request_is_closed() -> None:
    with serving(penstock_rest_idle_timeout_ms="100") as served:
        with opened(served) as connection:
            assert connection.recv(1) == b""
        with opened(served) as connection:
            connection.sendall(b"GET /connectors HTTP/1.1\r\nHost: x\r\n\r\n")
            assert answer(connection) == (200, [])


def test_a_client_that_does_not_read_its_answer_is_left() -> None:
    with serving(penstock_rest_idle_timeout_ms="100") as served:
        for number in range(50):
            served.bench.create(f"c{number}", big="x" * 100_000)
        with opened(served) as connection:
            ask = b"GET /connectors?expand=info HTTP/1.1\r\nHost: x\r\n\r\n"
            connection.sendall(ask * 20)
            # Its end reaches this side as an error, or as fewer bytes than were asked for.
            eventually(lambda: not served.server._servers[0][0].server_state.connections)


def test_handlers_have_longer_than_their_requests() -> None:
    """No limit for what a client owes is one for an answer that takes its time."""
    with serving(
        penstock_rest_body_timeout_ms="50",
        penstock_rest_header_timeout_ms="50",
        penstock_rest_idle_timeout_ms="50",
    ) as served:
        served.bench.validation.hold = hold = threading.Event()
        threading.Timer(0.3, hold.set).start()
        assert served.create().status_code == 201


def test_bodies_have_a_limit() -> None:
    with serving(penstock_rest_max_body_bytes="2000") as served:
        words = (
            "The request body is longer than 2000 bytes, the limit set by "
            "penstock.rest.max.body.bytes"
        )
        long = json.dumps({"name": "c", "config": {**SOURCE, "more": "x" * 2000}}).encode()
        told = served.http.post("/connectors", content=long, headers=JSON)
        assert (told.status_code, told.json()["message"]) == (413, words)
        chunks = (long[at : at + 100] for at in range(0, len(long), 100))
        counted = served.http.post("/connectors", content=chunks, headers=JSON)
        assert (counted.status_code, counted.json()["message"]) == (413, words)
        assert served.create().status_code == 201


def test_connections_have_a_limit() -> None:
    with serving(penstock_rest_max_connections="3") as served:
        held = [opened(served) for _ in range(3)]
        with opened(served) as connection:
            assert answer(connection) == (
                503,
                {
                    "error_code": 503,
                    "message": "all 3 connections are in use (penstock.rest.max.connections)",
                },
            )
        for connection in held:
            connection.close()
        eventually(lambda: _connects(served))


def _connects(served: Served) -> bool:
    try:
        return served.http.get("/connectors").status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (
            b"POST /connectors HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "Content-Length and Transfer-Encoding exclude each other",
        ),
        (
            b"GET /connectors HTTP/1.1\nHost: x\n\n",
            "a line of the header ends without a carriage return",
        ),
        (
            b"GET /connectors HTTP/1.1\r\nHost: x\nAccept: */*\r\n\r\n",
            "a line of the header ends without a carriage return",
        ),
        (b"GET /connectors HTTP/1.1\r\n\r\n", "Missing mandatory Host: header"),
    ],
)
def test_what_two_servers_may_read_in_two_ways_is_refused(
    api: Served, request_: bytes, words: str
) -> None:
    assert exchanged(api, request_) == (400, f"Invalid HTTP request: {words}")


@pytest.mark.parametrize("path", ["/connectors/..", "/connectors/./status", "/connectors/..;a"])
def test_segments_that_lead_elsewhere_are_refused(api: Served, path: str) -> None:
    """Most clients resolve them; this one sends what it is told."""
    request = f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    assert exchanged(api, request.encode()) == (400, "Ambiguous URI path segment")


def test_a_header_that_is_too_long_is_refused(api: Served) -> None:
    status, words = exchanged(api, b"GET /" + b"x" * 100_000)
    assert (status, words) == (431, "Invalid HTTP request: Receive buffer too long")


def test_requests_one_after_another_are_each_looked_at(api: Served) -> None:
    good = b"GET /connectors HTTP/1.1\r\nHost: x\r\n\r\n"
    with opened(api) as connection:
        connection.sendall(good + good.replace(b"\r\n", b"\n"))
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
    assert [part[:3] for part in received.split(b"HTTP/1.1 ")[1:]] == [b"200", b"400"]


def test_a_client_that_hangs_up_is_no_error(api: Served, caplog: pytest.LogCaptureFixture) -> None:
    with opened(api) as connection:
        connection.sendall(BODY_HEAD)
        eventually(lambda: api.server._servers[0][0].server_state.tasks)
    eventually(lambda: not api.server._servers[0][0].server_state.tasks)
    assert caplog.records == []
