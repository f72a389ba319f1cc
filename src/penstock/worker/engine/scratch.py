"""Temporary files of Spark's JVM: a directory for each process of ours that starts one.

A killed JVM removes nothing, and the name of a `blockmgr-…` does not show its owner.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO, Final

_PREFIX: Final = "penstock-spark-"
_LOCK: Final = ".lock"


class Scratch:
    """A directory that is locked while its process lives, by a file beside it."""

    def __init__(self, parent: Path) -> None:
        self._parent = parent
        self._lock: IO[str] | None = None

    def made(self) -> Path:
        """The directory. Creating it also removes those of processes that have ended."""
        if self._lock is None:
            self._parent.mkdir(parents=True, exist_ok=True)
            remove_leftovers(self._parent)
            # The lock comes first: a directory without one may belong to another program.
            self._lock = tempfile.NamedTemporaryFile(  # noqa: SIM115 - it is held
                "w", prefix=f"{_PREFIX}{os.getpid()}-", suffix=_LOCK, dir=self._parent, delete=False
            )
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        path = _beside(Path(self._lock.name))
        path.mkdir(exist_ok=True)
        return path

    def clear(self) -> None:
        """Remove its files, after the JVM has ended."""
        if self._lock is not None:
            shutil.rmtree(_beside(Path(self._lock.name)), ignore_errors=True)

    def remove(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            with lock:
                _remove(Path(lock.name))


def remove_leftovers(parent: Path) -> None:
    """Remove the files of killed processes."""
    for path in parent.glob(f"{_PREFIX}*{_LOCK}"):
        try:
            with path.open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(path)
        except OSError:
            continue  # Its process still runs, or belongs to another user.


def _remove(lock: Path) -> None:
    shutil.rmtree(_beside(lock), ignore_errors=True)
    # A JVM that is dying may write a moment longer: then the next process removes the rest.
    if not _beside(lock).exists():
        lock.unlink(missing_ok=True)


def _beside(lock: Path) -> Path:
    return lock.with_name(lock.name.removesuffix(_LOCK))
