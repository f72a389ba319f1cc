"""Waiting for a condition, the only way tests wait. Limits depend on the machine's speed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache
from typing import Final, TypeVar

from penstock.kernel.clock import Deadline

Value = TypeVar("Value")

WAIT_SECONDS: Final = 120.0
"""Many times longer than a Spark start on an idle machine."""

_POLL_SECONDS: Final = 0.1
_FIRST_POLL_SECONDS: Final = 0.005
_SLOWEST: Final = 20.0
_ROUNDS: Final = 400_000
_QUIET_SECONDS: Final = 0.02
"""The time of _ROUNDS on the machine for which the limits in the tests were chosen."""


def slowness() -> float:
    """How many times slower this machine is now than an idle reference machine; at least 1."""
    crowd = os.getloadavg()[0] / (os.cpu_count() or 1)
    return min(_SLOWEST, max(1.0, _handicap()) * max(1.0, crowd))


def patient(seconds: float = WAIT_SECONDS) -> float:
    """The time limit for this machine now, from one for an idle reference machine."""
    return seconds * slowness()


def eventually(
    ask: Callable[[], Value],
    until: Callable[[Value], bool] = bool,
    *,
    seconds: float = WAIT_SECONDS,
) -> Value:
    """The first answer that satisfies `until`.

    `seconds` are those of an idle machine. The load is measured when they are over, so that
    processes started meanwhile extend the limit.

    Raises:
        AssertionError: no answer did in time; the text has the last one.
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
    """A deadline that a test expects to be met; not for one that should expire."""
    return Deadline.after(patient(seconds))


def _pause(waited: float, asking: float) -> float:
    """The pause before the next call: short at first, longer for slow calls."""
    return max(_FIRST_POLL_SECONDS, min(_POLL_SECONDS, waited / 10), min(1.0, 2 * asking))


@cache
def _handicap() -> float:
    """How much slower the processor is than that of the reference machine, without load."""
    begun = time.thread_time()
    for _ in range(_ROUNDS):
        pass
    return (time.thread_time() - begun) / _QUIET_SECONDS
