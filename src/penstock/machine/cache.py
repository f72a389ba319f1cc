"""The directory that keeps fetched jars and our own Java home between runs."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from penstock.kernel.clock import Deadline
from penstock.kernel.errors import DeadlineExceededError

_LOCK_POLL_SECONDS = 0.1


def cache_home(environ: Mapping[str, str] | None = None) -> Path:
    """`PENSTOCK_HOME` if set, else the user's cache directory. Not created by this call."""
    environ = os.environ if environ is None else environ
    if chosen := environ.get("PENSTOCK_HOME"):
        return Path(chosen).expanduser().absolute()
    base = environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "penstock"


@contextmanager
def locked(path: Path, timeout_seconds: float) -> Iterator[None]:
    """Hold the lock file for the block; other processes wait for it.

    The system drops the lock when its holder dies, so a crash leaves nothing to clean up.

    Raises:
        DeadlineExceededError: another process kept the lock for longer than the timeout.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as handle:
        _acquire(handle.fileno(), path, timeout_seconds)
        yield


def _acquire(descriptor: int, path: Path, timeout_seconds: float) -> None:
    deadline = Deadline.after(timeout_seconds)
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if deadline.expired:
                message = f"another process held {path} for {timeout_seconds:.0f} s"
                raise DeadlineExceededError(message) from error
            time.sleep(_LOCK_POLL_SECONDS)
        else:
            return
