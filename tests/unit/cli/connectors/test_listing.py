"""get and describe."""

from __future__ import annotations

import io
import json
import threading
from contextlib import redirect_stdout
from types import SimpleNamespace

import pytest
import yaml
from rich.console import Console

from penstock.cli.connectors import listed
from penstock.cli.connectors.listed import Listing
from penstock.client import Client, Expanded, ServerError
from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import ConflictError, SetupError
from penstock.testing.waiting import eventually
from penstock.tools.client.transport import UnauthorizedError
from penstock.worker.interface import State
from tests.unit.cli.connectors.conftest import Cluster
from tests.unit.worker.herder.harness import SINK, VAULT


def lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_a_table_of_connectors_with_those_that_failed_first(cluster: Cluster) -> None:
    assert cluster.ok("get") == "(none)\n"
    cluster.create("a", "b")
    cluster.client.create("sink", {**SINK, "tasks.max": "2"})
    cluster.bench.runs("sink", 0, 1)
    assert "REASON" not in cluster.ok("get")
    cluster.fail_task("b", "why\nWhat to do: that.\n\nTraceback (most recent call last):\n  x")
    here = "127.0.0.1:8083"
    assert lines(cluster.ok("get")) == [
        ["NAME", "TYPE", "STATE", "TASKS", "WORKER", "CLASS", "REASON"],
        ["b", "source", "RUNNING", "0/1", "(1", "failed)", here, "FileStreamSource", "why"],
        ["a", "source", "RUNNING", "1/1", "127.0.0.1:8083", "FileStreamSource"],
        ["sink", "sink", "RUNNING", "2/2", "127.0.0.1:8083", "FileStreamSink"],
    ]


