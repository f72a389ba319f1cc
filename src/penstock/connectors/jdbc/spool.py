"""Rows as text files on the driver's disk: made by all cores, loaded in order as they are done.

One connection then loads them, so that everything of a batch is in one transaction. A file is
loaded while the next ones are being made.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from penstock.columns.lines import LINE_FILES, join_lines
from penstock.kernel.errors import RefusedError, SessionLostError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_LOOK_SECONDS: Final = 0.01
_CANCEL_SECONDS: Final = 5.0
_READ_BYTES: Final = 1 << 20
_PREFIX: Final = "penstock-jdbc-sink-"
_WRITER: Final = {
    **LINE_FILES,
    # A task's file gets its place and name when the task is done, not when the job is.
    "mapreduce.fileoutputcommitter.algorithm.version": "2",
}

Load = Callable[[Path], int]
"""Loads a file of lines; how many rows that were."""


def load_few(lines: pa.Table, load: Load) -> int:
    """As load_parts(), for lines that are here already."""
    with _directory() as directory:
        part = Path(directory) / "part-00000"
        with part.open("wb") as stream:
            stream.writelines(map(join_lines, lines.column(0).chunks))
        return load(part) if lines.num_rows else 0


def load_parts(lines: DataFrame, load: Load) -> int:
    """Load the lines of a frame in the order of its partitions; how many there were.

    Args:
        lines: one column of text.
        load: called for each file when it is complete, on this thread.
    """
    with _directory() as directory:
        job = _start_writing(lines, directory)
        total = 0
        try:
            for part in _parts(Path(directory), job):
                total += _loaded(part, load)
        except RefusedError as error:
            job.cancel()
            raise RefusedError(
                str(error), None if error.row is None else total + error.row
            ) from None
        except BaseException:
            job.cancel()
            raise
        return total


def count_lines(path: Path) -> int:
    with path.open("rb", buffering=0) as stream:
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(_READ_BYTES), b""))


@dataclass(frozen=True, slots=True)
class WritingJob:
    """A Spark job that writes part files, on a thread of its own."""

    thread: threading.Thread
    done: Future[None]
    stop: Callable[[], None] = lambda: None

    def cancel(self) -> None:
        """Its files are of no use any more; a job that is not yet planned may go on."""
        if not self.done.done():
            self.stop()
            wait([self.done], _CANCEL_SECONDS)

    def check(self) -> None:
        """Raise if there will be no result: Spark's JVM died before the job could begin."""
        if not self.thread.is_alive() and not self.done.done():
            raise SessionLostError("the Spark JVM died before a batch could begin")


def _start_writing(lines: DataFrame, directory: str) -> WritingJob:
    """A Spark job beside this thread, in its job group."""
    from pyspark import InheritableThread

    written: Future[None] = Future()
    context, tag = lines.sparkSession.sparkContext, f"parts-{uuid.uuid4().hex}"

    def run() -> None:
        try:
            context.addJobTag(tag)
            lines.write.mode("append").options(**_WRITER).text(f"file://{directory}")
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits
            written.set_exception(error)
        else:
            written.set_result(None)

    thread = InheritableThread(target=run, name="jdbc-sink-parts", daemon=True)
    thread.start()
    return WritingJob(thread, written, lambda: context.cancelJobsWithTag(tag))


def _parts(directory: Path, job: WritingJob) -> Iterator[Path]:
    """The files in their order; a partition without rows may have none."""
    number = 0
    while not job.done.done():
        found = next(directory.glob(f"part-{number:05d}-*"), None)
        if found is None:
            wait([job.done], _LOOK_SECONDS)
            job.check()
            continue
        yield found
        number += 1
    job.done.result()
    yield from sorted(directory.glob("part-*"))


def _loaded(part: Path, load: Load) -> int:
    try:
        return load(part) if part.stat().st_size else 0
    finally:
        part.unlink()


@contextmanager
def _directory() -> Iterator[str]:
    made = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def remove_leftovers() -> None:
    """Remove what workers that were killed left on the disk."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        process = left.name.removeprefix(_PREFIX).partition("-")[0]
        if process.isdigit() and not Path(f"/proc/{process}").exists():
            shutil.rmtree(left, ignore_errors=True)
