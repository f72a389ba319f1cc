"""Atomic replacement of files, and lock files."""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path
from typing import IO

from penstock.kernel.errors import SetupError


def replace_file(path: Path, data: bytes) -> None:
    """Replace the file's content; a crash leaves either the old or the new content."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            temporary.chmod(path.stat().st_mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


class ProcessLock:
    """A lock file that one process at a time holds, with its pid; released when it ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] | None = None

    def __reduce__(self) -> tuple[type[ProcessLock], tuple[Path]]:
        """Pickle without the lock: a copy in another process holds nothing."""
        return ProcessLock, (self._path,)

    def acquire(self, what: str, remedy: str) -> None:
        """Take the lock.

        Args:
            what: what is locked, for the error.
            remedy: what a user can do instead of ending the other process.

        Raises:
            SetupError: another process holds it, or another ProcessLock of this one.
        """
        if self._file is not None:
            return
        file = self._path.open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = self._path.read_text().strip() or "another"
            file.close()
            raise SetupError(
                f"{what} is in use by process {holder}; end that (kill {holder}), or {remedy}"
            ) from error
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        self._file = file

    def release(self) -> None:
        """Release the lock; the file stays, because after a removal two could hold it."""
        if self._file is not None:
            self._file.close()
            self._file = None
