"""Calls that may hang: each on a thread that never keeps the process from ending."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from typing import TypeVar

from penstock.kernel.clock import Deadline
from penstock.kernel.errors import DeadlineExceededError, PluginError

Result = TypeVar("Result")

_LATE = "ran out of time"


def within(
    deadline: Deadline, step: str, call: Callable[[], Result], *, late: str = _LATE
) -> Result:
    """Run the call on a thread of its own and wait for it no longer than the deadline.

    A call that takes longer goes on until it ends by itself; its result is ignored.

    Raises:
        DeadlineExceededError: it took longer; the text is `late` and names the step.
        PluginError: it called sys.exit(), which must not end the caller.
    """
    if deadline.expired:
        raise DeadlineExceededError(f"{late} while {step}")
    return result_of(started(call, f"call: {step}"), deadline, step, late=late)


def started(call: Callable[[], Result], name: str) -> Future[Result]:
    """Run the call on a new thread of that name; the future gets its result or error."""
    done: Future[Result] = Future()
    # The context has the connector and task that log lines are about.
    run = copy_context().run
    threading.Thread(target=run, args=(run_into, done, call), name=name, daemon=True).start()
    return done


def run_into(done: Future[Result], call: Callable[[], Result]) -> None:
    """Run the call on this thread, unless the future is cancelled, and set the future."""
    if not done.set_running_or_notify_cancel():
        return
    try:
        done.set_result(call())
    except BaseException as error:  # noqa: BLE001 - the future passes it to the caller
        done.set_exception(error)


def result_of(done: Future[Result], deadline: Deadline, step: str, *, late: str = _LATE) -> Result:
    """The result of a future, waited for no longer than the deadline. Raises as `within`."""
    wait([done], deadline.remaining())
    if not done.done():
        done.cancel()
        raise DeadlineExceededError(f"{late} while {step}")
    error = done.exception()
    if isinstance(error, SystemExit):
        raise PluginError(f"a plugin called sys.exit() while {step}") from error
    return done.result()
