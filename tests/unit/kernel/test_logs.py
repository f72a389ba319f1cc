"""The lines that are kept of each connector, and how they are bounded."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

import pytest

from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import ConfigError, DataError, PenstockError
from penstock.kernel.logs import (
    ConnectorLogs,
    Scope,
    ScopeFilter,
    level_name,
    logged_as,
    reason_of,
    trace_of,
)
from penstock.testing.fakes import ManualClock
from penstock.testing.waiting import patient
from penstock.worker.bootstrap import set_up_logging
from penstock.worker.runtime.job_thread import JobThread

log = logging.getLogger("tests.connector-logs")


@pytest.fixture
def logs() -> Iterator[ConnectorLogs]:
    yield from _attached(ConnectorLogs())


def _attached(handler: ConnectorLogs) -> Iterator[ConnectorLogs]:
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    yield handler
    log.removeHandler(handler)


def texts(logs: ConnectorLogs, name: str = "a", limit: int = 100) -> list[str]:
    return [line.message for line in logs.read(name, limit=limit).lines]


def test_lines_belong_to_who_they_are_about(logs: ConnectorLogs) -> None:
    log.info("of nobody")
    with logged_as(Scope("a")):
        log.info("of the connector")
        with logged_as(Scope.of(TaskId("b", 1))):
            log.warning("of %s", "task 1")
        log.info("of the connector again")
    log.info("of nobody")
    assert texts(logs) == ["of the connector", "of the connector again"]
    line = logs.read("b", limit=10).lines[0]
    assert (line.task, line.level, line.logger) == (1, "WARN", "tests.connector-logs")
    assert texts(logs, "none") == []


def test_traces_are_part_of_a_line(logs: ConnectorLogs) -> None:
    with logged_as(Scope("a")):
        try:
            raise ValueError("no disk")
        except ValueError:
            log.exception("It failed")
    assert texts(logs)[0].startswith("It failed\nTraceback")
    assert "ValueError: no disk" in texts(logs)[0]


def test_the_last_lines_and_then_those_that_come(logs: ConnectorLogs) -> None:
    with logged_as(Scope("a")):
        for number in range(5):
            log.info("%d", number)
        page = logs.read("a", limit=2)
        assert [line.message for line in page.lines] == ["3", "4"]
        assert logs.read("a", limit=2, after=page.cursor).lines == []
        for number in range(5, 8):
            log.info("%d", number)
    first = logs.read("a", limit=2, after=page.cursor)
    assert [line.message for line in first.lines] == ["5", "6"]
    second = logs.read("a", limit=2, after=first.cursor)
    assert [line.message for line in second.lines] == ["7"]
    assert logs.read("a", limit=2, after=second.cursor).lines == []


def test_a_cursor_passes_what_others_logged(logs: ConnectorLogs) -> None:
    with logged_as(Scope("b")):
        log.info("x")
    cursor = logs.read("a", limit=1).cursor
    with logged_as(Scope("a")):
        log.info("y")
    assert [line.message for line in logs.read("a", limit=1, after=cursor).lines] == ["y"]


@pytest.mark.parametrize("cursor", ["1-2", "nonsense", "", "-", "5-x"])
def test_a_cursor_of_another_run_begins_anew(logs: ConnectorLogs, cursor: str) -> None:
    with logged_as(Scope("a")):
        log.info("1")
        log.info("2")
    found = logs.read("a", limit=1, after=cursor)
    assert [line.message for line in found.lines] == ["2"]


def test_levels_and_times(logs: ConnectorLogs) -> None:
    with logged_as(Scope("a")):
        log.debug("d")
        log.info("i")
        log.warning("w")
        log.error("e")
    found = logs.read("a", limit=10, level="WARN")
    assert [line.message for line in found.lines] == ["w", "e"]
    last = found.lines[-1].timestamp
    assert logs.read("a", limit=10, since_ms=last + 1).lines == []
    assert logs.read("a", limit=10, since_ms=last - 60_000).lines != []


@pytest.mark.parametrize(
    ("number", "name"),
    [(10, "DEBUG"), (20, "INFO"), (25, "INFO"), (30, "WARN"), (40, "ERROR"), (50, "FATAL")],
)
def test_names_of_levels(number: int, name: str) -> None:
    assert level_name(number) == name


def test_the_number_of_lines_is_bounded() -> None:
    for logs in _attached(ConnectorLogs(lines=3)):
        with logged_as(Scope("a")):
            for number in range(10):
                log.info("%d", number)
        assert texts(logs) == ["7", "8", "9"]


def test_the_size_of_lines_is_bounded() -> None:
    for logs in _attached(ConnectorLogs(size=1000)):
        with logged_as(Scope("a")):
            for number in range(10):
                log.info("%d%s", number, "x" * 299)
            assert [text[0] for text in texts(logs)] == ["7", "8", "9"]
            log.info("y" * 1_000_000)
        assert texts(logs) == []


def test_a_line_is_bounded() -> None:
    for logs in _attached(ConnectorLogs()):
        with logged_as(Scope("a")):
            log.info("y" * 1_000_000)
        assert len(texts(logs)[0]) == 16_384


def test_all_lines_together_are_bounded() -> None:
    for logs in _attached(ConnectorLogs(total=1000)):
        for name in ("a", "b", "a", "c"):
            with logged_as(Scope(name)):
                log.info("z" * 300)
        # b was silent longest.
        assert [len(texts(logs, name)) for name in ("a", "b", "c")] == [2, 0, 1]


def test_none_are_kept_if_none_are_wanted() -> None:
    for logs in _attached(ConnectorLogs(lines=0)):
        with logged_as(Scope("a")):
            log.info("x")
        assert texts(logs) == []


def test_runs_have_other_cursors() -> None:
    clock = ManualClock()
    before = ConnectorLogs(clock=clock).read("a", limit=1).cursor
    clock.advance(1)
    assert ConnectorLogs(clock=clock).read("a", limit=1).cursor != before


def test_a_line_that_cant_be_made_fails_nobody(
    logs: ConnectorLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    with logged_as(Scope("a")):
        log.info("%d", "no number")
        log.info("next")
    assert texts(logs) == ["next"]


def test_job_threads_log_for_their_callers(logs: ConnectorLogs) -> None:
    jobs = JobThread("job")
    for name in ("a", "b"):
        with logged_as(Scope(name)):
            jobs.submit(lambda: log.info("from %s", threading.current_thread().name)).result(
                patient()
            )
    jobs.close()
    assert texts(logs) == texts(logs, "b") == ["from job"]


def test_lines_on_the_console_begin_with_the_connector() -> None:
    record = logging.LogRecord("x", logging.INFO, "x", 1, "text", (), None)
    shown = []
    for scope in (Scope("a"), Scope("a", 2)):
        with logged_as(scope):
            ScopeFilter().filter(record)
        shown.append(logging.Formatter("%(scope)s%(message)s").format(record))
    ScopeFilter().filter(record)
    shown.append(logging.Formatter("%(scope)s%(message)s").format(record))
    assert shown == ["[a|worker] text", "[a|task-2] text", "text"]


def test_lines_on_the_console_have_no_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "level", root.level)
    set_up_logging()
    [console] = root.handlers
    error = ValueError("no answer of jdbc:mysql://ann:geheim@db/shop")
    record = log.makeRecord("x", logging.ERROR, "x", 1, "t", (), (ValueError, error, None))
    console.filter(record)
    assert "ValueError: no answer of jdbc:mysql://ann:[hidden]@db/shop" in console.format(record)


JOB = """\
An error occurred while calling o1.save.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:1)
Caused by: org.apache.spark.SparkException: a task failed
\tat org.apache.spark.executor.Executor.run(Executor.scala:1)
Caused by: java.sql.SQLSyntaxErrorException: Unknown column 'x' in 'SELECT'
\tat org.mariadb.jdbc.Client.execute(Client.java:1)
\t... 3 more
"""
PYTHON_WORKER = """\

  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "plugin.py", line 3, in apply
    return 1 / 0
ZeroDivisionError: division by zero
"""


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConfigError("there is no\n table x"), "there is no table x"),
        (RuntimeError(JOB), "SQLSyntaxErrorException: Unknown column 'x' in 'SELECT'"),
        (RuntimeError(JOB.partition("Caused")[0]), "SparkException: Job aborted due to stage"),
        (RuntimeError(PYTHON_WORKER), "ZeroDivisionError: division by zero"),
        (ValueError("odd"), "ValueError: odd"),
        (ValueError(), "ValueError"),
        (PenstockError("x" * 9999), "x" * 500),
    ],
)
def test_a_trace_begins_with_its_reason(error: Exception, reason: str) -> None:
    first, remedy, gap, where, *_ = trace_of(error).splitlines()
    assert first.startswith(reason)
    assert len(first) <= 600
    assert remedy.startswith("What to do: ")
    assert (gap, reason_of(error)) == ("", first)
    assert type(error).__name__ in where


def test_a_trace_tells_what_to_do_about_a_record() -> None:
    assert "errors.tolerance=all" in trace_of(DataError("no number")).splitlines()[1]
    assert "penstock patch" in trace_of(ConfigError("no table")).splitlines()[1]
