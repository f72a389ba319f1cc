"""pause, resume, stop, restart and delete: by name and by pattern."""

from __future__ import annotations

import pytest
import typer

from penstock.kernel.errors import BadRequestError
from tests.unit.cli.connectors.conftest import Cluster
from tests.unit.cli.run import penstock
from tests.unit.worker.herder.harness import SOURCE


def test_pause_resume_and_stop(cluster: Cluster) -> None:
    cluster.create("a", "b")
    assert cluster.ok("pause", "a", "b") == "a: paused\nb: paused\n2 paused\n"
    assert cluster.states("a") == ["PAUSED", "PAUSED"]
    assert cluster.ok("resume", "a") == "a: running\n"
    assert cluster.states("a") == ["RUNNING", "RUNNING"]
    assert cluster.ok("stop", "a") == "a: stopped\n"
    assert cluster.states("a") == ["STOPPED"]
    assert cluster.ok("resume", "a") == "a: running\n"


def test_without_waiting_it_is_said_what_was_asked(cluster: Cluster) -> None:
    cluster.create("a")
    assert cluster.ok("pause", "a", "--no-wait") == "a: asked for\n"


def test_patterns(cluster: Cluster) -> None:
    cluster.create("jdbc_a", "jdbc_b", "files")
    assert cluster.ok("pause", "jdbc_?", "jdbc_a").splitlines()[-1] == "2 paused"
    assert cluster.states("files") == ["RUNNING", "RUNNING"]
    done = cluster.run("pause", "odbc_*")
    assert done.status == 1
    assert f"no connector matches 'odbc_*'; {cluster.url} has 3" in done.words


def test_a_name_is_no_pattern_if_there_is_one_of_it(cluster: Cluster) -> None:
    cluster.create("a[b]", "ab")
    assert cluster.ok("pause", "a[b]") == "a[b]: paused\n"
    assert cluster.states("ab") == ["RUNNING", "RUNNING"]


def test_what_is_missing_does_not_stop_the_others(cluster: Cluster) -> None:
    cluster.create("a")
    done = cluster.run("pause", "none", "a")
    assert done.status == 1
    assert f"there is no connector none at {cluster.url}" in done.words
    assert "a: paused" in done.out
    assert "1 paused, 1 failed" in done.out


def test_results_for_scripts(cluster: Cluster) -> None:
    cluster.create("a")
    assert cluster.json("pause", "a", "none") == [
        {"name": "a", "result": "paused"},
        {"name": "none", "error": f"there is no connector none at {cluster.url}"},
    ]


def test_what_does_not_get_there_in_time(cluster: Cluster) -> None:
    cluster.create("a")
    cluster.bench.worker.failing["a-0"] = "java.lang.IllegalStateException: no disk\n\tat x.Y"
    cluster.ok("stop", "a")
    done = cluster.run("resume", "a")
    assert done.status == 1
    assert "a: task 0 has failed: java.lang.IllegalStateException: no disk" in done.words
    assert "at x.Y" not in done.words


def test_a_wait_has_an_end(cluster: Cluster) -> None:
    cluster.create("a")
    cluster.fail_task("a", "why")
    # A task that failed stays so: the connector never runs as a whole.
    done = cluster.run("resume", "a", "--timeout", "0")
    assert done.status == 1
    assert "a: task 0 has failed: why" in done.words


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("pause a --no-wait", "--wait"),
        ("resume a --no-wait", "--wait"),
        ("stop a --no-wait", "--wait"),
        ("restart a", "--wait"),
        ("create a x=y", "--wait"),
        ("delete a", "--offsets"),
    ],
)
def test_a_time_to_wait_is_refused_where_nothing_waits(
    cluster: Cluster, command: str, option: str
) -> None:
    cluster.create("a")
    done = cluster.run(*command.split(), "--timeout", "5")
    assert done.status == 2
    assert f"--timeout is the time to wait; it needs {option}" in done.words
    assert cluster.states("a") == ["RUNNING", "RUNNING"]


def test_a_pattern_is_stopped_and_deleted_only_with_a_yes(cluster: Cluster) -> None:
    cluster.create("a1", "a2")
    for verb in ("stop", "delete"):
        done = cluster.run(verb, "a*")
        assert done.status == 2
        assert "a1" in done.err
        assert "a2" in done.err
        assert f"{verb.title()} these 2 connectors? There is no terminal" in done.words
        assert "--yes" in done.err
    assert cluster.states("a1") == ["RUNNING", "RUNNING"]
    assert "2 stopped" in cluster.ok("stop", "a*", "--yes")
    assert "2 deleted" in cluster.ok("delete", "a*", "-y")
    assert cluster.client.connectors() == []


