"""Calls of the client libraries that know no deadline of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

from penstock.clock import Deadline
from penstock.errors import DeadlineExceededError

Result = TypeVar("Result")


def within(deadline: Deadline, step: str, call: Callable[[], Result]) -> Result:
    """Run the call on a thread of its own and wait for it no longer than the deadline.

    A call that is given up goes on until its library gives up too; its outcome is dropped. The
    thread is a daemon, so such a call never holds up the end of the process.
    """
    deadline.check(step)
    outcome: Future[Result] = Future()
    # What the call logs is about whatever the caller works for.
    run = copy_context().run
    thread = threading.Thread(
        target=run, args=(_run, outcome, call), name="kafka-call", daemon=True
    )
    thread.start()
    try:
        return outcome.result(deadline.remaining())
    except TimeoutError as error:
        if outcome.done():
            raise
        raise DeadlineExceededError(f"ran out of time while {step}") from error


def _run(outcome: Future[Result], call: Callable[[], Result]) -> None:
    try:
        outcome.set_result(call())
    except BaseException as error:  # noqa: BLE001 - whoever waits gets it
        outcome.set_exception(error)
