"""Writes the demo's records at one end, and checks them at the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from penstock.kernel.errors import PenstockError

_PORTION = 100
#: A pace for watching; and a fast one for a fixed number of records.
_PORTIONS_PER_SECOND = 25
_HURRIED_PORTIONS_PER_SECOND = 1000
_RATE_WINDOW_SECONDS = 5.0


class DemoError(PenstockError):
    """The demo failed; the text says why."""


def line(number: int) -> str:
    """The text of one record; a function of its number, so that any change is detected."""
    return f"{number:08d} order {number * 7919 % 100_003:06d} für {number % 97} 🛢️"


@dataclass(frozen=True, slots=True)
class Flow:
    """The number of records at one moment."""

    records_in: int
    records_out: int
    rate: float

    @property
    def lag(self) -> int:
        return self.records_in - self.records_out


class Feed:
    """Appends to the source file at a steady pace, on a thread of its own."""

    def __init__(self, path: Path, limit: int | None) -> None:
        self.written = 0
        self._path = path
        self._limit = limit
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)

    def __enter__(self) -> Feed:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(5)

    def _run(self) -> None:
        pace = _PORTIONS_PER_SECOND if self._limit is None else _HURRIED_PORTIONS_PER_SECOND
        pause = 1 / pace
        with self._path.open("a", encoding="utf-8") as file:
            while not self._stop.wait(pause) and self.written != self._limit:
                numbers = range(self.written, self.written + _PORTION)
                file.write("".join(f"{line(number)}\n" for number in numbers))
                file.flush()
                self.written = numbers.stop


class Receipt:
    """Reads what the sink wrote and compares every line with what was sent."""

    def __init__(self, path: Path) -> None:
        self.received = 0
        self._path = path
        self._position = 0
        self._history: list[tuple[float, int]] = [(time.monotonic(), 0)]

    def read(self) -> None:
        """Check the lines written since the last call.

        Raises:
            DemoError: a line is changed, missing, doubled or out of order.
        """
        for text in self._new_lines():
            expected = line(self.received)
            if text != expected:
                raise DemoError(
                    f"record {self.received} should be {expected!r} but is {text!r} in {self._path}"
                )
            self.received += 1

    def rate(self) -> float:
        """Records per second over the last few seconds."""
        now = time.monotonic()
        self._history.append((now, self.received))
        while now - self._history[0][0] > _RATE_WINDOW_SECONDS and len(self._history) > 2:
            self._history.pop(0)
        (begun, before) = self._history[0]
        return (self.received - before) / max(now - begun, 0.001)

    def _new_lines(self) -> Iterator[str]:
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._position)
            for raw in file:
                if not raw.endswith(b"\n"):
                    return  # the sink is still writing this one
                self._position += len(raw)
                yield raw[:-1].decode()
