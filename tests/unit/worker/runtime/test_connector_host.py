"""The life of a connector on its own thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

from penstock.api import ConnectorContext, SourceConnector
from penstock.kernel.clock import Deadline
from penstock.kernel.errors import ConfigError, RetriableError, SparkAwayError
from penstock.testing.waiting import patient, soon
from penstock.worker.interface import State, TargetState
from penstock.worker.runtime import connector_host
from penstock.worker.runtime.connector_host import ConnectorHost, completed_task_configs
from tests.unit.worker.runtime.events import Notes, await_that

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Tables(SourceConnector):
    """One task for each table."""

    def __init__(self) -> None:
        self.tables = ["a", "b"]
        self.context: ConnectorContext | None = None
        self.gate: threading.Event | None = None
        self.error: Exception | None = None
        self.patient = False
        self.stops = 0

    def start(self, config: Mapping[str, str], context: ConnectorContext) -> None:
        self.context = context
        if self.gate is not None:
            self.gate.wait(patient())
        if self.patient:
            await_that(lambda: context.stopping)
            raise RetriableError("it is to stop")
        if self.error is not None:
            raise self.error

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [{"table": table} for table in self.tables]

    def without_tasks(self) -> str:
        return "there is no table"

    def stop(self) -> None:
        self.stops += 1


class Hosted:
    def __init__(self) -> None:
        self.connector = Tables()
        self.notes = Notes()
        self.host = ConnectorHost(
            "db",
            {"name": "db"},
            make=lambda: self.connector,
            configs=lambda connector: connector.task_configs(10),
            session=self._session,
            guard=nullcontext,
            events=self.notes,
        )

    def _session(self) -> SparkSession:
        raise AssertionError("this connector does not ask for Spark")

    @property
    def sent(self) -> int:
        return len(self.notes.configs)


@pytest.fixture
def hosted() -> Iterator[Hosted]:
    made = Hosted()
    yield made
    if made.host._thread.ident is not None:
        made.host.stop(soon())


def test_a_started_connector_runs_and_sends_its_task_configs(hosted: Hosted) -> None:
    hosted.host.start(TargetState.STARTED)
    await_that(lambda: hosted.sent == 1)
    assert hosted.notes.of("db") == [State.RUNNING]
    assert hosted.notes.configs == [("db", [{"table": "a"}, {"table": "b"}])]
    hosted.host.stop(soon())
    assert hosted.connector.stops == 1


def test_it_may_ask_for_new_tasks_from_a_thread_of_its_own(hosted: Hosted) -> None:
    hosted.host.start(TargetState.STARTED)
    await_that(lambda: hosted.sent == 1)
    hosted.connector.tables.append("c")
    assert hosted.connector.context is not None
    hosted.connector.context.request_task_reconfiguration()
    await_that(lambda: hosted.sent == 2)
    assert [each["table"] for each in hosted.notes.configs[-1][1]] == ["a", "b", "c"]


def test_one_without_tasks_says_why_until_it_has_some(hosted: Hosted) -> None:
    hosted.connector.tables = []
    hosted.host.start(TargetState.STARTED)
    await_that(lambda: hosted.notes.traces.get("db") == "0 tasks: there is no table")
    assert set(hosted.notes.of("db")) == {State.RUNNING}
    hosted.connector.tables = ["a"]
    assert hosted.connector.context is not None
    hosted.connector.context.request_task_reconfiguration()
    await_that(lambda: hosted.notes.traces["db"] is None)
    assert set(hosted.notes.of("db")) == {State.RUNNING}


def test_an_error_found_later_fails_it(hosted: Hosted) -> None:
    hosted.host.start(TargetState.STARTED)
    await_that(lambda: hosted.sent == 1)
    assert hosted.connector.context is not None
    hosted.connector.context.raise_error(RuntimeError("the database is gone"))
    hosted.notes.await_states("db", State.RUNNING, State.FAILED)
    assert "the database is gone" in (hosted.notes.traces["db"] or "")
    assert hosted.connector.stops == 1


def test_a_failed_start_is_a_state(hosted: Hosted) -> None:
    hosted.connector.error = ConfigError("no such database at mysql://ann:geheim@db")
    hosted.host.start(TargetState.STARTED)
    hosted.notes.await_states("db", State.FAILED)
    assert "no such database at mysql://ann:[hidden]@db" in (hosted.notes.traces["db"] or "")
    assert hosted.sent == 0


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connector_host, "BACK_OFF_SECONDS", 0.01)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "away", [SparkAwayError("Spark did not start"), RetriableError("the database is away")]
)
def test_a_start_without_spark_or_database_is_repeated(hosted: Hosted, away: Exception) -> None:
    hosted.connector.error = away
    hosted.host.start(TargetState.STARTED)
    await_that(lambda: hosted.connector.stops >= 2)
    assert hosted.notes.of("db") == [State.UNASSIGNED]
    assert hosted.notes.traces["db"] == str(away)
    hosted.connector.error = None
    await_that(lambda: hosted.sent == 1)
    assert hosted.notes.of("db") == [State.UNASSIGNED, State.RUNNING]


def test_one_that_waits_for_spark_can_be_paused_and_stopped(hosted: Hosted) -> None:
    hosted.connector.error = SparkAwayError("Spark did not start")
    hosted.host.start(TargetState.STARTED)
    await_that(lambda: hosted.connector.stops == 1)
    hosted.host.set_target(TargetState.PAUSED)
    hosted.notes.await_states("db", State.UNASSIGNED, State.PAUSED)
    hosted.host.set_target(TargetState.STARTED)
    await_that(lambda: hosted.connector.stops == 2)
    hosted.host.stop(soon())
    assert hosted.notes.of("db")[:2] == [State.UNASSIGNED, State.PAUSED]


def test_a_start_that_waits_ends_when_the_connector_is_to_stop(hosted: Hosted) -> None:
    hosted.connector.patient = True
    hosted.host.start(TargetState.STARTED)
    await_that(lambda: hosted.connector.context is not None)
    hosted.host.stop(soon())
    assert not hosted.host._thread.is_alive()
    assert hosted.notes.of("db") == []  # no failure is told of what was given up
    assert hosted.connector.stops == 1


def test_paused_and_stopped_connectors_do_not_run(hosted: Hosted) -> None:
    hosted.host.start(TargetState.PAUSED)
    hosted.notes.await_states("db", State.PAUSED)
    hosted.host.set_target(TargetState.STARTED)
    await_that(lambda: hosted.sent == 1)
    hosted.host.set_target(TargetState.STOPPED)
    hosted.notes.await_states("db", State.PAUSED, State.RUNNING, State.STOPPED)
    assert hosted.connector.stops == 1


def test_one_that_hangs_is_left_behind_and_silenced(hosted: Hosted) -> None:
    gate = hosted.connector.gate = threading.Event()
    hosted.host.start(TargetState.STARTED)
    hosted.host.stop(Deadline.after(0.1))
    gate.set()
    hosted.host._thread.join(patient())
    assert not hosted.host._thread.is_alive()
    assert hosted.notes.of("db") == []
    assert hosted.sent == 0


def test_task_configs_are_completed() -> None:
    config = {"name": "db", "tasks.max": "2", "topics": "a,b"}
    made = completed_task_configs(Tables(), config, "some.Task")
    assert made == [
        {"table": table, "task.class": "some.Task", "topics": "a,b"} for table in ("a", "b")
    ]


def test_more_tasks_than_allowed_are_an_error_unless_not_enforced() -> None:
    config = {"name": "db", "tasks.max": "1"}
    with pytest.raises(ConfigError, match="generated 2 tasks, which is greater than 1"):
        completed_task_configs(Tables(), config, "some.Task")
    lax = {**config, "tasks.max.enforce": "false"}
    assert len(completed_task_configs(Tables(), lax, "some.Task")) == 2
