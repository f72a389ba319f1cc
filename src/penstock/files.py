"""Files that are there whole or not at all, and files that only one process has."""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path
from typing import IO

from penstock.errors import SetupError


def replace_file(path: Path, data: bytes) -> None:
    """Put the data in place of the file such that any crash leaves the old or the new content."""
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
    """A file that one process at a time holds, with its pid in it. It ends with the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] | None = None

    def __reduce__(self) -> tuple[type[ProcessLock], tuple[Path]]:
        """A copy of it in another process holds nothing."""
        return ProcessLock, (self._path,)

    def acquire(self, what: str, remedy: str) -> None:
        """Hold it from now on.

        Args:
            what: what is locked, for the error.
            remedy: what else to do than to end the other process.

        Raises:
            SetupError: another process holds it, or this one by another lock.
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
        """Let others have it; the file stays, as removing it would let two hold it."""
        if self._file is not None:
            self._file.close()
            self._file = None
