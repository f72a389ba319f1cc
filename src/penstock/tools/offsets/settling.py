"""Waits and retries."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, TypeVar

from penstock.kernel.clock import Clock, Deadline
from penstock.kernel.errors import PenstockError

Result = TypeVar("Result")

_PAUSE_SECONDS: Final = 0.25


def repeated(
    call: Callable[[], Result],
    passes: Callable[[Exception], bool],
    seconds: float,
    clock: Clock | None = None,
) -> Result:
    """The result of the call, which is repeated while its errors are temporary."""
    deadline = Deadline.after(seconds, clock)
    while True:
        try:
            return call()
        except PenstockError as error:
            if not passes(error) or deadline.expired:
                raise
        rest(deadline)


def holds(condition: Callable[[], bool], seconds: float, clock: Clock | None = None) -> bool:
    """Whether the condition came true in that time."""
    deadline = Deadline.after(seconds, clock)
    while not condition():
        if deadline.expired:
            return False
        rest(deadline)
    return True


def rest(deadline: Deadline) -> None:
    """A short pause that does not outlast the deadline."""
    deadline.clock.wait(threading.Event(), min(_PAUSE_SECONDS, deadline.remaining()))
