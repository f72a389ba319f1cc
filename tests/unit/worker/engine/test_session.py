"""What an error in a batch means for the session; Spark itself is not started here."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.kernel.errors import RetriableError, SessionLostError, SparkAwayError
from penstock.worker.engine import jvm, session
from penstock.worker.engine.session import SparkEngine


class Machine:
    """Stands for the JVM: it starts at once, and dies when told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.runs = False
        self.failures = 0
        self.starts = 0
        monkeypatch.setattr(SparkEngine, "_build", self.build)
        monkeypatch.setattr(jvm, "runs", lambda: self.runs)
        monkeypatch.setattr(jvm, "forget", lambda: None)

    def build(self, settings: object) -> object:
        del settings
        self.starts += 1
        if self.failures:
            self.failures -= 1
            raise OSError("Too many open files")
        self.runs = True
        return object()

    def die(self) -> None:
        self.runs = False


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


def batch(engine: SparkEngine, *events: Callable[[], object]) -> None:
    """A batch in which these things happen, and which fails then."""
    with engine.guard():
        for event in events:
            event()
        raise ValueError("not a number")


@pytest.mark.usefixtures("machine")
def test_an_error_of_a_batch_is_its_own_also_if_spark_starts_for_it() -> None:
    engine = SparkEngine({})
    for _ in range(2):
        with pytest.raises(ValueError, match="not a number"):
            batch(engine, engine.session)


def test_an_error_of_a_batch_whose_jvm_dies_is_not(machine: Machine) -> None:
    engine = SparkEngine({})
    engine.session()
    with pytest.raises(SessionLostError, match="JVM died"):
        batch(engine, machine.die)


def test_nor_is_it_if_another_has_started_it_again(machine: Machine) -> None:
    engine = SparkEngine({})
    engine.session()
    with pytest.raises(SessionLostError, match="JVM died"):
        batch(engine, machine.die, engine.session)


def test_a_start_that_fails_is_nobodys_fault_and_tried_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "RETRY_SECONDS", 0)
    machine.failures = 4
    engine = SparkEngine({})
    for _ in range(2):
        with pytest.raises(RetriableError, match="Spark did not start: Too many open files"):
            batch(engine, engine.session)
    engine.session()
    assert engine.alive


def test_what_fails_while_spark_is_imported_is_nobodys_fault_either(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ImportError("cannot import name 'SQLContext' from partially initialized module")

    monkeypatch.setattr(session, "RETRY_SECONDS", 0)
    engine = SparkEngine({})
    with monkeypatch.context() as patch:
        patch.setattr(session, "import_pyspark", fail)
        with pytest.raises(SparkAwayError, match="SQLContext"):
            engine.session()
    engine.session()
    assert machine.starts == 1


def test_many_who_need_spark_start_it_once(machine: Machine) -> None:
    machine.failures = 2
    engine = SparkEngine({})
    for _ in range(5):
        with pytest.raises(SparkAwayError, match="Too many open files"):
            engine.session()
    assert machine.starts == 2  # at once a second time, then not before a while
