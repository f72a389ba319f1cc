"""The file connectors on a real Spark session."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from penstock.api import OffsetRange, PartitionKey, SinkBatch, SourceBatch
from penstock.connectors.file.sink import FileStreamSinkTask
from penstock.connectors.file.source import FileStreamSourceTask
from penstock.kernel.data import TopicPartition
from penstock.kernel.data.schema import STRING_SCHEMA
from penstock.kernel.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Context:
    """What the runtime would offer."""

    stopping = False
    stores_parts = True

    def __init__(self, spark: SparkSession, offsets: Mapping[str, int] | None = None) -> None:
        self.spark = spark
        self._offsets = offsets or {}

    def topic_ids(self, topics: Collection[str]) -> Mapping[str, str]:
        raise AssertionError(f"a file keeps no offsets; {topics} were asked for")

    def offset(self, partition: Mapping[str, Any]) -> Mapping[str, Any] | None:
        position = self._offsets.get(partition["filename"])
        return None if position is None else {"position": position}

    def show(self, name: str, figure: int) -> None:
        raise AssertionError(f"{name}={figure}: a file has no figures")


def source(
    spark: SparkSession, path: Path, position: int = 0, **sizes: int
) -> FileStreamSourceTask:
    task = FileStreamSourceTask(**sizes)
    task.start({"file": str(path), "topic": "t"}, Context(spark, {str(path): position}))
    return task


def values(batch: SourceBatch | None) -> list[str]:
    assert batch is not None
    return [row.value for row in batch.frame.collect()]


def position(batch: SourceBatch | None, path: Path) -> int:
    assert batch is not None
    offset = batch.offsets[PartitionKey.of({"filename": str(path)})]
    assert offset is not None
    found = offset["position"]
    assert isinstance(found, int)
    return found


def test_small_appends_and_resume(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes("eins\nzwö\r\ndrei\rvier".encode())
    task = source(spark, path)

    first = task.read()

    assert values(first) == ["eins", "zwö", "drei"]
    assert position(first, path) == len("eins\nzwö\r\ndrei\r".encode())
    assert first is not None
    assert not first.more
    assert task.read() is None
    with path.open("ab") as stream:
        stream.write(b"!\nlast")
    assert values(task.read()) == ["vier!"]
    assert values(source(spark, path, position(first, path)).read()) == ["vier!"]


def test_ranges_are_read_by_spark_in_order(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    lines = [f"line {number} ☃ {'x' * (number % 90)}" for number in range(60_000)]
    path.write_text("\n".join(lines) + "\nrest", encoding="utf-8")
    task = source(spark, path, inline_bytes=100, lines=20_000)
    read: list[list[str]] = []
    frames = set()
    while (batch := task.read()) is not None:
        assert batch.frame.rdd.getNumPartitions() == 1
        assert batch.kept
        frames.add(batch.frame)
        read.append(values(batch))
    assert [line for part in read for line in part] == lines
    assert all(18_000 < len(part) < 22_000 for part in read[:2])
    # One frame, so that it is planned once.
    assert len(frames) == 1
    task.stop()


def test_a_chunk_has_no_more_bytes_than_the_setting_says(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "in.txt"
    path.write_text("0123456789\n" * 100)
    task = FileStreamSourceTask()
    task.start({"file": str(path), "topic": "t", "chunk.bytes": "400"}, Context(spark))
    assert [len(values(task.read())) for _ in range(3)] == [36, 36, 28]


def test_a_line_of_unknown_length_does_not_stop_the_estimate(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "in.txt"
    path.write_text("x" * 100_000 + "\nend\n")
    assert [len(line) for line in values(source(spark, path).read())] == [100_000, 3]
    path.write_text("\n" * 30)
    assert values(source(spark, path, lines=20).read()) == [""] * 20


def test_a_batch_does_not_change_when_the_file_grows(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_text("a\nb\n" * 200)
    batch = source(spark, path, inline_bytes=100).read()
    with path.open("a") as stream:
        stream.write("c\n")
    assert values(batch) == ["a", "b"] * 200


def test_missing_and_cut_files_are_waited_for(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "in.txt"
    task = source(spark, path)
    assert task.read() is None
    assert task.read() is None
    assert [record.message for record in caplog.records if "does not exist" in record.message] == [
        f"File {path} does not exist; waiting for it to be created"
    ]
    path.write_text("one\ntwo\n")
    assert values(task.read()) == ["one", "two"]
    path.write_text("new\n")
    assert task.read() is None
    assert "it was cut or replaced" in caplog.text


def test_standard_input(spark: SparkSession) -> None:
    reader, writer = os.pipe()
    task = FileStreamSourceTask(stdin=reader)
    task.start({"topic": "t"}, Context(spark))
    os.write(writer, b"first\nsecond\nunfinished")
    batch = wait_for(task.read)
    assert values(batch) == ["first", "second"]
    assert batch.offsets == {}
    task.stop()
    os.close(reader)
    os.close(writer)


def wait_for(read: Callable[[], SourceBatch | None]) -> SourceBatch:
    event = threading.Event()
    for _ in range(500):
        if (batch := read()) is not None:
            return batch
        event.wait(0.02)
    raise AssertionError("nothing came within 10 s")


def sink(spark: SparkSession, path: Path | None, **options: Any) -> FileStreamSinkTask:
    task = FileStreamSinkTask(**options)
    task.start({} if path is None else {"file": str(path)}, Context(spark))
    return task


def batch_of(frame: DataFrame, count: int) -> SinkBatch:
    ranges = (OffsetRange(TopicPartition("t", 0), 0, count),)
    return SinkBatch(frame, ranges, None, STRING_SCHEMA)


def frame_of(spark: SparkSession, lines: list[str | None]) -> DataFrame:
    return spark.createDataFrame(pa.table({"value": pa.array(lines, pa.string())})).coalesce(1)


@pytest.mark.parametrize("inline_records", [0, 100_000], ids=["in Spark", "inline"])
def test_sink_appends_in_order(spark: SparkSession, tmp_path: Path, inline_records: int) -> None:
    path = tmp_path / "out [1] %20 ü#?*.txt"
    path.write_text("already there\n")
    lines = [f"line {number} ☃" for number in range(30_000)]
    task = sink(spark, path, inline_records=inline_records)

    task.write(batch_of(frame_of(spark, [*lines, None]), len(lines) + 1))
    task.write(batch_of(frame_of(spark, []), 0))

    written = path.read_text(encoding="utf-8").split("\n")
    assert written == ["already there", *lines, "null", ""]
    assert list(tmp_path.iterdir()) == [path]
    path.unlink()
    task.write(batch_of(frame_of(spark, ["after rotation"]), 1))
    assert path.read_text() == "after rotation\n"


@pytest.mark.parametrize("inline_records", [0, 1_000_000], ids=["in Spark", "inline"])
def test_a_failed_batch_leaves_nothing(
    spark: SparkSession, tmp_path: Path, inline_records: int
) -> None:
    from pyspark.sql import functions as F

    path = tmp_path / "out.txt"
    path.write_text("already there\n")
    number = spark.range(0, 300_000, 1, 1)
    bad = F.when(F.col("id") < 299_000, F.repeat(F.lit("x"), 100)).otherwise(
        F.raise_error(F.lit("bad row"))
    )
    with pytest.raises(Exception, match="bad row"):
        sink(spark, path, inline_records=inline_records).write(
            batch_of(number.select(bad.alias("value")), 300_000)
        )
    assert path.read_text() == "already there\n"


def test_tasks_do_not_mix_their_lines(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.sql import functions as F

    path = tmp_path / "out.txt"
    frames = [
        spark.range(0, 40_000, 1, 2).select(
            F.format_string(f"{name}-%06d", F.col("id")).alias("value")
        )
        for name in "abc"
    ]
    tasks = [
        threading.Thread(
            target=sink(spark, path, inline_records=0).write, args=(batch_of(frame, 40_000),)
        )
        for frame in frames
    ]
    for thread in tasks:
        thread.start()
    for thread in tasks:
        thread.join(120)
    written = path.read_text().splitlines()
    first = [line[0] for line in written[::40_000]]
    assert sorted(first) == ["a", "b", "c"]
    assert written == [f"{name}-{number:06d}" for name in first for number in range(40_000)]


def test_standard_output(spark: SparkSession) -> None:
    output = io.BytesIO()
    sink(spark, None, output=output).write(batch_of(frame_of(spark, ["a", "ö"]), 2))
    assert output.getvalue() == "a\nö\n".encode()


def test_unwritable_file(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Couldn't find or create file"):
        sink(spark, tmp_path / "no" / "such" / "directory")
