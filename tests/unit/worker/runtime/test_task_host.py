"""The life of a task, with work that does what the test says."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from penstock.kernel.clock import Deadline, SystemClock
from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import (
    DataError,
    DeadlineExceededError,
    RebalancedError,
    RetriableError,
    SessionLostError,
)
from penstock.testing.waiting import patient, soon
from penstock.worker.interface import State, TargetState
from penstock.worker.runtime import task_host
from penstock.worker.runtime.task_host import TaskControl, TaskHost, stop_all
from tests.unit.worker.runtime.events import Notes, await_that

TASK = TaskId("orders", 0)


class Work:
    """Satisfies TaskWork: raises what it is given, in turn, and counts."""

    def __init__(self, control: TaskControl) -> None:
        self.calls: list[str] = []
        self.failures: dict[str, list[Exception]] = {"start": [], "step": [], "recover": []}
        self.in_step: Callable[[], None] = lambda: control.wait(0.01)
        self.closed = threading.Event()
        self.cancelled = threading.Event()

    def count(self, call: str) -> int:
        return self.calls.count(call)

    def _do(self, call: str) -> None:
        self.calls.append(call)
        failures = self.failures.get(call, [])
        if failures:
            raise failures.pop(0)

    def start(self) -> None:
        self._do("start")

    def step(self) -> None:
        self._do("step")
        self.in_step()

    def idle(self) -> None:
        self._do("idle")
        threading.Event().wait(0.01)

    def recover(self) -> None:
        self._do("recover")

    def cancel(self) -> None:
        self.cancelled.set()

    def close(self, deadline: Deadline) -> None:
        self.closed.set()


class Task:
    """A host with its work, its control and what it told."""

    def __init__(self, target: TargetState = TargetState.STARTED) -> None:
        self.control = TaskControl(target, SystemClock())
        self.work = Work(self.control)
        self.notes = Notes()
        self.guarded: list[Exception] = []
        self.host = TaskHost(
            TASK, self.work, self.control, self.notes, shutdown_seconds=1, guard=self.guard
        )

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Spark's JVM has died if something fails with what it says then."""
        try:
            yield
        except ConnectionResetError as error:
            self.guarded.append(error)
            raise SessionLostError("Spark went away") from error

    @property
    def states(self) -> list[State]:
        return self.notes.of(str(TASK))

    def stop(self, seconds: float = 10) -> None:
        stop_all([self.host], Deadline.after(seconds))


@pytest.fixture
def task(monkeypatch: pytest.MonkeyPatch) -> Iterator[Task]:
    monkeypatch.setattr(task_host, "FIRST_BACK_OFF_SECONDS", 0.01)
    made = Task()
    yield made
    made.stop()


@pytest.mark.parametrize("step", ["start", "step", "recover"])
def test_whatever_fails_because_spark_went_away_is_tried_again(task: Task, step: str) -> None:
    task.work.failures["step"] = [RetriableError("so that it recovers")]
    task.work.failures[step] = [ConnectionResetError("by peer"), *task.work.failures[step]]
    task.host.start()
    await_that(lambda: task.work.count("step") >= 3)
    assert task.states == [State.RUNNING]
    assert len(task.guarded) == 1


def test_a_task_runs_until_it_is_stopped(task: Task) -> None:
    task.host.start()
    await_that(lambda: task.work.count("step") >= 3)
    task.stop()
    assert task.states == [State.RUNNING]
    assert task.work.closed.is_set()
    assert not task.host.running
    assert not task.work.cancelled.is_set()


