"""FileStreamSource: the lines of a file that grows, or of standard input."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from penstock.api.connector import ConnectorContext, PartitionKey, SourceConnector
from penstock.api.plugin import CONNECT_VERSION
from penstock.api.source import FrameSourceTask, SourceBatch, SourceContext
from penstock.connectors.file.config import FileStreamSourceConfig
from penstock.connectors.file.growing_file import GrowingFile, LineRange
from penstock.connectors.file.lines import read_lines, split_lines
from penstock.connectors.file.standard_input import StandardInput
from penstock.kernel.clock import SystemClock
from penstock.kernel.data.schema import STRING_SCHEMA
from penstock.kernel.errors import DataError, RetriableError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger(__name__)

_TIME: Final = "timestamp"
#: A frame made of data on the driver starts in 50 ms, one that reads a range in a Python worker
#: later; the first carries its data through the driver's heap, so it is for little data only.
INLINE_BYTES: Final = 1 << 20
#: An offset is stored after about so many lines.
STORED_LINES: Final = 100_000


class FileStreamSourceTask(FrameSourceTask):
    """Reads one file; its position is the number of bytes in front of the next line."""

    java_name: ClassVar[str] = "org.apache.kafka.connect.file.FileStreamSourceTask"
    poll_interval_seconds = 0.5

    def __init__(
        self, *, inline_bytes: int = INLINE_BYTES, lines: int = STORED_LINES, stdin: int = 0
    ) -> None:
        self._inline_bytes = inline_bytes
        self._stored_lines = lines
        self._stdin = stdin
        self._lines: GrowingFile | StandardInput | None = None
        self._ranges: RangeFrame | None = None

    def start(self, config: Mapping[str, str], context: SourceContext) -> None:
        self._config = FileStreamSourceConfig.parse(config)
        self._context = context
        if not self._config.file:
            self._lines = StandardInput(self._stdin, self._inline_bytes)
            return
        position = _stored_position(context, self._config.file)
        self._lines = GrowingFile(self._config.file, position)

    def read(self) -> SourceBatch | None:
        if isinstance(self._lines, StandardInput):
            return self._read_input(self._lines)
        assert self._lines is not None, "read() comes after start()"  # noqa: S101
        return self._read_file(self._lines)

    def explained(self, error: Exception) -> Exception:
        if "EOFError" not in str(error) and "FileNotFoundError" not in str(error):
            return error
        # The next look at the file says what became of it, and waits.
        return RetriableError(f"file {self._config.file} was cut or moved while it was read")

    def stop(self) -> None:
        if isinstance(self._lines, StandardInput):
            self._lines.close()
        if self._ranges is not None:
            self._ranges.close()

    def _read_input(self, lines: StandardInput) -> SourceBatch | None:
        data = lines.take()
        if not data:
            return None
        frame = self._inline(self._context.spark, [split_lines(data)])
        return SourceBatch(
            frame, self._config.topic, STRING_SCHEMA, more=lines.ready, repeatable=True
        )

    def _read_file(self, lines: GrowingFile) -> SourceBatch | None:
        size = lines.grown_to()
        if size is None:
            return None
        spark = self._context.spark
        found = lines.take(size, self._limit(spark, lines))
        if found is None:
            return None
        kept = found.length > self._inline_bytes and _is_local(spark)
        return SourceBatch(
            self._frame(spark, found) if kept else self._inline_range(spark, found),
            self._config.topic,
            STRING_SCHEMA,
            offsets={PartitionKey.of({"filename": found.path}): {"position": found.end}},
            more=found.more,
            kept=kept,
            repeatable=True,
        )

    def _limit(self, spark: SparkSession, lines: GrowingFile) -> int:
        """How many bytes are read at once."""
        # Executors on other machines don't have the file: it goes through here, bit by bit.
        if not _is_local(spark):
            return self._inline_bytes
        return min(self._config.chunk_bytes, lines.length_of(self._stored_lines))

    def _frame(self, spark: SparkSession, found: LineRange) -> DataFrame:
        if self._ranges is None:
            self._ranges = RangeFrame(spark, max(1, self._config.batch_size))
        return self._ranges.over(found)

    def _inline_range(self, spark: SparkSession, found: LineRange) -> DataFrame:
        return self._inline(spark, list(read_lines(found.path, found.start, found.end)))

    def _inline(self, spark: SparkSession, arrays: list[pa.Array]) -> DataFrame:
        import pyarrow as pa
        from pyspark.sql import functions as F

        table = pa.table({"value": pa.chunked_array(arrays, pa.string())})
        return spark.createDataFrame(table).coalesce(1).select("value", F.lit(_now()).alias(_TIME))


class RangeFrame:
    """A frame that is planned once and has the lines of another range each time it runs."""

    def __init__(self, spark: SparkSession, batch_rows: int) -> None:
        from pyspark.sql.types import LongType, StringType, StructType

        from penstock.columns.arrow_map import map_in_arrow

        # What is part of a plan can't change, so the plan has the name of a file that says it.
        handle, self._note = tempfile.mkstemp(prefix="penstock-range-")
        os.close(handle)
        schema = StructType().add("value", StringType()).add(_TIME, LongType())
        # One partition: the lines keep their order.
        one = spark.range(0, 1, 1, 1)
        self._frame = map_in_arrow(one, RangeReader(self._note, batch_rows), schema)

    def over(self, found: LineRange) -> DataFrame:
        """The frame, which has these lines until the next call."""
        note = {"path": found.path, "start": found.start, "end": found.end, "millis": _now()}
        Path(self._note).write_text(json.dumps(note))
        return self._frame

    def close(self) -> None:
        Path(self._note).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class RangeReader:
    """The Arrow kernel that reads the range of the note; runs in Spark's Python workers."""

    note: str
    batch_rows: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for _ in batches:
            pass
        note = json.loads(Path(self.note).read_text())
        times = pa.repeat(pa.scalar(note["millis"], pa.int64()), self.batch_rows)
        for lines in read_lines(note["path"], note["start"], note["end"]):
            for first in range(0, len(lines), self.batch_rows):
                some = lines.slice(first, self.batch_rows)
                columns = [some, times.slice(0, len(some))]
                yield pa.RecordBatch.from_arrays(columns, names=["value", _TIME])


