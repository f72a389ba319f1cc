"""One run of a worker: how many records in which time, with how much CPU and memory."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench.processes import PeakMemory, cpu_seconds


@dataclass(slots=True)
class Run:
    """The figures of one run; complete after the block of measured()."""

    worker: str
    records: int
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_rss_mb: float = 0.0
    peak_pss_mb: float = 0.0

    @property
    def rate(self) -> float:
        return self.records / self.seconds

    @property
    def cpu_per_million(self) -> float:
        return self.cpu_seconds / self.records * 1e6

    def as_dict(self) -> dict[str, object]:
        return {
            "worker": self.worker,
            "records": self.records,
            "seconds": round(self.seconds, 2),
            "rows_per_second": round(self.rate),
            "cpu_seconds_per_million": round(self.cpu_per_million, 2),
            "peak_rss_mb": round(self.peak_rss_mb),
            "peak_pss_mb": round(self.peak_pss_mb),
        }


@contextmanager
def measured(worker: str, pid: int, records: int) -> Iterator[Run]:
    run = Run(worker, records)
    with PeakMemory(pid) as memory:
        before, started = cpu_seconds(pid), time.monotonic()
        yield run
        run.seconds = time.monotonic() - started
        run.cpu_seconds = cpu_seconds(pid) - before
    run.peak_rss_mb, run.peak_pss_mb = memory.rss_mb, memory.pss_mb


def median(values: list[float]) -> float:
    return percentile(values, 50)


def percentile(values: list[float], share: float) -> float:
    """The smallest value that at least `share` per cent of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * share / 100) - 1)]
