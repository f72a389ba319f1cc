from __future__ import annotations

import logging
import threading

from penstock.kafka.clients.logs import Repetitions


class StoppedClock:
    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def wall_ms(self) -> int:
        return 0

    def wait(self, event: threading.Event, seconds: float) -> bool:
        return True


def test_the_same_line_passes_once_a_minute() -> None:
    clock = StoppedClock()
    repetitions = Repetitions(clock)

    def passes(text: str) -> bool:
        return repetitions.filter(logging.LogRecord("l", 40, "", 0, text, (), None))

    assert passes("a:1 refused after 2ms")
    assert not passes("a:1 refused after 17ms")
    assert passes("something else")
    clock.time = 61
    assert passes("a:1 refused after 3ms")