class FileStreamSourceConnector(SourceConnector):
    """Brings the lines of one file into one topic, with one task."""

    java_name = "org.apache.kafka.connect.file.FileStreamSourceConnector"
    version = CONNECT_VERSION
    Config = FileStreamSourceConfig
    task_class = FileStreamSourceTask

    def start(self, config: Mapping[str, str], context: ConnectorContext) -> None:
        del context
        self._props = dict(config)
        parsed = FileStreamSourceConfig.parse(config)
        log.info("Starting file source connector reading from %s", parsed.file or "standard input")

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        del max_tasks  # A file is read from front to back, by one.
        return [dict(self._props)]

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Mapping[PartitionKey, Mapping[str, Any] | None],
    ) -> bool:
        if not FileStreamSourceConfig.parse(config).file:
            raise DataError(
                "Offsets cannot be modified if the 'file' configuration is unspecified. This is"
                " because stdin is used for input and offsets are not tracked."
            )
        for partition, offset in offsets.items():
            if offset is not None:
                _check_offset(dict(partition), offset)
        return True

    def exactly_once_supported(self, config: Mapping[str, str]) -> bool | None:
        return bool(FileStreamSourceConfig.parse(config).file)


def _check_offset(partition: Mapping[str, Any], offset: Mapping[str, Any]) -> None:
    # The texts are Kafka's: they come back as the answer of the REST API.
    if "position" not in offset:
        raise DataError("Offset objects should either be null or contain the key 'position'")
    position = offset["position"]
    if not isinstance(position, int) or isinstance(position, bool):
        raise DataError(
            "The value for the 'position' key in the offset is expected to be a Long value"
        )
    if position < 0:
        raise DataError(
            "The value for the 'position' key in the offset should be a non-negative value"
        )
    if "filename" not in partition:
        raise DataError("Partition objects should contain the key 'filename'")


def _stored_position(context: SourceContext, path: str) -> int:
    position = (context.offset({"filename": path}) or {}).get("position")
    if position is None:
        return 0
    if not isinstance(position, int) or isinstance(position, bool):
        raise DataError(
            f"the stored offset of file {path} is {position!r}, not a number of bytes;"
            " stop the connector and set or reset its offsets"
        )
    return position


def _now() -> int:
    return SystemClock().wall_ms()


def _is_local(spark: SparkSession) -> bool:
    return (spark.sparkContext.master or "").startswith("local")
