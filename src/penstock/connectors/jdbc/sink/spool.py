"""Rows as text files on the driver's disk: made by all cores, loaded in order as they are done.

One connection then loads them, so that everything of a batch is in one transaction. A file is
loaded while the next ones are being made.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from penstock.connectors.jdbc.sink.text_rows import text_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_LOOK_SECONDS: Final = 0.01
_PREFIX: Final = "penstock-jdbc-sink-"


@dataclass(frozen=True, slots=True)
class Part:
    """A file of rows."""

    path: Path
    rows: int


@dataclass(frozen=True, slots=True)
class PartWriter:
    """The Arrow kernel that writes a Spark partition's rows to a part of its own.

    Runs in Spark's Python workers. A part gets its name when it is complete.
    """

    directory: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        from pyspark import TaskContext

        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        rows = _write_part(self.directory, number, batches)
        yield pa.RecordBatch.from_arrays([pa.array([rows], pa.int64())], names=["rows"])


def _write_part(directory: str, number: int, batches: Iterator[pa.RecordBatch]) -> int:
    rows = 0
    with tempfile.NamedTemporaryFile(dir=directory, delete=False) as part:
        for batch in batches:
            part.write(text_rows(batch))
            rows += batch.num_rows
    Path(part.name).rename(_part_path(directory, number, rows))
    return rows


def _part_path(directory: str, number: int, rows: int) -> Path:
    return Path(directory) / f"part-{number}-{rows}"


def load_few(rows: pa.Table, load: Callable[[Part], None]) -> int:
    """As load_parts(), for rows that are here already."""
    with _directory() as directory:
        count = _write_part(directory, 0, iter(rows.to_batches()))
        return _loaded(Part(_part_path(directory, 0, count), count), load)


def load_parts(frame: DataFrame, load: Callable[[Part], None]) -> int:
    """Hand over all parts of the frame in order, each when it is made; the number of their rows.

    Args:
        frame: the rows in columns that text_rows() takes.
        load: called for each part, on this thread; the part is gone afterwards.
    """
    with _directory() as directory:
        job = _making_parts(frame, directory)
        total = sum(_loaded(part, load) for part in _parts(Path(directory), job))
        expected = job.result()
    if total != expected:
        raise RuntimeError(f"{expected} rows were made, {total} loaded")
    return total


def _making_parts(frame: DataFrame, directory: str) -> Future[int]:
    """A Spark job beside this thread, in its job group; how many rows it made."""
    from pyspark import InheritableThread
    from pyspark.sql.types import LongType, StructType

    from penstock.columns.arrow_map import map_in_arrow

    made: Future[int] = Future()
    named = StructType().add("rows", LongType())
    parts = map_in_arrow(frame, PartWriter(directory), named)

    def run() -> None:
        try:
            made.set_result(sum(row.rows for row in parts.collect()))
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits
            made.set_exception(error)

    InheritableThread(target=run, name="jdbc-sink-parts", daemon=True).start()
    return made


def _parts(directory: Path, job: Future[int]) -> Iterator[Part]:
    number = 0
    while True:
        done = job.done()
        found = next(directory.glob(f"part-{number}-*"), None)
        if found is not None:
            yield Part(found, int(found.name.rpartition("-")[2]))
            number += 1
        elif done:
            job.result()
            return
        else:
            wait([job], _LOOK_SECONDS)


def _loaded(part: Part, load: Callable[[Part], None]) -> int:
    try:
        if part.rows:
            load(part)
    finally:
        part.path.unlink(missing_ok=True)
    return part.rows


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
