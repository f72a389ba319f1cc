"""The processes below a process, for tests that kill children and look for orphans."""

from __future__ import annotations

import os
from pathlib import Path

from penstock.testing.waiting import eventually


def descendants(pid: int) -> set[int]:
    """Every living process below this one."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        fields = _fields(entry)
        if fields and fields[0] != "Z":
            children.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found.update(below)
        waiting += below
    return found


def parent(pid: int) -> int | None:
    """The parent of this process; None if the process has ended."""
    fields = _fields(Path(f"/proc/{pid}/stat"))
    return int(fields[1]) if fields else None


def alive(pids: set[int]) -> set[int]:
    """Those that still run, without zombies."""
    states = {pid: _fields(Path(f"/proc/{pid}/stat")) for pid in pids}
    return {pid for pid, fields in states.items() if fields and fields[0] != "Z"}


def await_end(pids: set[int]) -> None:
    """Wait until none of them runs."""
    eventually(lambda: alive(pids), lambda left: not left)


def cpu_seconds(pids: set[int]) -> float:
    """The processor time these have used so far, in user and system mode."""
    ticks = 0
    for pid in pids:
        fields = _fields(Path(f"/proc/{pid}/stat"))
        if fields:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def tree_cpu_seconds(pid: int) -> float:
    """The processor time of a process and of all below it, including those that have ended.

    Not included are those killed together with their parent: no process counts them.
    """
    ticks = 0
    for each in {pid} | descendants(pid):
        fields = _fields(Path(f"/proc/{each}/stat"))
        if fields:
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def _fields(stat: Path) -> list[str]:
    # The program's name is in parentheses and may contain anything; the state follows it.
    try:
        return stat.read_text().rpartition(")")[2].split()
    except OSError:
        return []
