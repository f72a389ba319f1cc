"""Adding lines to a file, all of a batch or none of it."""

from __future__ import annotations

import fcntl
import glob
import logging
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from penstock.columns.lines import join_lines
from penstock.kernel.clock import Deadline
from penstock.kernel.errors import ConfigError, RetriableError

if TYPE_CHECKING:
    import pyarrow as pa

log = logging.getLogger(__name__)

_LOCK_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.02
_WRITE_BYTES: Final = 4 << 20


def _write(descriptor: int, block: bytes | memoryview) -> None:
    rest = memoryview(block)
    while rest:  # the kernel may cut a write short
        rest = rest[os.write(descriptor, rest) :]


def _open(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)


def _is_regular(descriptor: int) -> bool:
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


class Appending:
    """A file that is ours until the batch is written. Made by TargetFile.exclusive()."""

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = Path(path)
        self._descriptor = descriptor
        self._length = os.fstat(descriptor).st_size

    def append(self, lines: pa.Table) -> None:
        for chunk in lines.column(0).chunks:
            _write(self._descriptor, join_lines(chunk))
        self._make_durable()

    @contextmanager
    def parts(self) -> Iterator[str]:
        """A new directory for parts, on the disk that has to hold the lines anyway."""
        prefix, beside = f".{self._path.name}.parts-", self._path.parent
        # Left by a killed worker; no other task writes now.
        for left in beside.glob(f"{glob.escape(prefix)}*"):
            shutil.rmtree(left, ignore_errors=True)
        usable = _is_regular(self._descriptor) and os.access(beside, os.W_OK)
        made = tempfile.mkdtemp(prefix=prefix, dir=beside if usable else None)
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def append_parts(self, directory: str) -> None:
        """Add what Spark wrote to the directory, in the order of its partitions."""
        for part in sorted(Path(directory).glob("part-*")):
            with part.open("rb", buffering=0) as stream:
                while block := stream.read(_WRITE_BYTES):
                    _write(self._descriptor, block)
        self._make_durable()

    def take_back(self) -> None:
        """Cut the file to the length it had."""
        if _is_regular(self._descriptor):
            os.ftruncate(self._descriptor, self._length)

    def _make_durable(self) -> None:
        if _is_regular(self._descriptor):
            os.fdatasync(self._descriptor)


class TargetFile:
    """The file a sink task writes. It may be moved away or deleted between two batches."""

    def __init__(self, path: str) -> None:
        self._path = path

    def prepare(self) -> None:
        """Create the file if need be, and end its last line if a crash left it unfinished.

        Raises:
            ConfigError: it can't be written.
        """
        try:
            descriptor = _open(self._path)
        except OSError as error:
            message = f"Couldn't find or create file '{self._path}' for FileStreamSinkTask"
            raise ConfigError(f"{message}: {error}", {"file": (message,)}) from error
        try:
            # Who has it locked is writing, and ends the line.
            if _is_regular(descriptor) and _try_flock(descriptor) and self._is_unfinished():
                log.warning("File %s ended within a line; a line end was added", self._path)
                _write(descriptor, b"\n")
        finally:
            os.close(descriptor)

    def _is_unfinished(self) -> bool:
        with Path(self._path).open("rb") as stream:
            if stream.seek(0, os.SEEK_END) == 0:
                return False
            stream.seek(-1, os.SEEK_END)
            return stream.read(1) != b"\n"

    @contextmanager
    def exclusive(self, stopping: Callable[[], bool]) -> Iterator[Appending]:
        """Keep other tasks away while the block adds a batch; if it fails nothing was added.

        Raises:
            RetriableError: others kept the file for too long, or it can't be opened now.
        """
        try:
            descriptor = _open(self._path)
        except OSError as error:
            raise RetriableError(f"file {self._path} can't be opened: {error}") from error
        try:
            _wait_for(lambda: _try_flock(descriptor), stopping, self._path)
            appending = Appending(self._path, descriptor)
            try:
                yield appending
            except BaseException:
                appending.take_back()
                raise
        finally:
            os.close(descriptor)


def _wait_for(take: Callable[[], bool], stopping: Callable[[], bool], path: str) -> None:
    deadline = Deadline.after(_LOCK_SECONDS)
    while not take():
        if stopping() or deadline.expired:
            raise RetriableError(f"file {path} is being written by another process")
        time.sleep(_LOOK_SECONDS)


def _try_flock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
