"""What an error in a batch means for the session; Spark itself is not started here."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.errors import SessionLostError
from penstock.plan import gateway
from penstock.plan.session import SparkEngine


class Machine:
    """Stands for the JVM: it starts at once, and dies when told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.runs = False
        monkeypatch.setattr(SparkEngine, "_build", self.build)
        monkeypatch.setattr(gateway, "runs", lambda: self.runs)
        monkeypatch.setattr(gateway, "forget", lambda: None)

    def build(self, settings: object) -> object:
        del settings
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
    with pytest.raises(SessionLostError, match="went away"):
        batch(engine, machine.die)


def test_nor_is_it_if_another_has_started_it_again(machine: Machine) -> None:
    engine = SparkEngine({})
    engine.session()
    with pytest.raises(SessionLostError, match="went away"):
        batch(engine, machine.die, engine.session)
