"""errors.retry.*: repeated as long as allowed, with growing waits."""

from __future__ import annotations

import threading

import pytest

from penstock.kernel.errors import DataError, RetriableError, ServiceAwayError, SessionLostError
from penstock.worker.interface import TargetState
from penstock.worker.runtime.conversion_retry import ConversionRetry
from penstock.worker.runtime.task_host import TaskControl
from penstock.worker.runtime.tolerance import ErrorSettings


class StepClock:
    """Time passes only while somebody waits."""

    def __init__(self) -> None:
        self.time = 0.0
        self.waits: list[float] = []

    def now(self) -> float:
        return self.time

    def wall_ms(self) -> int:
        return int(self.time * 1000)

    def wait(self, event: threading.Event, seconds: float) -> bool:
        self.waits.append(round(seconds, 3))
        self.time += seconds
        return event.is_set()


def retry(clock: StepClock, **config: str) -> ConversionRetry:
    keys = {"name": "x", "connector.class": "FileStreamSink", "topics": "t"}
    settings = ErrorSettings.parse({**keys, **config})
    control = TaskControl(TargetState.STARTED, clock)
    return ConversionRetry(settings, control, clock, random=lambda: 0.5)


class Flaky:
    def __init__(self, failures: int, error: type[Exception] = RetriableError) -> None:
        self.left = failures
        self.error = error

    def __call__(self) -> str:
        if self.left:
            self.left -= 1
            raise self.error("the registry is away")
        return "done"


def test_without_a_timeout_the_first_failure_counts() -> None:
    clock = StepClock()
    with pytest.raises(DataError, match=r"^the registry.*; Tolerance exceeded in error handler"):
        retry(clock).run(Flaky(1))
    assert clock.waits == []


def test_waits_double_and_are_random_once_they_would_be_too_long() -> None:
    clock = StepClock()
    config = {"errors.retry.timeout": "10000", "errors.retry.delay.max.ms": "1000"}
    assert retry(clock, **config).run(Flaky(5)) == "done"
    assert clock.waits == [0.3, 0.6, 0.5, 0.5, 0.5]


def test_the_last_attempt_is_made_when_the_time_is_over() -> None:
    clock = StepClock()
    with pytest.raises(DataError) as caught:
        retry(clock, **{"errors.retry.timeout": "2000"}).run(Flaky(1000))
    assert isinstance(caught.value.__cause__, RetriableError)
    assert clock.waits == [0.3, 0.6, 1.1]
    assert retry(StepClock(), **{"errors.retry.timeout": "2000"}).run(Flaky(3)) == "done"


def test_a_stop_is_no_reason_to_give_a_record_up() -> None:
    clock = StepClock()
    settings = ErrorSettings.parse({"errors.retry.timeout": "2000"})
    control = TaskControl(TargetState.STARTED, clock)
    control.stop()
    with pytest.raises(RetriableError):
        ConversionRetry(settings, control, clock).run(Flaky(1))


def test_minus_one_is_without_end() -> None:
    clock = StepClock()
    assert retry(clock, **{"errors.retry.timeout": "-1"}).run(Flaky(50)) == "done"
    assert max(clock.waits) == 38.4
    assert set(clock.waits[10:]) == {30.0}


@pytest.mark.parametrize("error", [SessionLostError, ServiceAwayError])
def test_what_is_away_is_not_the_converters_fault(error: type[Exception]) -> None:
    clock = StepClock()
    with pytest.raises(error):
        retry(clock, **{"errors.retry.timeout": "-1"}).run(Flaky(1, error))
    assert clock.waits == []


def test_other_errors_are_not_repeated() -> None:
    clock = StepClock()
    with pytest.raises(ValueError, match="registry"):
        retry(clock, **{"errors.retry.timeout": "-1"}).run(Flaky(1, ValueError))