@pytest.mark.parametrize(("answer", "left"), [(False, ["a1", "a2"]), (True, [])])
def test_a_person_is_asked(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, answer: bool, left: list[str]
) -> None:
    cluster.create("a1", "a2")
    asked: list[str] = []

    def confirm(question: str, *, abort: bool, err: bool) -> bool:
        asked.append(question)
        if not answer and abort:
            raise typer.Abort
        return err

    monkeypatch.setattr("penstock.cli.confirmation.typer.confirm", confirm)
    monkeypatch.setattr("penstock.cli.confirmation.has_terminal", lambda: True)
    done = cluster.run("delete", "a*")
    assert asked == ["Delete these 2 connectors?"]
    assert done.status == (0 if answer else 1)
    assert cluster.client.connectors() == left


def test_deleting_by_name_needs_no_yes(cluster: Cluster) -> None:
    cluster.create("a")
    assert cluster.ok("delete", "a") == "a: deleted\n"


def test_deleting_with_offsets(cluster: Cluster) -> None:
    cluster.create("a")
    assert cluster.ok("delete", "a", "--offsets") == "a: deleted, with its offsets\n"
    calls = cluster.bench.worker.calls
    assert calls.index(("stop", "a-0")) < calls.index(("offsets", "a"))
    assert cluster.client.connectors() == []


def test_deleting_with_offsets_says_how_far_it_came(cluster: Cluster) -> None:
    cluster.create("a")
    original = cluster.bench.worker.alter_offsets

    def refuse(*args: object, **named: object) -> str:
        raise BadRequestError("the group has members")

    cluster.bench.worker.alter_offsets = refuse  # type: ignore[method-assign]
    done = cluster.run("delete", "a", "--offsets")
    cluster.bench.worker.alter_offsets = original  # type: ignore[method-assign]
    assert done.status == 1
    assert "a: it was stopped, but not deleted: the group has members" in done.words
    assert cluster.states("a") == ["STOPPED"]


def test_restarts(cluster: Cluster) -> None:
    cluster.create("a")
    told = cluster.ok("restart", "a")
    assert told == "a: restarted the connector, not its tasks (see --tasks)\n"
    cluster.bench.runs("a")
    assert cluster.ok("restart", "a", "--tasks", "--wait") == (
        "a: restarted the connector, task 0\n"
    )
    assert cluster.ok("restart", "a", "--task", "0") == "a: restarted task 0\n"
    done = cluster.run("restart", "a", "--task", "7")
    assert done.status == 1
    assert "7" in done.err


def test_one_without_tasks_says_why_and_is_not_late(cluster: Cluster) -> None:
    cluster.bench.worker.without_tasks["empty"] = "no table matches x"
    cluster.client.create("empty", SOURCE)
    told = cluster.ok("restart", "empty", "--tasks", "--wait", "--timeout", "8")
    assert told == "empty: restarted the connector, running without tasks: no table matches x\n"
    told = cluster.ok("resume", "empty", "--timeout", "8")
    assert told == "empty: running without tasks: no table matches x\n"
    assert cluster.ok("pause", "empty") == "empty: paused\n"


def test_only_what_failed_is_restarted(cluster: Cluster) -> None:
    cluster.create("jdbc_a", "jdbc_b")
    cluster.fail_task("jdbc_a", "why")
    told = cluster.ok("restart", "jdbc_*", "--failed", "--wait")
    assert "jdbc_a: restarted task 0" in told
    assert "jdbc_b: nothing has failed" in told
    assert told.splitlines()[-1] == "1 restarted, 1 as before"
    assert cluster.states("jdbc_a") == ["RUNNING", "RUNNING"]


def test_options_that_exclude_each_other(cluster: Cluster) -> None:
    done = cluster.run("restart", "a", "--task", "0", "--failed")
    assert done.status == 2
    assert "--task" in done.err


def test_no_worker_there() -> None:
    done = penstock("pause", "a", "--connect", "http://127.0.0.1:1")
    assert done.status == 1
    assert "no Connect worker answers at http://127.0.0.1:1" in done.words
    assert "Traceback" not in done.err
