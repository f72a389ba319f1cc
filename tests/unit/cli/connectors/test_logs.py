"""logs: what a worker kept, and what comes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.client import Client, ServerError
from penstock.kernel.errors import SetupError
from penstock.kernel.logs import ConnectorLogs, Scope, logged_as
from penstock.kernel.wire.models import LogPage
from tests.unit.cli.connectors.conftest import Cluster
from tests.unit.cli.run import penstock
from tests.unit.tools.client.server import serving

log = logging.getLogger("tests.logs-command")


@pytest.fixture(autouse=True)
def kept(cluster: Cluster) -> Iterator[ConnectorLogs]:
    handler = cluster.bench.herder._parts.logs
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    yield handler
    log.removeHandler(handler)


def say(text: str, name: str = "a", task: int | None = None, level: int = logging.INFO) -> None:
    with logged_as(Scope(name, task)):
        log.log(level, text)


def told(text: str) -> list[str]:
    """Lines without their times."""
    return [line.partition(" ")[2] for line in text.splitlines()]


def test_the_last_lines(cluster: Cluster) -> None:
    cluster.create("a")
    say("one")
    say("two [x]", task=0, level=logging.ERROR)
    assert told(cluster.ok("logs", "a")) == ["INFO  one", "ERROR task-0 two [x]"]
    assert told(cluster.ok("logs", "a", "--tail", "1")) == ["ERROR task-0 two [x]"]
    assert cluster.ok("logs", "a", "--tail", "0") == ""
    assert told(cluster.ok("logs", "a", "--level", "warn")) == ["ERROR task-0 two [x]"]
    assert len(told(cluster.ok("logs", "a", "--since", "10m"))) == 2
    assert cluster.ok("logs", "a", "--since", "2999-01-01T00:00:00Z") == ""
    found = cluster.json("logs", "a")
    assert [(line["task"], line["level"], line["message"]) for line in found] == [
        (None, "INFO", "one"),
        (0, "ERROR", "two [x]"),
    ]


def test_lines_of_several_are_told_apart(cluster: Cluster) -> None:
    cluster.create("a", "b")
    say("one")
    say("two", "b")
    assert told(cluster.ok("logs", "*")) == ["INFO  [a] one", "INFO  [b] two"]


def test_lines_that_come_are_shown(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.create("a")
    say("one")
    rounds = 0

    def sleep(seconds: float) -> None:
        nonlocal rounds
        rounds += 1
        if rounds == 1:
            for number in range(2500):
                say(str(number))
        if rounds == 3:
            raise KeyboardInterrupt

    # All of them fit only in several pages.
    cluster.bench.herder._parts.logs._most = 5000
    monkeypatch.setattr("penstock.cli.connectors.logs.time", SimpleNamespace(sleep=sleep))
    done = cluster.run("logs", "a", "--follow")
    assert told(done.out) == ["INFO  one", *(f"INFO  {number}" for number in range(2500))]


def test_a_worker_that_restarts_is_waited_for(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.create("a")
    rounds = 0
    read = Client.logs

    def sleep(seconds: float) -> None:
        nonlocal rounds
        rounds += 1
        if rounds == 4:
            raise KeyboardInterrupt

    def away_once(self: Client, name: str, **wanted: Any) -> LogPage:
        if rounds == 1:
            raise SetupError("no Connect worker answers")
        if rounds == 2:
            raise ServerError("still starting", 503)
        return read(self, name, **wanted)

    monkeypatch.setattr("penstock.cli.connectors.logs.time", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(Client, "logs", away_once)
    say("one")
    done = cluster.run("logs", "a", "--follow")
    assert told(done.out) == ["INFO  one"]
    assert "no Connect worker answers; trying again" in done.words
    assert "still starting; trying again" in done.words


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--since", "soon"], "--since is soon"),
        (["--follow", "-o", "json"], "--follow"),
        (["--level", "loud"], "loud"),
    ],
)
def test_wrong_options(cluster: Cluster, arguments: list[str], words: str) -> None:
    cluster.create("a")
    done = cluster.run("logs", "a", *arguments)
    assert done.status == 2
    assert words in done.words


def test_a_connector_that_is_not_there(cluster: Cluster) -> None:
    done = cluster.run("logs", "none", "--follow")
    assert done.status == 1
    assert done.words.count("there is no connector none") == 1
    cluster.create("a")
    say("one")
    for form in ("table", "json"):
        done = cluster.run("logs", "none", "a", "-o", form)
        assert done.status == 1
        assert "one" in done.out
        assert done.words.count("there is no connector none") == 1


def test_passwords_are_not_kept(cluster: Cluster) -> None:
    cluster.create("a")
    say("no route to postgresql://u:geh@eim@h/db?password=geheim in 3 s")
    assert told(cluster.ok("logs", "a")) == [
        "INFO  no route to postgresql://u:[hidden]@h/db?password=[hidden] in 3 s"
    ]


def test_other_workers_keep_no_logs() -> None:
    missing = {"error_code": 404, "message": "HTTP 404 Not Found"}
    with serving((200, ["a"]), (404, missing)) as server:
        done = penstock("logs", "a", "--connect", server.url)
    assert done.status == 1
    assert "keeps no logs of connectors: only Penstock's workers do" in done.words


def test_over_http(cluster: Cluster) -> None:
    cluster.create("a b")
    say("one", "a b")
    http = cluster.served.http
    found = http.get("/penstock/connectors/a%20b/logs").json()
    assert [line["message"] for line in found["lines"]] == ["one"]
    again = http.get("/penstock/connectors/a%20b/logs", params={"after": found["cursor"]}).json()
    assert again == {"lines": [], "cursor": found["cursor"]}
    assert http.get("/penstock/connectors/none/logs").status_code == 404
    for query in ("limit=0", "limit=x", "limit=999999", "since=-1", "level=LOUD"):
        answer = http.get(f"/penstock/connectors/a%20b/logs?{query}")
        assert answer.status_code == 400, query
        assert query.split("=")[1] in answer.json()["message"]