@pytest.mark.parametrize(
    "passing",
    [
        RetriableError("the target is busy"),
        SessionLostError("Spark went away"),
        DeadlineExceededError("the broker did not answer"),
        RebalancedError("the partitions moved"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_passes_is_repeated_and_the_task_stays_running(task: Task, passing: Exception) -> None:
    task.work.failures["step"] = [passing]
    task.work.failures["recover"] = [passing]
    task.host.start()
    await_that(lambda: task.work.count("step") >= 3)
    assert task.states == [State.RUNNING]
    # step fails, recover fails, recover works, step again
    assert task.work.calls[:5] == ["start", "step", "recover", "recover", "step"]


def test_a_start_that_may_work_later_is_repeated(task: Task) -> None:
    task.work.failures["start"] = [DeadlineExceededError("the broker is away")]
    task.host.start()
    await_that(lambda: task.work.count("step") >= 1)
    assert task.work.count("start") == 2
    assert task.states == [State.RUNNING]


def test_any_other_error_fails_the_task_with_its_trace(task: Task) -> None:
    cause = ValueError("not a number: jdbc:mysql://ann:geheim@db/shop")
    error = DataError("record orders-0, offset 7")
    error.__cause__ = cause
    task.work.failures["step"] = [error]
    task.host.start()
    task.notes.await_states(str(TASK), State.RUNNING, State.FAILED)
    trace = task.notes.traces[str(TASK)] or ""
    assert "record orders-0, offset 7" in trace
    assert "ValueError: not a number: jdbc:mysql://ann:[hidden]@db/shop" in trace
    assert task.work.closed.wait(patient())
    assert task.work.count("step") == 1  # it does not start again by itself
    assert task.work.count("recover") == 0


def test_a_task_that_does_not_start_fails(task: Task) -> None:
    task.work.failures["start"] = [RuntimeError("no such file")]
    task.host.start()
    task.notes.await_states(str(TASK), State.FAILED)
    assert task.work.closed.wait(patient())


def test_pause_and_resume(task: Task) -> None:
    task.host.start()
    task.notes.await_states(str(TASK), State.RUNNING)
    task.host.set_target(TargetState.PAUSED)
    task.notes.await_states(str(TASK), State.RUNNING, State.PAUSED)
    await_that(lambda: task.work.count("idle") >= 2)
    steps = task.work.count("step")
    await_that(lambda: task.work.count("idle") >= 4)
    assert task.work.count("step") == steps
    task.host.set_target(TargetState.STARTED)
    task.notes.await_states(str(TASK), State.RUNNING, State.PAUSED, State.RUNNING)
    await_that(lambda: task.work.count("step") > steps)


def test_a_task_that_begins_paused_starts_when_it_is_resumed() -> None:
    task = Task(TargetState.PAUSED)
    task.host.start()
    task.notes.await_states(str(TASK), State.PAUSED)
    assert task.work.calls == []
    task.host.set_target(TargetState.STARTED)
    task.notes.await_states(str(TASK), State.PAUSED, State.RUNNING)
    task.stop()


def test_stopping_ends_a_back_off(task: Task) -> None:
    task.work.failures["step"] = [RetriableError("later")]
    task.host._back_off = 60
    task.host.start()
    await_that(lambda: task.work.count("step") == 1)
    task.stop()
    assert not task.host.running
    assert task.states == [State.RUNNING]


def test_a_batch_that_takes_too_long_is_cancelled(task: Task) -> None:
    task.work.in_step = lambda: _fail_when(task.work.cancelled)
    task.host.start()
    await_that(lambda: task.work.count("step") == 1)
    task.stop(seconds=0.4)
    assert task.work.cancelled.is_set()
    assert not task.host.running
    # Its failure is the cancellation's: nobody hears of it.
    assert task.states == [State.RUNNING]


def test_a_task_that_does_not_stop_is_given_up_and_silenced(task: Task) -> None:
    hang = threading.Event()
    task.work.in_step = lambda: _fail_when(hang)
    task.host.start()
    await_that(lambda: task.work.count("step") == 1)
    task.stop(seconds=0.2)
    assert task.host.running
    hang.set()
    assert task.work.closed.wait(patient())
    assert task.states == [State.RUNNING]


def test_many_tasks_are_cancelled_together() -> None:
    tasks = [Task() for _ in range(5)]
    for task in tasks:
        task.work.in_step = partial(_fail_when, task.work.cancelled)
        task.host.start()
    await_that(lambda: all(task.work.count("step") == 1 for task in tasks))
    begun = time.monotonic()
    stop_all([task.host for task in tasks], soon(2))
    assert not any(task.host.running for task in tasks)
    assert time.monotonic() - begun < patient(2)


def _fail_when(event: threading.Event) -> None:
    event.wait(patient())
    raise RuntimeError("cancelled")


def test_a_cause_that_says_the_same_is_said_once() -> None:
    cause = RetriableError("the registry is away")
    same, other = RetriableError("the registry is away"), RetriableError("can't write")
    same.__cause__ = other.__cause__ = cause
    assert task_host._in_short(same) == "the registry is away"
    assert task_host._in_short(other) == "can't write (the registry is away)"
    assert task_host._in_short(RetriableError()) == "RetriableError"


def test_what_a_task_waits_for_is_in_its_status(task: Task) -> None:
    task.work.failures["start"] = [SessionLostError("Spark did not start")]
    task.host.show_wait("Spark has no executor")
    assert task.states == [State.UNASSIGNED]
    assert task.notes.traces[str(TASK)] == "Spark has no executor"
    task.host.start()
    await_that(lambda: task.work.count("step") >= 1)
    task.host.show_wait("Spark has no executor")
    task.host.show_wait("Spark has no executor")
    assert task.notes.traces[str(TASK)] == "Spark has no executor"
    task.host.show_wait(None)
    assert task.notes.traces[str(TASK)] is None
    assert task.states == [State.UNASSIGNED, *[State.RUNNING] * 3]


def test_a_task_that_failed_waits_for_nothing(task: Task) -> None:
    task.work.failures["step"] = [DataError("a record is wrong")]
    task.host.start()
    task.notes.await_states(str(TASK), State.RUNNING, State.FAILED)
    task.host.show_wait("Spark has no executor")
    assert task.states == [State.RUNNING, State.FAILED]
