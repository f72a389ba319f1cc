"""The herder's thread and the lanes beside it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import pytest

from penstock.kernel.clock import Deadline, SystemClock
from penstock.kernel.errors import DeadlineExceededError
from penstock.testing.waiting import eventually, patient, soon
from penstock.worker.herder.command_thread import CommandThread
from penstock.worker.herder.lanes import Lanes, within


@pytest.fixture
def thread() -> Iterator[CommandThread]:
    made = CommandThread(SystemClock())
    made.start()
    yield made
    made.stop(soon())


def test_commands_run_in_order_on_one_thread(thread: CommandThread) -> None:
    seen: list[tuple[int, str]] = []

    def note(number: int) -> None:
        seen.append((number, threading.current_thread().name))

    for number in range(5):
        thread.post("counting", partial(note, number))
    thread.call("counting", lambda: note(5), soon())
    assert seen == [(number, "herder") for number in range(6)]


def test_values_and_errors_reach_the_caller(thread: CommandThread) -> None:
    assert thread.call("adding", lambda: 1 + 1, soon()) == 2
    with pytest.raises(ZeroDivisionError):
        thread.call("dividing", lambda: 1 / 0, soon())
    assert thread.call("adding", lambda: 2, soon()) == 2


def test_a_command_that_came_too_late_is_never_run(thread: CommandThread) -> None:
    hold, ran = threading.Event(), threading.Event()
    thread.post("thinking hard", lambda: hold.wait(patient()))
    eventually(lambda: thread.stage.description == "thinking hard")
    with pytest.raises(DeadlineExceededError) as caught:
        thread.call("being late", ran.set, Deadline.after(0.02))
    text = str(caught.value)
    assert text.startswith(
        "Request timed out. The worker is currently thinking hard, which began at "
    )
    assert text.endswith("Z")
    hold.set()
    thread.call("passing by", lambda: None, soon())
    assert not ran.is_set()


def test_later_is_later_and_does_not_block(thread: CommandThread) -> None:
    seen: list[str] = []
    thread.post("planning", lambda: thread.post_later(0.05, "acting", lambda: seen.append("late")))
    thread.call("acting now", lambda: seen.append("now"), soon())
    eventually(lambda: seen == ["now", "late"])


def test_a_failure_nobody_waits_for_is_logged(
    thread: CommandThread, caplog: pytest.LogCaptureFixture
) -> None:
    thread.post("dividing by zero", lambda: 1 / 0)
    thread.call("passing by", lambda: None, soon())
    assert "The herder failed while dividing by zero" in caplog.text


def test_a_lane_keeps_order_and_lanes_do_not_wait_for_each_other() -> None:
    lanes, hold, seen = Lanes(), threading.Event(), list[str]()
    first = lanes.submit("a", lambda: hold.wait(patient()))
    second = lanes.submit("a", lambda: seen.append("a2"))
    lanes.submit("b", lambda: seen.append("b1")).result(patient())
    assert seen == ["b1"]
    assert not lanes.join(Deadline.after(0.01))
    hold.set()
    first.result(patient())
    second.result(patient())
    assert seen == ["b1", "a2"]
    assert lanes.join(soon())


def test_an_error_in_a_lane_does_not_end_it() -> None:
    lanes = Lanes()
    failed = lanes.submit("a", lambda: 1 / 0)
    assert lanes.submit("a", lambda: 2).result(patient()) == 2
    with pytest.raises(ZeroDivisionError):
        failed.result(patient())


def test_waiting_ends_at_the_deadline_whatever_the_work_does() -> None:
    hold = threading.Event()
    with pytest.raises(DeadlineExceededError, match="timed out while asking an oracle"):
        within(Deadline.after(0.02), "asking an oracle", lambda: hold.wait(patient()))
    hold.set()
    assert within(soon(), "asking an oracle", lambda: 42) == 42
