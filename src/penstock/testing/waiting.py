"""Waiting for a condition with a deadline, the only way tests wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")

_POLL_SECONDS = 0.1


def eventually(
    ask: Callable[[], Value], until: Callable[[Value], bool] = bool, *, seconds: float = 30.0
) -> Value:
    """The first answer that satisfies `until`.

    Raises:
        AssertionError: none did in time; the text has the last answer.
    """
    end = time.monotonic() + seconds
    while not until(answer := ask()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:.0f} s; the last answer was {answer!r}")
        time.sleep(_POLL_SECONDS)
    return answer
