"""Keeps a cluster equal to its files."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from penstock.kernel.clock import Clock, SystemClock
from penstock.kernel.errors import PenstockError
from penstock.tools.client import Client
from penstock.tools.manager.applying import PARALLEL, Report, apply
from penstock.tools.manager.changes import DEFAULT_PROJECT, Plan, compare
from penstock.tools.manager.cluster import read_cluster
from penstock.tools.manager.connector import Connectors
from penstock.tools.manager.files import load, watched_files

_STEADY_SECONDS: Final = 1.0


@dataclass(slots=True, kw_only=True)
class Watch:
    """Compares files and cluster at intervals, and applies the differences.

    A broken file changes nothing. The same problem is not reported twice in a row.
    """

    client: Client
    paths: Sequence[Path]
    project: str = DEFAULT_PROJECT
    prune: bool = False
    adopt: bool = False
    only: Sequence[str] = ()
    parallel: int = PARALLEL
    planned: Callable[[Plan], None] = lambda _: None
    applied: Callable[[Report], None] = lambda _: None
    complained: Callable[[str], None] = lambda _: None
    recovered: Callable[[], None] = lambda: None
    _seen: str = field(default="", init=False)
    _read: tuple[str, Connectors] | None = field(default=None, init=False)
    _last_plan: dict[str, Any] | None = field(default=None, init=False)
    _last_complaint: str | None = field(default=None, init=False)

    def run(self, stopped: threading.Event, interval: float, clock: Clock | None = None) -> None:
        """Compare every `interval` seconds until the event is set; finishes a change under way."""
        clock = clock or SystemClock()
        while not stopped.is_set():
            steady = self.look()
            clock.wait(stopped, interval if steady else min(interval, _STEADY_SECONDS))

    def look(self) -> bool:
        """Compare once, and apply the differences; False, without a change, if files just changed.

        Copying files or switching a branch takes a while: a change counts once two looks in a
        row see the same files.
        """
        now = fingerprint(self.paths)
        steady = now == self._seen
        self._seen = now
        if steady:
            self._look_at(now)
        return steady

    def _look_at(self, files: str) -> None:
        try:
            failures = self._failures(files)
        except PenstockError as error:
            self._complain(str(error))
            return
        if failures:
            self._complain(failures)
        elif self._last_complaint is not None:
            self._last_complaint = None
            self.recovered()

    def _failures(self, files: str) -> str:
        """Plan and apply. Returns the failures, a line each."""
        wanted = self._connectors(files)
        cluster = read_cluster(self.client, wanted.values())
        plan = compare(
            wanted,
            cluster,
            project=self.project,
            prune=self.prune,
            adopt=self.adopt,
            only=self.only,
        )
        shown = plan.to_json() if plan.pending else None
        is_new, self._last_plan = shown != self._last_plan, shown
        if shown is None:
            return ""
        if is_new:
            self.planned(plan)
        report = apply(plan, self.client, parallel=self.parallel)
        if is_new or (report.ok and self._last_complaint is not None):
            self.applied(report)
        return "\n".join(
            f"{each.change.name}: {each.error}" for each in report.outcomes if each.error
        )

    def _connectors(self, files: str) -> Connectors:
        """The connectors of the files, which are read again only after a change."""
        if self._read is None or self._read[0] != files:
            self._read = (files, load(self.paths))
        return self._read[1]

    def _complain(self, text: str) -> None:
        if text != self._last_complaint:
            self.complained(text)
        self._last_complaint = text


def fingerprint(paths: Iterable[Path]) -> str:
    """Changes when a file does: names and contents, also of modules that only others import."""
    digest = hashlib.sha256()
    for file in watched_files(paths):
        digest.update(f"\0{file}\0".encode())
        try:
            digest.update(file.read_bytes())
        except OSError as error:
            digest.update(str(error.errno).encode())
    return digest.hexdigest()
