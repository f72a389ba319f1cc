"""What a process and all its descendants use, read from /proc."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_TICKS = os.sysconf("SC_CLK_TCK")
_MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU since the processes began, and memory now.

    `rss_mb` counts a page that two processes share twice, `pss_mb` once.
    """

    cpu_seconds: float
    rss_mb: float
    pss_mb: float


def tree(root: int) -> list[int]:
    """The process and its descendants, children before grandchildren."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (parent := _parent(int(entry.name))) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    found = [root]
    for pid in found:
        found.extend(children.get(pid, []))
    return found


def cpu_seconds(root: int) -> float:
    """CPU of the tree so far. Descendants that ended count where their parent waited for them."""
    return sum(_cpu(pid) for pid in tree(root))


def own_cpu_seconds() -> float:
    """CPU of this process and, whole trees of them, of its children that have ended."""
    return sum(os.times()[:4])


def usage(root: int) -> Usage:
    pids = tree(root)
    memory = [_memory(pid) for pid in pids]
    return Usage(
        sum(map(_cpu, pids)),
        sum(rss for rss, _ in memory) / _MB,
        sum(pss for _, pss in memory) / _MB,
    )


class PeakMemory:
    """Looks at a tree's memory four times a second while the block runs."""

    def __init__(self, root: int) -> None:
        self.rss_mb = 0.0
        self.pss_mb = 0.0
        self._root = root
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="peak-memory", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(5)

    def _run(self) -> None:
        while not self._stop.wait(0.25):
            now = usage(self._root)
            self.rss_mb = max(self.rss_mb, now.rss_mb)
            self.pss_mb = max(self.pss_mb, now.pss_mb)


def load() -> str:
    """The machine's load, so that a figure taken on a busy one is seen to be so."""
    return " ".join(f"{each:.1f}" for each in os.getloadavg())


def cpu_over(root: int, seconds: float) -> float:
    """Per cent of one core that the tree uses during the next seconds."""
    before, started = cpu_seconds(root), time.monotonic()
    time.sleep(seconds)
    return 100 * (cpu_seconds(root) - before) / (time.monotonic() - started)


def _stat(pid: int) -> list[str]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return []  # It ended.
    return text.rpartition(")")[2].split()


def _parent(pid: int) -> int | None:
    stat = _stat(pid)
    return int(stat[1]) if stat else None


def _cpu(pid: int) -> float:
    stat = _stat(pid)
    return sum(map(int, stat[11:15])) / _TICKS if stat else 0.0


def _memory(pid: int) -> tuple[int, int]:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0, 0
    sizes = {line.split(":")[0]: line.split()[1] for line in text.splitlines()[1:]}
    return 1024 * int(sizes.get("Rss", 0)), 1024 * int(sizes.get("Pss", 0))