def test_lines_are_not_folded_in_a_pipe(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    cluster.create("a-connector-with-a-rather-long-name")
    assert len(cluster.ok("get").splitlines()) == 2


def test_choices(cluster: Cluster) -> None:
    cluster.create("a", "b", "c")
    cluster.fail_task("b", "why")
    cluster.ok("pause", "c")

    def names(*arguments: str) -> list[str]:
        return [row["name"] for row in cluster.json("get", *arguments)]

    assert names() == ["b", "a", "c"]
    assert names("--failed") == ["b"]
    assert names("--state", "paused") == ["c"]
    assert names("--state", "running") == ["b", "a"]
    assert names("[ac]") == ["a", "c"]
    assert names("connectors", "a") == ["a"]
    assert names("--state", "stopped") == []
    assert "no such connectors" in cluster.ok("get", "--state", "stopped")
    done = cluster.run("get", "none")
    assert (done.status, done.out) == (1, "")
    assert "there is no connector none" in done.words
    assert names("--state", "PAUSED") == ["c"]
    done = cluster.run("get", "--state", "odd")
    assert done.status == 2
    assert "Value error" not in done.words
    assert "'odd' is not one of 'running', 'paused', 'stopped', 'failed'" in done.words


def test_for_scripts(cluster: Cluster) -> None:
    cluster.create("a")
    row = {
        "name": "a",
        "type": "source",
        "state": "RUNNING",
        "tasks": {"total": 1, "running": 1},
        "worker": "127.0.0.1:8083",
        "class": "FileStreamSource",
        "reason": "",
    }
    assert cluster.json("get") == [row]
    assert yaml.safe_load(cluster.ok("get", "-o", "yaml")) == [row]


def test_workers_plugins_and_loggers(cluster: Cluster) -> None:
    cluster.create("a", "b")
    assert cluster.json("get", "workers") == [
        {"name": "127.0.0.1:8083", "connectors": 2, "tasks": 2}
    ]
    plugins = cluster.json("get", "plugins", "FileStream*")
    assert {row["name"] for row in plugins} == {
        "org.apache.kafka.connect.file.FileStreamSinkConnector",
        "org.apache.kafka.connect.file.FileStreamSourceConnector",
    }
    assert "root" in {row["name"] for row in cluster.json("get", "loggers")}
    assert cluster.run("get", "plugins", "Nothing*").status == 1
    done = cluster.run("get", "loggers", "root", "nothing")
    assert done.status == 1
    assert "root" in done.out
    assert "nothing matches nothing" in done.err
    assert cluster.run("get", "plugins", "--failed").status == 2


def test_watching_shows_it_again(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.create("a")
    looks = 0

    def sleep(seconds: float) -> None:
        nonlocal looks
        looks += 1
        assert seconds == 0.5
        if looks == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("penstock.cli.connectors.listed.time", SimpleNamespace(sleep=sleep))
    done = cluster.run("get", "--watch", "--interval", "0.5")
    assert done.out.count("RUNNING") == 3
    assert done.status != 0
    assert cluster.run("get", "--watch", "-o", "json").status == 2
    done = cluster.run("get", "--interval", "3")
    assert (done.status, done.out) == (2, "")
    assert "--interval is the time between two looks; it needs --watch" in done.words


def test_watching_goes_on_while_the_worker_is_away(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.create("a")
    failures = [
        None,
        SetupError("no Connect worker answers"),
        ServerError("the gateway knows of none", 502),
        ConflictError("Cannot complete request momentarily"),
        None,
        UnauthorizedError("wants a password", 401),
    ]
    looks = iter(failures)
    read = Client.expanded

    def expanded(self: Client) -> dict[str, Expanded]:
        failure = next(looks)
        if failure is not None:
            raise failure
        return read(self)

    monkeypatch.setattr(Client, "expanded", expanded)
    done = cluster.run("get", "a", "gone", "--watch", "--interval", "0.1")
    assert done.status == 1
    assert done.out.count("RUNNING") == 2
    assert [line.removeprefix("penstock: ") for line in done.err.splitlines()] == [
        f"there is no connector gone at {cluster.url}",
        "no Connect worker answers; trying again",
        "the gateway knows of none; trying again",
        "Cannot complete request momentarily; trying again",
        f"there is no connector gone at {cluster.url}",
        "wants a password",
    ]


def test_watching_on_a_terminal_is_done_in_place(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.create("a")
    # As narrow as a terminal may be, and as the console of the commands is.
    screen = Console(
        file=io.StringIO(), force_terminal=True, width=20, soft_wrap=True, highlight=False
    )
    monkeypatch.setattr(listed, "out", screen)
    away = SetupError("nobody answers")
    looks: list[Listing | BaseException]
    looks = [Listing([]), away, Listing([], ["no b"]), KeyboardInterrupt()]

    def ask() -> Listing:
        look = looks.pop(0)
        if isinstance(look, BaseException):
            raise look
        return look

    with pytest.raises(KeyboardInterrupt):
        listed.watch(ask, 0.01)
    shown = screen.file.getvalue()  # type: ignore[attr-defined]
    places = [shown.index(each) for each in ("(none)", "nobody answers;", "trying again", "no b")]
    assert places == sorted(places)


def test_each_look_reaches_the_other_end_of_a_pipe(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.create("a")
    pipe = io.BytesIO()
    # As Python opens a standard output that is no terminal.
    text = io.TextIOWrapper(io.BufferedWriter(pipe))
    seen: list[int] = []

    def sleep(seconds: float) -> None:
        seen.append(pipe.getvalue().count(b"RUNNING"))
        if len(seen) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(listed, "time", SimpleNamespace(sleep=sleep))
    with redirect_stdout(text), pytest.raises(KeyboardInterrupt):
        listed.watch(lambda: Listing([{"name": "a", "state": "RUNNING"}]), 1)
    assert seen == [1, 2]


def test_what_is_there_is_shown_beside_what_is_missing(cluster: Cluster) -> None:
    cluster.create("a")
    for command in ("get", "describe", "topics used"):
        for form in ("table", "json", "yaml"):
            done = cluster.run(*command.split(), "none", "a", "x*", "-o", form)
            assert done.status == 1
            assert "lines" in done.out or "RUNNING" in done.out
            assert done.err.splitlines() == [
                f"penstock: there is no connector none at {cluster.url}",
                f"penstock: no connector matches 'x*'; {cluster.url} has 1",
            ]


def test_a_description(cluster: Cluster) -> None:
    cluster.create("a")
    trace = "org.x.BadError: no disk\n" + "\n".join(f"\tat x.Y{n}" for n in range(20))
    cluster.fail_task("a", trace)
    shown = cluster.ok("describe", "a")
    assert shown.startswith("a\n  type     source, FileStreamSource 4.1.1\n")
    assert "state    RUNNING on 127.0.0.1:8083" in shown
    assert "task 0   FAILED on 127.0.0.1:8083\n             org.x.BadError: no disk" in shown
    assert "… 18 more lines: --trace" in shown
    assert "topics   lines" in shown
    assert "offsets  none" in shown
    assert "\n    file = /data/in.txt\n" in shown
    assert "at x.Y19" in cluster.ok("describe", "a", "--trace")
    found = cluster.json("describe", "a")[0]
    assert found["tasks"][0]["state"] == "FAILED"
    assert found["config"]["topic"] == "lines"


def test_what_runs_and_waits_says_for_what(cluster: Cluster) -> None:
    cluster.create("empty", "sink")
    cluster.bench.events.connector_state("empty", State.RUNNING, "0 tasks: no table matches x")
    waiting = f"waiting: there is no topic {'t' * 90}"
    cluster.bench.events.task_state(TaskId("sink", 0), State.RUNNING, waiting)
    eventually(lambda: cluster.client.status("sink").tasks[0].trace)
    rows = {row["name"]: row["reason"] for row in cluster.json("get")}
    assert rows == {"empty": "0 tasks: no table matches x", "sink": waiting}
    shown = cluster.ok("get")
    assert "0 tasks: no table matches x\n" in shown
    assert f"{waiting[:99]}…\n" in shown
    described = cluster.ok("describe", "empty", "sink")
    assert "state    RUNNING on 127.0.0.1:8083\n             0 tasks: no table match" in described
    assert f"task 0   RUNNING on 127.0.0.1:8083\n             {waiting}\n" in described


def test_a_text_of_many_lines_stands_below_its_key(cluster: Cluster) -> None:
    cluster.create("a", query="SELECT id\nFROM orders\n", zone="x\n")
    shown = cluster.ok("describe", "a")
    assert "\n    query =\n        SELECT id\n        FROM orders\n    tasks.max = " in shown
    assert shown.endswith("\n    zone = x\n")


def test_pythons_reason_is_its_last_line(cluster: Cluster) -> None:
    cluster.create("a")
    trace = 'Traceback (most recent call last):\n  File "a.py"\n  b\n  c\nValueError: no disk\n'
    cluster.fail_task("a", trace)
    shown = cluster.ok("describe", "a")
    assert "ValueError: no disk" in shown
    assert "Traceback" not in shown


def test_passwords_are_not_shown(cluster: Cluster) -> None:
    config = {
        "connector.class": VAULT.name,
        "url": "jdbc:x://u:geheim1@host/?password=geheim2",
        "connection.password": "geheim3",
        "value.converter.basic.auth.user.info": "u:geheim4",
        "producer.override.sasl.jaas.config": "${file:/x:y}",
    }
    cluster.client.create("v", config)
    for form in ("table", "json", "yaml"):
        shown = cluster.ok("describe", "v", "-o", form)
        assert "geheim" not in shown
        assert "[hidden]" in shown
        assert "${file:/x:y}" in shown


def test_passwords_in_traces_are_not_shown(cluster: Cluster) -> None:
    cluster.create("a")
    cluster.fail_task("a", "java.sql.SQLException: jdbc:x://u:geheim@h/?password=geheim")
    for arguments in (["--trace"], ["-o", "json"]):
        shown = cluster.ok("describe", "a", *arguments)
        assert "java.sql.SQLException" in shown
        assert "geheim" not in shown
    assert "geheim" not in cluster.run("resume", "a", "--timeout", "0").words


def test_describing_many_and_one_that_is_missing(cluster: Cluster) -> None:
    cluster.create("a", "b")
    done = cluster.run("describe", "*", "none")
    assert done.status == 1
    assert "\n\nb\n" in done.out
    assert "there is no connector none" in done.words


def test_topics_used(cluster: Cluster) -> None:
    cluster.create("a")
    assert cluster.json("topics", "used", "a") == [{"connector": "a", "topics": ["lines"]}]
    assert lines(cluster.ok("topics", "a")) == [["CONNECTOR", "TOPICS"], ["a", "lines"]]
    assert "were reset" in cluster.ok("topics", "used", "a", "--reset")
    assert cluster.json("topics", "used", "a") == [{"connector": "a", "topics": []}]
    assert cluster.run("topics", "used", "x*").status == 1


def test_a_list_does_not_ask_for_each_connector(cluster: Cluster) -> None:
    asked: list[str] = []
    original = cluster.bench.herder.connector_status
    cluster.create("a")
    cluster.create("b")
    lock = threading.Lock()

    def count(name: str, deadline: object) -> object:
        with lock:
            asked.append(name)
        return original(name, deadline)  # type: ignore[arg-type]

    cluster.bench.herder.connector_status = count  # type: ignore[method-assign, assignment]
    assert len(json.loads(cluster.ok("get", "-o", "json"))) == 2
    assert asked == []
