"""Frames into a real topic and ranges of it back into frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from penstock.api.sink import OffsetRange
from penstock.kafka.clients import Admin, TopicSpec
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.worker.pipeline import kafka_io
from penstock.worker.pipeline.inline_records import raw_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

from penstock.kafka.clients.raw_records import RawRecord

RECORDS = [
    RawRecord("", 0, 0, -1, 0, b"k", b"v", [("h", b"1"), ("h", b"2"), ("none", None)]),
    RawRecord("", 0, 0, -1, 0, None, b"", None),
    RawRecord("", 0, 0, -1, 0, b"\xff\x00", None, [("", b"")]),
    RawRecord("", 1, 0, -1, 0, b"other", "ü".encode(), None),
]


def test_what_is_written_is_read_back(
    spark: SparkSession, kafka: str, unique: Callable[[str], str]
) -> None:
    topic, client = unique("io"), {"bootstrap.servers": kafka}
    admin = Admin(client)
    admin.create_topic(TopicSpec(topic, 2, 1), Deadline.after(60))
    admin.close()
    frame = raw_frame(spark, [record._replace(topic=topic) for record in RECORDS])
    assert kafka_io.write(frame, {**client, "acks": "all"}) == 4

    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    ranges = (OffsetRange(first, 0, 3), OffsetRange(second, 0, 1))
    read = kafka_io.read_ranges(spark, ranges, client).collect()
    found = sorted(read, key=lambda row: (row.partition, row.offset))
    assert [(row.partition, row.offset) for row in found] == [(0, 0), (0, 1), (0, 2), (1, 0)]
    assert [(_bytes(row.key), _bytes(row.value)) for row in found] == [
        (record.key, record.value) for record in RECORDS
    ]
    headers = [[(h.key, _bytes(h.value)) for h in row.headers or ()] for row in found]
    assert headers == [record.headers or [] for record in RECORDS]
    assert all(row.timestamp > 1_500_000_000_000 for row in found)

    part = kafka_io.read_ranges(spark, (OffsetRange(first, 1, 2),), client).collect()
    assert [row.offset for row in part] == [1]

    pieces = kafka_io.read_ranges(spark, (OffsetRange(first, 0, 3),), client, pieces=3)
    placed = pieces.select(F.spark_partition_id().alias("piece"), "offset").collect()
    assert sorted((row.piece, row.offset) for row in placed) == [(0, 0), (1, 1), (2, 2)]


def test_what_is_planned_once_is_written_again(
    spark: SparkSession, kafka: str, unique: Callable[[str], str]
) -> None:
    topic, client = unique("again"), {"bootstrap.servers": kafka}
    admin = Admin(client)
    admin.create_topic(TopicSpec(topic, 2, 1), Deadline.after(60))
    frame = raw_frame(spark, [record._replace(topic=topic) for record in RECORDS])
    write = kafka_io.KafkaWrite(frame, client)
    assert [write.run(), write.run()] == [4, 4]
    admin.close()
    twice = (
        OffsetRange(TopicPartition(topic, 0), 0, 6),
        OffsetRange(TopicPartition(topic, 1), 0, 2),
    )
    assert kafka_io.read_ranges(spark, twice, client).count() == 8


def _bytes(value: bytearray | None) -> bytes | None:
    return None if value is None else bytes(value)


def test_faulty_rows_are_left_out_and_counted_run_by_run(
    spark: SparkSession, kafka: str, unique: Callable[[str], str]
) -> None:
    topic = unique("faults")
    frame = raw_frame(spark, [record._replace(topic=topic, partition=0) for record in RECORDS])
    fault = F.when(F.col("key").isNull(), F.lit("no key"))
    write = kafka_io.KafkaWrite(
        frame.withColumn("fault", fault), {"bootstrap.servers": kafka}, skip_faults=True
    )
    for _ in range(2):
        assert (write.run(), write.skipped) == (3, 1)
