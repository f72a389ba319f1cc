"""Between frames and Kafka: read offset ranges, hold a few records inline, write a frame."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.api.sink import OffsetRange

RAW_SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.int64()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
    ]
)

#: Columns of a record in flight, in order.
IN_FLIGHT: Final = tuple(RAW_SCHEMA.names)


def read_ranges(
    session: SparkSession,
    ranges: Sequence[OffsetRange],
    properties: Mapping[str, str],
    *,
    pieces: int = 1,
) -> DataFrame:
    """The records of the ranges as raw bytes, read by Spark; a Spark partition for each range.

    The properties are those of a Java consumer.

    Args:
        pieces: at least so many Spark partitions: longer ranges are cut into several, which
            stay in the order of their offsets.
    """
    frame = (
        session.read.format("kafka")
        .options(**{f"kafka.{name}": value for name, value in properties.items()})
        .option("assign", _partitions_text(ranges))
        .option("startingOffsets", _offsets_text(ranges, "start"))
        .option("endingOffsets", _offsets_text(ranges, "end"))
        .option("includeHeaders", "true")
        .option("minPartitions", str(pieces))
        .load()
    )
    return frame.select(
        "topic",
        "partition",
        "offset",
        F.unix_millis("timestamp").alias("timestamp"),
        "key",
        "value",
        "headers",
    )


def write(frame: DataFrame, properties: Mapping[str, str]) -> int:
    """Write key, value, headers, topic and partition to Kafka; the number of records written.

    The properties are those of a Java producer. Everything is acknowledged when it returns.
    Spark's Kafka writer is called directly, because `DataFrame.write` plans the query a second
    time and loses the observed count.
    """
    observed = frame.select("topic", "partition", "key", "value", "headers").observe(
        "written", F.count(F.lit(1)).alias("records")
    )
    jvm: Any = observed.sparkSession._jvm  # noqa: SLF001 - pyspark's own way to the JVM
    execution: Any = observed._jdf.queryExecution()  # noqa: SLF001
    writer = jvm.org.apache.spark.sql.kafka010.KafkaWriter
    writer.write(
        execution, _java_map(jvm, {**properties, **_SERIALIZERS}), jvm.scala.Option.empty()
    )
    return int(execution.observedMetrics().apply("written").getLong(0))


def _java_map(jvm: Any, entries: Mapping[str, str]) -> Any:
    made = jvm.java.util.HashMap()
    for name, value in entries.items():
        made.put(name, value)
    return made


_SERIALIZERS: Final = {
    "key.serializer": "org.apache.kafka.common.serialization.ByteArraySerializer",
    "value.serializer": "org.apache.kafka.common.serialization.ByteArraySerializer",
}


def _partitions_text(ranges: Sequence[OffsetRange]) -> str:
    partitions: dict[str, list[int]] = defaultdict(list)
    for each in ranges:
        partitions[each.partition.topic].append(each.partition.partition)
    return json.dumps(partitions)


def _offsets_text(ranges: Sequence[OffsetRange], edge: str) -> str:
    offsets: dict[str, dict[str, Any]] = defaultdict(dict)
    for each in ranges:
        offsets[each.partition.topic][str(each.partition.partition)] = getattr(each, edge)
    return json.dumps(offsets)
