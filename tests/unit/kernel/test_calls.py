"""Calls with a deadline."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import Future
from contextvars import ContextVar

import pytest

from penstock.kernel.calls import result_of, run_into, started, within
from penstock.kernel.clock import Deadline
from penstock.kernel.errors import DeadlineExceededError, PluginError
from penstock.testing.waiting import patient, soon


def test_a_call_returns_or_raises_as_if_it_were_made_here() -> None:
    assert within(soon(), "counting", lambda: 42) == 42
    with pytest.raises(ZeroDivisionError):
        within(soon(), "dividing", lambda: 1 / 0)
    with pytest.raises(TimeoutError, match="of its own"):
        result_of(started(_timed_out, "t"), soon(), "waiting")


def _timed_out() -> None:
    raise TimeoutError("of its own")


def test_waiting_ends_at_the_deadline_and_the_text_names_the_step() -> None:
    hold = threading.Event()
    with pytest.raises(DeadlineExceededError, match=r"^ran out of time while asking an oracle$"):
        within(Deadline.after(0.02), "asking an oracle", lambda: hold.wait(patient()))
    hold.set()


def test_nothing_is_called_when_no_time_is_left() -> None:
    called: list[int] = []
    with pytest.raises(DeadlineExceededError, match=r"^too late while asking$"):
        within(Deadline.after(0), "asking", lambda: called.append(1), late="too late")
    assert called == []


def test_a_call_sees_the_context_of_its_caller() -> None:
    who = ContextVar("who", default="nobody")
    who.set("me")
    assert within(soon(), "asking", who.get) == "me"


def test_sys_exit_in_a_call_ends_nobody() -> None:
    with pytest.raises(PluginError, match=r"sys.exit\(\) while leaving"):
        within(soon(), "leaving", lambda: sys.exit(3))


def test_a_cancelled_future_is_not_run() -> None:
    done: Future[None] = Future()
    done.cancel()
    called: list[int] = []
    run_into(done, lambda: called.append(1))
    assert called == []


def test_a_call_that_hangs_does_not_hold_up_the_end_of_the_process() -> None:
    code = (
        "import threading; from penstock.kernel.calls import started;"
        "started(threading.Event().wait, 'hangs')"
    )
    subprocess.run([sys.executable, "-c", code], timeout=patient(), check=True)
