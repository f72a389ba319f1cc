"""FileStreamSink: each value's text as a line of a file, or of standard output."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, BinaryIO, ClassVar, Final

from penstock.api.connector import ConnectorContext, SinkConnector
from penstock.api.plugin import CONNECT_VERSION
from penstock.api.sink import FrameSinkTask, SinkBatch, SinkContext, SinkTraits
from penstock.columns.lines import LINE_FILES, join_lines
from penstock.connectors.file.appender import Appending, TargetFile
from penstock.connectors.file.config import FileStreamSinkConfig

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from penstock.kernel.data.record import TopicPartition

log = logging.getLogger(__name__)

# So few lines are fetched and written here sooner than Spark has opened a file.
INLINE_RECORDS: Final = 1000


class FileStreamSinkTask(FrameSinkTask):
    """Adds lines to one file. Several tasks may share a file; their batches do not mix."""

    java_name: ClassVar[str] = "org.apache.kafka.connect.file.FileStreamSinkTask"
    traits = SinkTraits(pieces_per_core=1, opened_maps=True)

    def __init__(
        self, *, inline_records: int = INLINE_RECORDS, output: BinaryIO | None = None
    ) -> None:
        self._inline_records = inline_records
        self._output = output
        self._file: TargetFile | None = None

    def start(self, config: Mapping[str, str], context: SinkContext) -> None:
        path = FileStreamSinkConfig.parse(config).file
        self._context = context
        if path:
            self._file = TargetFile(path)
            self._file.prepare()

    def write(self, batch: SinkBatch) -> None:
        lines = _lines(batch)
        if self._file is None:
            _print(lines.toArrow(), self._output or sys.stdout.buffer)
            return
        with self._file.exclusive(lambda: self._context.stopping) as appending:
            if self._is_small(batch) or not _is_local(lines):
                appending.append(lines.toArrow())
            else:
                _append_in_spark(lines, appending)

    def discard(self, batch: SinkBatch) -> None:
        # write() itself takes a half-written batch back, as it holds the lock that this needs.
        del batch

    def _is_small(self, batch: SinkBatch) -> bool:
        return sum(part.end - part.start for part in batch.ranges) <= self._inline_records


def _lines(batch: SinkBatch) -> DataFrame:
    from penstock.columns.java.to_string import java_text, opened_text

    value = batch.frame["value"]
    if batch.opened is None:
        text = java_text(batch.value_schema, value)
    else:
        text = opened_text(value, batch.opened)
    return batch.frame.select(text.alias("line"))


def _append_in_spark(lines: DataFrame, appending: Appending) -> None:
    with appending.parts() as directory:
        lines.write.mode("append").options(**LINE_FILES).text(f"file://{directory}")
        appending.append_parts(directory)


def _print(lines: pa.Table, output: BinaryIO) -> None:
    output.writelines(map(join_lines, lines.column("line").chunks))
    output.flush()


def _is_local(frame: DataFrame) -> bool:
    return (frame.sparkSession.sparkContext.master or "").startswith("local")


class FileStreamSinkConnector(SinkConnector):
    """Writes the values of its topics into one file; any number of tasks."""

    java_name = "org.apache.kafka.connect.file.FileStreamSinkConnector"
    version = CONNECT_VERSION
    Config = FileStreamSinkConfig
    task_class = FileStreamSinkTask

    def start(self, config: Mapping[str, str], context: ConnectorContext) -> None:
        del context
        self._props = dict(config)
        parsed = FileStreamSinkConfig.parse(config)
        log.info("Starting file sink connector writing to %s", parsed.file or "standard output")

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self._props) for _ in range(max_tasks)]

    def alter_offsets(
        self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]
    ) -> bool:
        # Whatever the offsets, lines that are in the file stay there: nothing else to change.
        del config, offsets
        return True
