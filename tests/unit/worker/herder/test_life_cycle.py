"""Connectors from creation to deletion, as the REST API sees them."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import (
    ConflictError,
    DeadlineExceededError,
    NotFoundError,
    PluginError,
    RetriableError,
)
from penstock.plugins import Plugins
from penstock.testing.waiting import eventually, soon
from penstock.worker.herder.dependencies import HerderOptions
from penstock.worker.interface import State
from penstock.worker.storage.interfaces import Status
from tests.unit.worker.herder.harness import SINK, SOURCE, Bench, running

T0 = TaskId("c", 0)


def test_a_created_connector_runs_with_its_tasks() -> None:
    with running() as bench:
        bench.create()
        bench.runs()
        info = bench.herder.connector_info("c", soon())
        assert info.to_json() == {
            "name": "c",
            "config": {**SOURCE, "name": "c"},
            "tasks": [{"connector": "c", "task": 0}],
            "type": "source",
        }
        status = bench.statuses.connector("c")
        assert status is not None
        assert (status.worker_id, status.generation, status.version) == (
            "127.0.0.1:8083",
            1,
            "4.1.1",
        )


def test_a_second_connector_of_the_same_name_is_refused() -> None:
    with running() as bench:
        bench.create()
        with pytest.raises(ConflictError, match=r"^Connector c already exists$"):
            bench.create()


def test_pause_and_resume() -> None:
    with running() as bench:
        bench.create()
        bench.runs()
        bench.herder.pause_connector("c", soon())
        eventually(lambda: bench.states() == ("PAUSED", ["PAUSED"]))
        bench.herder.resume_connector("c", soon())
        bench.runs()
        assert ("stop", "c-0") not in bench.worker.calls


def test_figures_of_a_task_are_shown_until_it_starts_anew() -> None:
    with running() as bench:
        bench.create()
        bench.runs()
        bench.events.task_figures(T0, {"skipped_numbers": 3})
        eventually(lambda: _shown(bench) == {"skipped_numbers": 3})
        bench.herder.pause_connector("c", soon())
        eventually(lambda: bench.states() == ("PAUSED", ["PAUSED"]))
        assert _shown(bench) == {"skipped_numbers": 3}
        bench.herder.resume_connector("c", soon())
        bench.runs()
        bench.herder.restart_task("c", 0, soon())
        eventually(lambda: _shown(bench) is None)


def _shown(bench: Bench) -> object:
    return bench.herder.task_status("c", 0, soon()).to_json().get("figures")


def test_a_stopped_connector_has_no_tasks_and_gets_them_back() -> None:
    with running() as bench:
        bench.create()
        bench.runs()
        bench.herder.stop_connector("c", soon())
        eventually(lambda: bench.states() == ("STOPPED", []))
        assert bench.configs.log[-2:] == [("commit-c", 0), ("target-state-c", "STOPPED")]
        assert bench.herder.tasks("c", soon()) == []
        assert bench.worker.running_tasks() == frozenset()
        bench.herder.resume_connector("c", soon())
        bench.runs()


def test_the_initial_state_is_written_before_the_connector() -> None:
    with running() as bench:
        bench.create(target="STOPPED")
        eventually(lambda: bench.statuses.connector("c") and bench.states() == ("STOPPED", []))
        assert [key for key, _ in bench.configs.log] == ["target-state-c", "connector-c"]


def test_deleting_removes_statuses_and_topics_for_good() -> None:
    with running() as bench:
        bench.create()
        bench.runs()
        eventually(lambda: bench.statuses.topics("c"))
        hold = bench.worker.hanging["c"] = threading.Event()
        bench.herder.delete_connector("c", soon())
        with pytest.raises(NotFoundError, match=r"No status found for connector c"):
            bench.herder.connector_status("c", soon())
        hold.set()  # the worker now reports the end of what it ran
        eventually(lambda: not bench.worker.running_connectors())
        bench.herder.health(soon())
        assert bench.statuses.connector("c") is None
        assert bench.statuses.tasks("c") == {}
        assert bench.statuses.topics("c") == []


def test_a_new_config_reaches_connector_and_tasks() -> None:
    with running() as bench:
        bench.create()
        bench.runs()
        done = bench.herder.put_connector_config("c", {**SOURCE, "name": "c", "file": "b"}, soon())
        assert not done.created
        eventually(lambda: bench.worker.calls.count(("start", "c-0")) == 2)
        assert bench.herder.tasks("c", soon())[0].config["file"] == "b"
        assert bench.worker.calls.count(("start", "c")) == 2


def test_the_same_config_disturbs_nothing() -> None:
    with running() as bench:
        bench.create()
        bench.runs()
        before = list(bench.worker.calls)
        bench.herder.put_connector_config("c", {**SOURCE, "name": "c"}, soon())
        bench.herder.health(soon())
        assert bench.worker.calls == before


def test_the_same_config_revives_a_failed_connector() -> None:
    with running() as bench:
        bench.worker.failing["c"] = "no such host"
        bench.create()
        eventually(lambda: bench.statuses.connector("c") and bench.states() == ("FAILED", []))
        bench.worker.failing.clear()
        bench.herder.put_connector_config("c", {**SOURCE, "name": "c"}, soon())
        bench.runs()


def test_patching_changes_and_removes_keys() -> None:
    with running() as bench:
        bench.create()
        info = bench.herder.patch_connector_config("c", {"batch.size": "5", "file": None}, soon())
        assert info.config["batch.size"] == "5"
        assert "file" not in info.config


def test_fewer_tasks_leave_no_stale_status() -> None:
    with running() as bench:
        config = {**SINK, "name": "c", "tasks.max": "3"}
        bench.herder.create_connector("c", config, None, soon())
        bench.runs("c", 0, 1, 2)
        bench.herder.put_connector_config("c", {**config, "tasks.max": "1"}, soon())
        eventually(lambda: list(bench.statuses.tasks("c")) == [T0])
        bench.runs("c", 0)


def test_a_failed_task_is_not_restarted_by_anything_but_a_request() -> None:
    with running() as bench:
        bench.worker.failing["c-0"] = "Traceback: disk full"
        bench.create()
        eventually(lambda: bench.status_of(T0) == "FAILED")
        bench.create("other")
        bench.runs("other")
        bench.herder.pause_connector("c", soon())
        bench.herder.resume_connector("c", soon())
        bench.herder.health(soon())
        assert bench.worker.calls.count(("start", "c-0")) == 1
        assert bench.herder.task_status("c", 0, soon()).trace == "Traceback: disk full"

        bench.worker.failing.clear()
        bench.herder.restart_task("c", 0, soon())
        eventually(lambda: bench.status_of(T0) == "RUNNING")


def test_restarting_only_what_failed() -> None:
    with running() as bench:
        config = {**SINK, "name": "c", "tasks.max": "2"}
        bench.worker.failing["c-1"] = "boom"
        bench.herder.create_connector("c", config, None, soon())
        eventually(lambda: bench.status_of(TaskId("c", 1)) == "FAILED")
        eventually(lambda: bench.status_of(T0) == "RUNNING")
        bench.worker.failing.clear()
        shown = bench.herder.restart_connector_and_tasks(
            "c", include_tasks=True, only_failed=True, deadline=soon()
        )
        assert [task.state for task in shown.tasks] == ["RUNNING", "RESTARTING"]
        assert shown.connector.state == "RUNNING"
        bench.runs("c", 0, 1)
        assert bench.worker.calls.count(("start", "c-0")) == 1
        assert ("c-1", "RESTARTING") in bench.statuses.history


def test_restarts_of_what_does_not_exist() -> None:
    with running() as bench:
        bench.create()
        bench.runs()
        with pytest.raises(NotFoundError, match=r"^Unknown task: c-7$"):
            bench.herder.restart_task("c", 7, soon())
        with pytest.raises(NotFoundError, match=r"^Unknown connector: x$"):
            bench.herder.restart_task("x", 0, soon())
        with pytest.raises(NotFoundError, match=r"^Unknown connector: x$"):
            bench.herder.restart_connector("x", soon())
        with pytest.raises(NotFoundError, match=r"^Unknown connector x$"):
            bench.herder.stop_connector("x", soon())


def test_task_configs_are_stored_once_the_store_works_again() -> None:
    with running() as bench:
        bench.configs.failing_task_writes = 2
        bench.create()
        bench.runs()


def test_a_connector_that_hangs_holds_up_no_other() -> None:
    with running() as bench:
        bench.create("stuck")
        bench.runs("stuck")
        bench.worker.hanging["stuck"] = threading.Event()
        bench.herder.delete_connector("stuck", Deadline.after(1))
        bench.create("free")
        bench.runs("free")
        assert bench.herder.health(soon()).status == "healthy"
        bench.worker.in_the_way = "Spark has no executor"
        found = bench.herder.health(soon())
        assert found.status == "unhealthy"
        assert "Spark has no executor" in found.message
        bench.worker.in_the_way = None


def test_a_broker_that_is_away_is_seen_in_the_health() -> None:
    with running() as bench:
        bench.create()
        bench.runs()
        assert bench.herder.health(soon()).status == "healthy"
        bench.broker_away = RetriableError("nobody listens at 127.0.0.1:9092")
        found = bench.herder.health(soon())
        assert found.status == "unhealthy"
        assert "It waits for Kafka: nobody listens at 127.0.0.1:9092" in found.message
        bench.broker_away = None
        assert bench.herder.health(soon()).status == "healthy"


def test_a_worker_that_starts_without_a_broker_tells_what_it_waits_for() -> None:
    bench = Bench(broker_away=RetriableError("nobody listens at 127.0.0.1:9092"))
    with running(bench):
        told = "waiting for Kafka (nobody listens at 127.0.0.1:9092), which began at"
        eventually(lambda: told in bench.herder.health(soon()).message)
        assert bench.herder.health(soon()).status == "starting"
        with pytest.raises(DeadlineExceededError, match=r"waiting for Kafka .nobody listens"):
            bench.herder.connectors(Deadline.after(0.1))
        bench.broker_away = None
        eventually(lambda: bench.herder.health(soon()).status == "healthy")


def test_a_herder_that_hangs_with_its_broker_tells_what_it_waits_for() -> None:
    with running() as bench:
        bench.runs_nothing_until(held := threading.Event())
        try:
            assert (
                "is currently waiting in vain" in bench.herder.health(Deadline.after(0.2)).message
            )
            bench.broker_away = RetriableError("nobody listens at 127.0.0.1:9092")
            found = bench.herder.health(Deadline.after(0.2))
        finally:
            held.set()
        assert found.status == "unhealthy"
        assert "It waits for Kafka: nobody listens at 127.0.0.1:9092" in found.message


def test_after_a_restart_of_the_worker_everything_is_as_it_was() -> None:
    first = Bench()
    with running(first):
        for name, target in (("run", None), ("pause", "PAUSED"), ("stop", None)):
            first.create(name, target)
        first.runs("run")
        first.runs("stop")
        first.herder.stop_connector("stop", soon())
        eventually(lambda: first.states("stop") == ("STOPPED", []))
    assert first.states("run") == ("UNASSIGNED", ["UNASSIGNED"])

    second = Bench(configs=first.configs, statuses=first.statuses)
    second.validation.errors = ("the database is away",)
    with running(second):
        second.runs("run")
        eventually(lambda: second.states("pause")[0] == "PAUSED")
        eventually(lambda: second.states("stop") == ("STOPPED", []))
        assert second.worker.running_tasks() == {TaskId("run", 0)}
        assert second.validation.seen == []  # what is stored was checked once


def test_statuses_outrank_those_of_the_workers_before() -> None:
    bench = Bench()
    bench.configs.put_connector("c", {**SOURCE, "name": "c"}, soon())
    bench.statuses.put_connector("c", Status("RUNNING", "java:8083", 7))
    with running(bench):
        bench.runs()
        found = bench.statuses.connector("c")
        assert found is not None
        assert (found.worker_id, found.generation) == ("127.0.0.1:8083", 7)


def test_closing_stops_tasks_says_so_and_keeps_failures(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="penstock.worker.herder.local_herder")
    bench = Bench()
    with running(bench):
        bench.worker.failing["bad-0"] = "boom"
        bench.create("good")
        bench.create("bad")
        bench.runs("good")
        eventually(lambda: bench.status_of(TaskId("bad", 0)) == "FAILED")
    assert bench.states("good") == ("UNASSIGNED", ["UNASSIGNED"])
    assert bench.states("bad") == ("UNASSIGNED", ["FAILED"])
    assert bench.statuses.flushed
    assert bench.worker.running_tasks() == frozenset()
    assert caplog.messages[-2:] == ["Stopping 2 tasks of 2 connectors", "Storing the last states"]


def test_last_states_do_not_wait_for_a_kafka_that_has_ended(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bench = Bench()
    bench.herder.start()
    bench.create()
    bench.runs()
    bench.statuses.kafka_is_away = True
    begun = time.monotonic()
    bench.herder.close(soon(30), kafka_ended=True)
    assert time.monotonic() - begun < 10
    lost = "Last statuses are not stored: ran out of time while writing statuses"
    assert caplog.messages == [lost]


def test_requests_wait_for_the_start_no_longer_than_their_deadline() -> None:
    bench = Bench()
    bench.configs.unreachable.set()
    with running(bench):
        eventually(lambda: "waiting for Kafka (" in bench.herder.health(soon()).message)
        assert bench.herder.health(soon()).status == "starting"
        with pytest.raises(
            DeadlineExceededError, match=r"Request timed out. The worker is current"
        ):
            bench.herder.connectors(Deadline.after(0.05))
        bench.configs.unreachable.clear()
        assert bench.herder.connectors(soon()) == []
        assert bench.herder.server_info().kafka_cluster_id == "cluster-1"
    assert bench.fatal == []


def test_a_start_that_can_never_work_is_handed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()

    def broken(deadline: object) -> None:
        raise PluginError("the config topic has two partitions")

    monkeypatch.setattr(bench.configs, "start", broken)
    with running(bench):
        eventually(lambda: bench.fatal)
        assert bench.herder.health(soon()).status == "starting"


def test_a_store_that_can_never_start_is_handed_up_though_another_still_tries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench()
    bench.configs.unreachable.set()

    def broken(deadline: object) -> None:
        raise PluginError("the status topic is not compacted")

    monkeypatch.setattr(bench.statuses, "start", broken)
    with running(bench):
        eventually(lambda: bench.fatal)
    assert [str(error) for error in bench.fatal] == ["the status topic is not compacted"]


def test_a_herder_that_waits_for_its_broker_is_closed_soon_and_does_not_start_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench()
    answer, asked = threading.Event(), threading.Event()

    def wait_for_the_broker(deadline: object) -> None:
        asked.set()
        answer.wait(30)

    monkeypatch.setattr(bench.configs, "start", wait_for_the_broker)
    with running(bench):
        assert asked.wait(5)
        begun = time.monotonic()
        bench.herder.close(soon(30))
        assert time.monotonic() - begun < 10
        answer.set()
        time.sleep(0.1)
        assert not bench.herder.ready
    assert bench.fatal == []


def test_topics_are_tracked_and_forgotten() -> None:
    with running() as bench:
        bench.create()
        eventually(lambda: bench.herder.active_topics("c", soon()).topics == ["lines"])
        bench.herder.reset_active_topics("c", soon())
        assert bench.herder.active_topics("c", soon()).topics == []


def test_topics_are_not_tracked_when_that_is_switched_off() -> None:
    with running(Bench(options=HerderOptions(track_topics=False))) as bench:
        bench.create()
        bench.runs()
        bench.herder.health(soon())
        assert bench.statuses.topics("c") == []


def test_reports_of_unknown_connectors_are_ignored() -> None:
    with running() as bench:
        bench.herder.health(soon())
        bench.worker.events.connector_state("ghost", State.RUNNING, None)
        bench.worker.events.task_configs("ghost", [{}])
        bench.herder.health(soon())
        assert bench.statuses.connector("ghost") is None
        assert bench.configs.log == []


def test_all_connectors_are_shown_as_they_are_now() -> None:
    def shown(*parts: str) -> dict[str, dict[str, Any]]:
        found = json.loads(bench.herder.expanded(parts, soon()))
        assert isinstance(found, dict)
        return found

    def states() -> list[str]:
        return [each["status"]["connector"]["state"] for each in shown("status").values()]

    with running() as bench:
        assert shown("status", "info") == {}
        for name in ("a", "b"):
            bench.create(name)
            bench.runs(name)
        assert list(shown()) == ["a", "b"]
        before = shown("status", "info")
        assert before == {
            name: {
                "status": bench.herder.connector_status(name, soon()).to_json(),
                "info": bench.herder.connector_info(name, soon()).to_json(),
            }
            for name in ("a", "b")
        }
        bench.herder.pause_connector("b", soon())
        eventually(lambda: states() == ["RUNNING", "PAUSED"])
        bench.herder.patch_connector_config("a", {"topic": "other"}, soon())
        assert shown("info")["a"]["info"]["config"]["topic"] == "other"
        assert shown("status", "info")["b"]["info"] == before["b"]["info"]
        bench.herder.delete_connector("a", soon())
        assert list(shown("info")) == ["b"]


def test_a_connector_whose_plugin_comes_later_is_shown_with_it(tmp_path: Path) -> None:
    """Nothing else tells that an answer is not what it was."""
    with running(Bench(plugins=Plugins.discover([str(tmp_path)]))) as bench:
        config = {"name": "c", "connector.class": "later.LaterSource"}
        bench.configs.put_connector("c", config, soon())
        assert b'"type":"unknown"' in bench.herder.expanded(["info"], soon())
        (tmp_path / "later.py").write_text(LATER)
        assert b'"type":"source"' in bench.herder.expanded(["info"], soon())


LATER = """
from penstock.api.connector import SourceConnector

class LaterSource(SourceConnector):
    version = "1"

    def start(self, config, context): ...

    def task_configs(self, max_tasks):
        return []
"""
