"""Waiting for a condition, the only way tests wait. Limits follow the speed of the machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache
from typing import Final, TypeVar

from penstock.clock import Deadline

Value = TypeVar("Value")

WAIT_SECONDS: Final = 120.0
"""Long enough for a Spark start, on a quiet machine many times over."""

_POLL_SECONDS: Final = 0.1
_FIRST_POLL_SECONDS: Final = 0.005
_SLOWEST: Final = 20.0
_ROUNDS: Final = 400_000
_QUIET_SECONDS: Final = 0.02
"""What _ROUNDS take on a machine for which the limits in the tests were chosen."""


def slowness() -> float:
    """How many times longer things take here and now than on a quiet machine; 1 at least."""
    crowd = os.getloadavg()[0] / (os.cpu_count() or 1)
    return min(_SLOWEST, max(1.0, _handicap()) * max(1.0, crowd))


def patient(seconds: float = WAIT_SECONDS) -> float:
    """So much time on a quiet machine, and as much more as this one needs now."""
    return seconds * slowness()


def eventually(
    ask: Callable[[], Value],
    until: Callable[[Value], bool] = bool,
    *,
    seconds: float = WAIT_SECONDS,
) -> Value:
    """The first answer that satisfies `until`.

    `seconds` are those of a quiet machine. How busy it is counts when they are over, not before:
    what others started in the meantime makes the limit longer.

    Raises:
        AssertionError: none did in time; the text has the last answer.
    """
    begun = time.monotonic()
    while True:
        asked = time.monotonic()
        if until(answer := ask()):
            return answer
        now = time.monotonic()
        if now - begun > seconds and now - begun > (limit := patient(seconds)):
            raise AssertionError(f"not within {limit:.0f} s; the last answer was {answer!r}")
        time.sleep(_pause(now - begun, now - asked))


def soon(seconds: float = WAIT_SECONDS) -> Deadline:
    """A deadline for what is expected to come in time; one that is to pass is no such one."""
    return Deadline.after(patient(seconds))


def _pause(waited: float, asking: float) -> float:
    """Short at first. An answer that takes long to find is not asked for all the time."""
    return max(_FIRST_POLL_SECONDS, min(_POLL_SECONDS, waited / 10), min(1.0, 2 * asking))


@cache
def _handicap() -> float:
    """How much slower the processor is than the one of the limits, whatever else it does."""
    begun = time.thread_time()
    for _ in range(_ROUNDS):
        pass
    return (time.thread_time() - begun) / _QUIET_SECONDS
