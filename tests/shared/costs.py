"""What a run costs: processes that it starts, processor time of each level, the slowest tests."""

from __future__ import annotations

import os
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from penstock.testing.processes import parent, tree_cpu_seconds

LEVELS: Final = ("unit", "spark", "kafka", "cluster", "proofs")
SLOWEST: Final = 20
_LOOK_SECONDS: Final = 0.5
_WORKER_COMMANDS: Final = {b"distributed", b"standalone", b"up", b"demo"}


def level_of(nodeid: str) -> str:
    """The folder below `tests` that a test is in."""
    return nodeid.split("/")[1] if nodeid.startswith("tests/") else ""


class ProcessWatch:
    """Looks twice a second for new processes below this one, and counts JVMs and workers.

    Those that live shorter are not seen; what such a process costs is not worth counting.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._settled: set[int] = set()
        self._new: set[int] = set()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="process-watch", daemon=True)

    def start(self) -> None:
        self._settled = set(_pids())
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK_SECONDS):
            self._look()

    def _look(self) -> None:
        now = set(_pids())
        self._settled &= now
        # A process is looked at twice: at the first time it may not have become its program yet.
        for pid in now - self._settled:
            if (kind := _kind(pid)) and _is_below(pid, os.getpid()):
                self.counts[kind] += 1
                self._settled.add(pid)
        self._settled |= self._new
        self._new = now - self._settled


def _pids() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _command(pid: int | None) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def _is_java(command: Sequence[bytes]) -> bool:
    return bool(command) and Path(os.fsdecode(command[0])).name == "java"


def _kind(pid: int) -> str | None:
    command = _command(pid)
    if _is_java(command):
        # A child that a JVM has forked to start a program is one for a moment.
        return None if _is_java(_command(parent(pid))) else "JVMs"
    is_worker = b"penstock" in command[:3] and _WORKER_COMMANDS & {*command[3:4]}
    return "workers" if is_worker else None


def _is_below(pid: int | None, ancestor: int) -> bool:
    while pid and pid != ancestor:
        pid = parent(pid)
    return pid == ancestor


class LevelCosts:
    """The processor time of this process and its children, by the level that it is at.

    `elsewhere` is what is accounted for in another place: that of shared servers.
    """

    def __init__(self, elsewhere: Callable[[], float] = lambda: 0.0) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._elsewhere = elsewhere
        self._level = ""
        self._mark = 0.0

    def enter(self, level: str) -> None:
        """What comes now is for this level; nothing is read while it stays the same."""
        if level != self._level:
            self.charge()
            self._level = level

    def charge(self) -> None:
        """What was used since the last time is for the level that ends."""
        now = tree_cpu_seconds(os.getpid()) - self._elsewhere()
        self.seconds[self._level or "start"] += max(0.0, now - self._mark)
        self._mark = now


def minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def summary(
    counts: Mapping[str, int],
    levels: Mapping[str, float],
    servers: Mapping[str, float],
    tests: Mapping[str, float],
) -> Iterator[str]:
    """The lines at the end of a run."""
    started = ", ".join(f"{counts.get(kind, 0)} {kind}" for kind in ("JVMs", "workers"))
    yield f"started: {started}"
    shared = {f"shared {name}": used for name, used in servers.items()}
    total = sum(levels.values()) + sum(shared.values())
    yield f"processor time {minutes(total)} min: " + ", ".join(
        f"{name} {minutes(used)}" for name, used in [*sorted(levels.items()), *shared.items()]
    )
    slowest = sorted(tests.items(), key=lambda item: item[1], reverse=True)[:SLOWEST]
    yield from (f"{seconds:7.1f} s  {nodeid}" for nodeid, seconds in slowest)
