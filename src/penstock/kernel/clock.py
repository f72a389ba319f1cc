"""Time, as an argument: whatever decides by the time asks a Clock or a Deadline.

A test names the few others that read the machine's clock themselves.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Protocol

from penstock.kernel.errors import DeadlineExceededError


class Clock(Protocol):
    """Reads the time, and waits."""

    def now(self) -> float:
        """Seconds of a monotonic clock; for durations and deadlines."""
        ...

    def wall_ms(self) -> int:
        """Milliseconds since the epoch; for records and people."""
        ...

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Wait for the event at most so many seconds; True if it was set."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        return time.monotonic()

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def wait(self, event: threading.Event, seconds: float) -> bool:
        return event.wait(max(0.0, seconds))


@dataclass(frozen=True, slots=True)
class Deadline:
    """The time limit of an operation, passed to all of its steps."""

    at: float
    clock: Clock

    @classmethod
    def after(cls, seconds: float, clock: Clock | None = None) -> Deadline:
        clock = clock or SystemClock()
        return cls(clock.now() + seconds, clock)

    def remaining(self) -> float:
        """Seconds left; never negative."""
        return max(0.0, self.at - self.clock.now())

    @property
    def expired(self) -> bool:
        return self.remaining() <= 0.0

    def check(self, step: str) -> None:
        """Raise DeadlineExceededError, naming the step, if no time is left."""
        if self.expired:
            message = f"ran out of time while {step}"
            raise DeadlineExceededError(message)
