"""Between frames and Kafka: read offset ranges, write a frame."""

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
        pieces: the least number of Spark partitions: longer ranges are split into several, in
            the order of their offsets.
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
    """Write key, value, headers, topic and partition to Kafka; return the number of records."""
    return KafkaWrite(frame, properties).run()


class KafkaWrite:
    """Writes a frame to Kafka; planned once, and run again when the frame has new rows.

    It calls Spark's Kafka writer directly, because `DataFrame.write` plans the query a second
    time and loses the observed count. After a failed run, make a new one.

    Args:
        properties: those of a Java producer.
        skip_faults: leave out the rows with a `fault`.

    Attributes:
        skipped: how many rows the last run skipped.
    """

    def __init__(
        self, frame: DataFrame, properties: Mapping[str, str], *, skip_faults: bool = False
    ) -> None:
        if skip_faults:
            faulty = F.col("fault").isNotNull()
            counted = frame.observe("skipped", F.count_if(faulty).alias("records"))
            frame = counted.filter(~faulty)
        observed = frame.select("topic", "partition", "key", "value", "headers").observe(
            "written", F.count(F.lit(1)).alias("records")
        )
        self.skipped = 0
        jvm: Any = observed.sparkSession._jvm  # noqa: SLF001 - pyspark's own way to the JVM
        self._execution: Any = observed._jdf.queryExecution()  # noqa: SLF001
        self._writer: Any = jvm.org.apache.spark.sql.kafka010.KafkaWriter
        self._properties = _java_map(jvm, {**properties, **_SERIALIZERS})
        self._any_topic = jvm.scala.Option.empty()
        self._totals = dict.fromkeys(["written", *(["skipped"] if skip_faults else [])], 0)

    def run(self) -> int:
        """Write; return the number of records, all of them acknowledged."""
        self._writer.write(self._execution, self._properties, self._any_topic)
        # Spark adds each run to the counts of the last.
        before, found = self._totals, self._execution.observedMetrics()
        self._totals = {name: int(found.apply(name).getLong(0)) for name in before}
        self.skipped = self._totals.get("skipped", 0) - before.get("skipped", 0)
        return self._totals["written"] - before["written"]


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
