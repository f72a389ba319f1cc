"""Five hundred connectors from files: how long plan, apply and a list of them take."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from bench.lab import PENSTOCK, SOURCE, BenchError, Lab
from bench.report import Result
from penstock import manager
from penstock.client import Client

CONNECTORS = 500
_PER_FILE = 50

T = TypeVar("T")


def many_connectors(lab: Lab) -> Result:
    result = Result(
        "manager", f"{CONNECTORS} paused connectors from {CONNECTORS // _PER_FILE} files"
    )
    directory = lab.directory / "connectors"
    _write_files(directory)
    with lab.workers() as workers:
        for worker in workers:
            with Client(worker.process.url) as client:
                seconds = _measure(client, directory)
            result.figures |= {f"{worker.name}: {what}, s": took for what, took in seconds.items()}
            if worker.name == PENSTOCK:
                result.at_most("plan of new ones, s", seconds["plan, all new"], 3)
                result.at_most("apply, s", seconds["apply"], 60)
                result.at_most("plan, s", seconds["plan, all the same"], 3)
                result.at_most("list, s", seconds["list"], 1)
    result.at_most("penstock --help, s", _median_help(), 0.3)
    return result


def _median_help() -> float:
    """The command starts anew each time; the first one has files to read."""
    return statistics.median(_help_seconds() for _ in range(9))


def _help_seconds() -> float:
    command = [sys.executable, "-m", "penstock", "--help"]
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return time.perf_counter() - begun


def _measure(client: Client, directory: Path) -> dict[str, float]:
    seconds: dict[str, float] = {}

    def timed(what: str, work: Callable[[], T]) -> T:
        begun = time.perf_counter()
        found = work()
        seconds[what] = time.perf_counter() - begun
        return found

    plan = timed("plan, all new", lambda: manager.plan(client, manager.load(directory)))
    timed("validate", lambda: manager.validate(plan, client))
    report = timed("apply", lambda: manager.apply(plan, client))
    if not report.ok or len(report.outcomes) != CONNECTORS:
        raise BenchError(f"{len(report.of(manager.Result.DONE))} connectors were created")
    again = timed("plan, all the same", lambda: manager.plan(client, manager.load(directory)))
    if len(again.pending) > CONNECTORS // 10:
        raise BenchError(f"{len(again.pending)} connectors are not as wanted after the apply")
    timed("list", client.expanded)
    timed("names", client.connectors)
    prune = manager.plan(client, manager.Connectors(), prune=True)
    timed("delete", lambda: manager.apply(prune, client))
    return seconds


def _write_files(directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    defaults = f"defaults:\n  connector.class: {SOURCE}\n  tasks.max: 1\nconnectors:\n"
    for first in range(0, CONNECTORS, _PER_FILE):
        entries = (
            f"  many-{number:03d}:\n    state: paused\n    config:\n"
            f"      file: {directory / f'{number}.txt'}\n      topic: many-{number % 7}\n"
            for number in range(first, first + _PER_FILE)
        )
        (directory / f"many-{first:03d}.yaml").write_text(defaults + "".join(entries))
