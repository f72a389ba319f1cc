"""FileStreamSource: the lines of a file that grows, or of standard input."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from penstock.api.connector import ConnectorContext, PartitionKey, SourceConnector
from penstock.api.plugin import CONNECT_VERSION
from penstock.api.source import FrameSourceTask, SourceBatch, SourceContext
from penstock.connectors.file.config import FileStreamSourceConfig
from penstock.connectors.file.growing_file import GrowingFile, LineRange
from penstock.connectors.file.lines import read_lines, split_lines
from penstock.connectors.file.standard_input import StandardInput
from penstock.data.schema import STRING_SCHEMA
from penstock.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger(__name__)

# A frame made of data on the driver starts in 50 ms, one that reads a range in Python workers in
# 200 ms; the first carries its data through the driver's heap, so it is for little data only.
INLINE_BYTES: Final = 1 << 20
CHUNK_BYTES: Final = 128 << 20


class FileStreamSourceTask(FrameSourceTask):
    """Reads one file; its position is the number of bytes in front of the next line."""

    java_name: ClassVar[str] = "org.apache.kafka.connect.file.FileStreamSourceTask"
    poll_interval_seconds = 0.5

    def __init__(
        self, *, inline_bytes: int = INLINE_BYTES, chunk_bytes: int = CHUNK_BYTES, stdin: int = 0
    ) -> None:
        self._inline_bytes = inline_bytes
        self._chunk_bytes = chunk_bytes
        self._stdin = stdin
        self._lines: GrowingFile | StandardInput | None = None

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

    def stop(self) -> None:
        if isinstance(self._lines, StandardInput):
            self._lines.close()

    def _read_input(self, lines: StandardInput) -> SourceBatch | None:
        data = lines.take()
        if not data:
            return None
        frame = self._inline(self._context.spark, [split_lines(data)])
        return SourceBatch(frame, self._config.topic, STRING_SCHEMA, more=lines.ready)

    def _read_file(self, lines: GrowingFile) -> SourceBatch | None:
        size = lines.grown_to()
        if size is None:
            return None
        spark = self._context.spark
        # Executors on other machines don't have the file: it goes through here, bit by bit.
        found = lines.take(size, self._chunk_bytes if _is_local(spark) else self._inline_bytes)
        if found is None:
            return None
        return SourceBatch(
            self._frame(spark, found),
            self._config.topic,
            STRING_SCHEMA,
            offsets={PartitionKey.of({"filename": found.path}): {"position": found.end}},
            more=found.more,
        )

    def _frame(self, spark: SparkSession, found: LineRange) -> DataFrame:
        if found.length <= self._inline_bytes or not _is_local(spark):
            return self._inline(spark, list(read_lines(found.path, found.start, found.end)))
        from pyspark.sql.types import StringType, StructType

        from penstock.columns.arrow_map import map_in_arrow

        kernel = RangeReader(found.path, found.start, found.end, max(1, self._config.batch_size))
        schema = StructType().add("value", StringType())
        # One partition: the lines keep their order.
        return self._timed(map_in_arrow(spark.range(0, 1, 1, 1), kernel, schema))

    def _inline(self, spark: SparkSession, arrays: list[pa.Array]) -> DataFrame:
        import pyarrow as pa

        table = pa.table({"value": pa.chunked_array(arrays, pa.string())})
        return self._timed(spark.createDataFrame(table).coalesce(1))

    @staticmethod
    def _timed(frame: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        return frame.select("value", F.lit(time.time_ns() // 1_000_000).alias("timestamp"))


@dataclass(frozen=True, slots=True)
class RangeReader:
    """The Arrow kernel that reads a range; runs in Spark's Python workers."""

    path: str
    start: int
    end: int
    batch_rows: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for _ in batches:
            pass
        for lines in read_lines(self.path, self.start, self.end):
            for first in range(0, len(lines), self.batch_rows):
                yield pa.RecordBatch.from_arrays(
                    [lines.slice(first, self.batch_rows)], names=["value"]
                )


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


def _is_local(spark: SparkSession) -> bool:
    return (spark.sparkContext.master or "").startswith("local")
