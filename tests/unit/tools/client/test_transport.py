"""What the client makes of answers, and when it asks again."""

from __future__ import annotations

import base64
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.client import Client, ServerError
from penstock.kernel.clock import Deadline
from penstock.kernel.errors import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PenstockError,
    SetupError,
)
from penstock.machine.free_ports import free_port
from penstock.testing.fakes import ManualClock
from penstock.testing.waiting import eventually, patient
from penstock.tools.client.transport import Transport, UnauthorizedError
from tests.unit.tools.client.server import serving

REBALANCE = "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"
NO_LEADER = (
    "Cannot complete request momentarily due to no known leader URL, likely because a rebalance "
    "was underway."
)
STALE = (
    "Cannot complete request momentarily due to stale configuration (typically caused by a "
    "concurrent config change)"
)


class Hurried(ManualClock):
    """Waits take no time, and are remembered."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, event: threading.Event, seconds: float) -> bool:
        self.waits.append(seconds)
        return super().wait(event, seconds)


def transport(url: str, clock: Any, retry_seconds: float = 60.0) -> Transport:
    return Transport(
        url,
        timeout=5,
        retry_seconds=retry_seconds,
        auth=None,
        headers=None,
        verify=True,
        clock=clock,
    )


def refused(status: int, message: str) -> tuple[int, Any]:
    return status, {"error_code": status, "message": message}


@pytest.mark.parametrize("message", [REBALANCE, NO_LEADER, STALE])
def test_a_rebalance_is_waited_for(message: str) -> None:
    clock = Hurried()
    with serving(refused(409, message), refused(409, message), (200, ["a"])) as server:
        assert transport(server.url, clock).ask("GET", "/connectors", list) == ["a"]
        assert server.requests == ["GET /connectors"] * 3
    assert clock.waits == [0.25, 0.5]


def test_a_rebalance_without_end_is_given_up() -> None:
    clock = Hurried()
    with serving(refused(409, REBALANCE)) as server, pytest.raises(ConflictError, match="worker"):
        transport(server.url, clock, 20.0).ask("GET", "/connectors", list)
    assert 15 < clock.now() <= 20
    assert max(clock.waits) == 5.0


@pytest.mark.parametrize("name", ["rebalance", "conflicting operation", "momentarily"])
def test_what_is_there_already_is_not_tried_again(name: str) -> None:
    clock = Hurried()
    with serving(refused(409, f"Connector {name} already exists")) as server:
        with pytest.raises(ConflictError, match="already exists"):
            transport(server.url, clock).ask("POST", "/connectors", dict, {"name": name})
        assert len(server.asked) == 1
    assert clock.waits == []


def test_closing_ends_a_wait_for_a_rebalance() -> None:
    failures: list[Exception] = []

    def ask(client: Client) -> None:
        try:
            client.connectors()
        except PenstockError as error:
            failures.append(error)

    with serving(refused(409, REBALANCE)) as server:
        client = Client(server.url)
        thread = threading.Thread(target=ask, args=(client,))
        thread.start()
        eventually(lambda: server.asked, lambda asked: len(asked) >= 2)
        client.close()
        thread.join(patient())
        assert not thread.is_alive()
    assert len(failures) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, BadRequestError),
        (403, ForbiddenError),
        (404, NotFoundError),
        (409, ConflictError),
        (401, UnauthorizedError),
        (405, ServerError),
        (500, ServerError),
        (503, ServerError),
    ],
)
def test_errors_by_status(status: int, kind: type[PenstockError]) -> None:
    with (
        serving(refused(status, "these words")) as server,
        Client(server.url) as client,
        pytest.raises(kind, match="these words") as caught,
    ):
        client.connectors()
    assert type(caught.value) is kind
    if isinstance(caught.value, ServerError):
        assert caught.value.status == status


@pytest.mark.parametrize("body", [b"<html>Bad gateway</html>", b"", b'"text"', b"[]"])
def test_errors_without_a_message_name_the_server(body: bytes) -> None:
    with (
        serving((502, body)) as server,
        Client(server.url) as client,
        pytest.raises(ServerError, match=f"{server.url} answered 502 .*: check that"),
    ):
        client.connectors()


def test_what_answers_is_no_worker() -> None:
    with (
        serving((200, b"<html>Welcome</html>")) as server,
        Client(server.url) as client,
        pytest.raises(ServerError, match="not as a Connect worker does"),
    ):
        client.connectors()


def test_nobody_answers() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with Client(url) as client, pytest.raises(SetupError, match=f"no Connect worker .* {url}"):
        client.connectors()


def test_a_worker_that_does_not_answer_in_time() -> None:
    with socket.create_server(("127.0.0.1", free_port())) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        late = pytest.raises(SetupError, match="did not answer GET /connectors in time")
        with Client(url, timeout=0.2) as client, late:
            client.connectors()


@pytest.mark.parametrize("url", ["http://[::1", "ftp://x", "localhost:8083"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(SetupError):
        Client(url).connectors()


@pytest.mark.parametrize("url", ["localhost:8083", "ftp://x", "user:tr0ub4dor@localhost:8083", ""])
def test_an_address_without_its_scheme(url: str) -> None:
    with pytest.raises(SetupError, match=r"begin with http:// or https://") as told:
        Client(url)
    assert "tr0ub4dor" not in str(told.value)


def test_user_and_headers_are_sent() -> None:
    with serving((200, [])) as server:
        with Client(f"{server.url}/", auth=("ops", "geheim"), headers={"x-team": "a"}) as client:
            client.connectors()
        asked = server.asked[0]
    assert asked.headers["authorization"] == "Basic " + base64.b64encode(b"ops:geheim").decode()
    assert asked.headers["x-team"] == "a"
    assert asked.headers["accept"] == "application/json"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a/b", "/connectors/a%2Fb"),
        ("50%", "/connectors/50%25"),
        ("%2F", "/connectors/%252F"),
        ("naïve ü", "/connectors/na%C3%AFve%20%C3%BC"),
        ("..", "/connectors/%2E%2E"),
        ("a?b#c", "/connectors/a%3Fb%23c"),
    ],
)
def test_names_are_quoted(name: str, path: str) -> None:
    with serving((204, b"")) as server, Client(server.url) as client:
        client.delete(name)
        client.pause(name)
        assert server.requests == [f"DELETE {path}", f"PUT {path}/pause"]


def test_a_path_of_the_server_is_kept() -> None:
    with serving((200, [])) as server, Client(f"{server.url}/connect/") as client:
        assert client.connectors() == []
        assert server.requests == ["GET /connect/connectors"]


def test_a_password_in_the_address_is_used_but_not_shown() -> None:
    with serving((200, ["a"])) as server:
        client = Client(server.url.replace("http://", "http://ops:ge%40heim@"))
        assert client.connectors() == ["a"]
        assert client.url == server.url
        sent = server.asked[0].headers["authorization"].removeprefix("Basic ")
    assert base64.b64decode(sent) == b"ops:ge@heim"
    with pytest.raises(SetupError) as caught:
        client.connectors()
    assert "heim" not in str(caught.value)


@pytest.mark.parametrize("answer", [{"status": "ok"}, ["a", 1], "text", 5, None, [{"x": 1}]])
@pytest.mark.parametrize(
    "ask",
    [Client.infos, Client.statuses, Client.expanded, Client.plugins, Client.loggers],
)
def test_what_is_no_connect_worker_is_told_so(answer: Any, ask: Callable[[Client], Any]) -> None:
    with serving((200, answer)) as server, pytest.raises(ServerError, match="not as a Connect"):
        ask(Client(server.url))


def test_an_object_is_no_list_of_connectors() -> None:
    with serving((200, {"status": "ok"})) as server, pytest.raises(ServerError, match="a list"):
        Client(server.url).connectors()


def test_authorities_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"ca-file.*none\.pem"):
        Client("https://localhost:1", verify=str(tmp_path / "none.pem"))


def test_a_deadline_holds_for_requests_and_their_repetition() -> None:
    begun = time.monotonic()
    with serving(refused(409, REBALANCE)) as server, pytest.raises(ConflictError):
        Client(server.url).until(Deadline.after(0.6)).connectors()
    assert time.monotonic() - begun < patient(10)


def test_states_that_cant_be_waited_for() -> None:
    with pytest.raises(BadRequestError, match="there are RUNNING, PAUSED, STOPPED"):
        Client("http://nowhere").wait("a", "asleep")


def test_a_slow_worker_that_has_no_health_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.tools.client.transport._SLOW_SECONDS", 0.01)
    told: list[str] = []

    def late(path: str) -> tuple[int, Any]:
        if path == "/health":
            return 404, {"error_code": 404, "message": "HTTP 404 Not Found"}
        eventually(lambda: "GET /health" in server.requests)
        return 200, []

    with serving(late) as server, Client(server.url, on_wait=told.append) as client:
        assert client.connectors() == []
    assert told == []


def test_a_command_is_told_what_a_slow_worker_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.tools.client.transport._SLOW_SECONDS", 0.02)
    told: list[str] = []
    reasons = ["It starts", "It starts", "It waits for Kafka"]

    def late(path: str) -> tuple[int, Any]:
        if path == "/health":
            return 503, {"status": "starting", "message": reasons.pop(0) if reasons else "more"}
        eventually(lambda: len(told) == 2)
        return 200, []

    with serving(late) as server, Client(server.url, on_wait=told.append) as client:
        assert client.connectors() == []
        assert told[:2] == [
            f"still waiting for {server.url}: It starts",
            f"still waiting for {server.url}: It waits for Kafka",
        ]
