"""What a worker says of a Spark cluster that is not there. No Spark is started here."""

from __future__ import annotations

import socket
import sys
from typing import Any, cast

import pytest

from penstock.kernel.errors import SetupError, SparkAwayError
from penstock.machine.free_ports import free_port
from penstock.testing.fakes import ManualClock
from penstock.testing.waiting import eventually
from penstock.worker.engine import cluster
from penstock.worker.engine.cluster import GONE_SECONDS, Absence, Cluster
from penstock.worker.engine.session import SparkEngine


def test_a_master_that_can_not_be_reached_is_named_at_once() -> None:
    master = f"spark://127.0.0.1:{free_port('127.0.0.1')}"
    engine = SparkEngine({"spark.master": master})
    assert engine.obstacle is None
    with pytest.raises(SparkAwayError, match=f"no Spark master answers at .*{master[8:]}"):
        engine.session()
    assert "start it, or correct spark.master" in str(engine.obstacle)


def test_one_of_several_masters_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        away = free_port("127.0.0.1")
        Cluster({"spark.master": f"spark://127.0.0.1:{away},127.0.0.1:{port}"}).check_master()


@pytest.mark.parametrize("master", ["spark://127.0.0.1:port", "spark://no-such-host.invalid:7077"])
def test_an_address_that_is_none_is_told(master: str) -> None:
    with pytest.raises(SetupError, match="no Spark master answers"):
        Cluster({"spark.master": master}).check_master()


@pytest.mark.parametrize("master", ["local[2]", "yarn", "k8s://https://127.0.0.1:1"])
def test_others_find_out_by_themselves(master: str) -> None:
    Cluster({"spark.master": master}).check_master()


@pytest.mark.parametrize("dynamic", [False, True])
def test_executors_that_were_there_are_gone_too_long_only_if_somebody_waits(dynamic: bool) -> None:
    clock = ManualClock()
    absence = Absence(clock)
    idle = not dynamic

    def after(seconds: float, *, executors: bool, waiting: bool = True) -> bool:
        clock.advance(seconds)
        return absence.is_long(executors=executors, waiting=waiting)

    # Until there was one, Spark waits for the first: another session would do the same.
    assert not after(0, executors=False)
    assert not after(GONE_SECONDS, executors=False)
    assert not after(1, executors=True)
    assert not after(1, executors=False)
    assert not after(GONE_SECONDS / 2, executors=False, waiting=idle)
    assert after(GONE_SECONDS / 2, executors=False) == idle
    assert after(GONE_SECONDS, executors=False)


class Context:
    """Stands for a SparkContext of which the test says how many executors it has."""

    def __init__(self) -> None:
        self.executors = 0
        self.looks = 0
        self.stopped = False
        self.failure: Exception | None = None
        # As pyspark has it, and Spark its tracker.
        self.sparkContext = self._jsc = self

    def sc(self) -> Context:
        return self

    def statusTracker(self) -> Context:  # noqa: N802 - Spark's name
        self.looks += 1
        return self

    def getExecutorInfos(self) -> list[str]:  # noqa: N802
        return ["driver", *["executor"] * self.executors]

    def getActiveJobIds(self) -> list[int]:  # noqa: N802
        return []

    def parallelize(self, *_: object) -> Context:
        return self

    def foreach(self, _: object) -> None:
        if self.failure is not None:
            raise self.failure

    def isStopped(self) -> bool:  # noqa: N802
        return self.stopped

    def stop(self) -> None:
        self.stopped = True

    def await_looks(self, more: int = 3) -> None:
        before = self.looks
        eventually(lambda: self.looks >= before + more)


def test_a_session_whose_master_was_started_anew_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_LOOK_SECONDS", 0.005)
    monkeypatch.setattr(cluster, "GONE_SECONDS", 0.02)
    port = free_port("127.0.0.1")
    context = Context()
    session = cast("Any", context)
    watching = Cluster({"spark.master": f"spark://127.0.0.1:{port}"})
    watching.watch(session)
    context.executors = 1
    context.await_looks()
    context.executors = 0
    eventually(lambda: watching.missing)
    context.await_looks(20)
    assert not watching.has_ended(session)  # its master is away, and may know us when it is back
    with socket.create_server(("127.0.0.1", port)):
        eventually(lambda: watching.has_ended(session))


def test_a_cluster_without_executors_and_without_python_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cluster, "_LOOK_SECONDS", 0.005)
    context = Context()
    context.failure = RuntimeError("ModuleNotFoundError: No module named 'pyarrow'")
    watching = Cluster({"spark.master": "spark://127.0.0.1:7077"})
    watching.watch(cast("Any", context))
    eventually(lambda: watching.missing)
    assert "Spark at spark://127.0.0.1:7077 has no executor, so no job runs" in caplog.text
    context.executors = 1
    wanted = "They need a Python with Penstock: set its path in spark.pyspark.python"
    eventually(lambda: wanted in caplog.text)
    assert "No module named 'pyarrow'" in caplog.text
    context.stop()


def test_obstacles_are_looked_for_more_often_than_every_15_seconds() -> None:
    assert cluster._LOOK_SECONDS <= 5


def test_executors_use_the_python_that_the_settings_name() -> None:
    engine = SparkEngine({"spark.pyspark.python": "/opt/venv/bin/python"})
    assert engine._environment()["PYSPARK_PYTHON"] == "/opt/venv/bin/python"
    assert SparkEngine({})._environment()["PYSPARK_PYTHON"] == sys.executable
