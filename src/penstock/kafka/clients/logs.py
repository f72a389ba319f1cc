"""Limits how much the client libraries log."""

from __future__ import annotations

import logging
import re
import threading
from typing import Final

from penstock.kernel.clock import Clock, SystemClock

#: Lines of librdkafka, at the level it gives them.
LIBRDKAFKA: Final = logging.getLogger("penstock.kafka.librdkafka")
_KAFKA_PYTHON: Final = logging.getLogger("kafka")
_NUMBERS: Final = re.compile(r"\d+(\.\d+)?")
_QUIET_SECONDS: Final = 60.0


class Repetitions(logging.Filter):
    """Passes a line once a minute: while a broker is away, each client logs it all the time.

    Lines that differ in numbers only count as the same.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__()
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        line = _NUMBERS.sub("#", record.getMessage())
        now = self._clock.now()
        with self._lock:
            if now < self._next.get(line, 0.0):
                return False
            self._next = {known: at for known, at in self._next.items() if at > now}
            self._next[line] = now + _QUIET_SECONDS
        return True


_once: Final = Repetitions()


def quieten() -> None:
    """Set up the filters; called for each client, acts once."""
    LIBRDKAFKA.addFilter(_once)
    if _KAFKA_PYTHON.level == logging.NOTSET:
        # It logs every attempt to connect as an error; our own errors report it once. Setting
        # this logger's level shows them.
        _KAFKA_PYTHON.setLevel(logging.CRITICAL)
