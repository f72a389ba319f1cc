"""What a task has moved since it started; counted by batch."""

from __future__ import annotations

import threading


class TaskProgress:
    """Counters of one task; written on its thread, read from any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._records = 0
        self._batches = 0

    def moved(self, records: int) -> None:
        with self._lock:
            self._records += records
            self._batches += 1

    @property
    def records(self) -> int:
        with self._lock:
            return self._records

    @property
    def batches(self) -> int:
        with self._lock:
            return self._batches
