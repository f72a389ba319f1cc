"""What the case files can't say: numbers that JSON does not have, plans that are compiled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from penstock.kernel.data.schema import Schema, SchemaType
from penstock.plugins import Plugins
from penstock.transforms.cast_values import cast
from penstock.worker.pipeline.chain import Chain
from penstock.worker.pipeline.output_topics import output_topics
from tests.spark.transforms import test_parity
from tests.spark.transforms.records import CaseRecord, frame_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.spark.transforms.java_side import JavaSide

KAFKA = "org.apache.kafka.connect.transforms."
LEAST_LONG, GREATEST_LONG = -(2**63), 2**63 - 1


def chain_of(*transforms: dict[str, str]) -> Chain:
    config = {"transforms": ",".join(f"t{place}" for place in range(len(transforms)))}
    for place, keys in enumerate(transforms):
        config |= {f"transforms.t{place}.{name}": text for name, text in keys.items()}
    return Chain.of(config, Plugins().load_named)


@pytest.mark.parametrize("source", [SchemaType.FLOAT32, SchemaType.FLOAT64])
@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (math.nan, (0, 0, 0, 0, False, "NaN")),
        (math.inf, (-1, -1, 2**31 - 1, GREATEST_LONG, True, "Infinity")),
        (-math.inf, (0, 0, -(2**31), LEAST_LONG, True, "-Infinity")),
        (-0.0, (0, 0, 0, 0, False, "-0.0")),
    ],
)
def test_numbers_that_are_none(
    spark: SparkSession, source: SchemaType, number: float, expected: tuple[Any, ...]
) -> None:
    targets = (
        SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64,
        SchemaType.BOOLEAN, SchemaType.STRING,
    )  # fmt: skip
    kind = "float" if source is SchemaType.FLOAT32 else "double"
    value = F.col("number").cast(kind)
    frame = spark.createDataFrame([(number,)], "number double")
    [row] = frame.select(*[cast(Schema(source), value, each).value for each in targets]).collect()
    assert tuple(row) == expected


def test_the_name_of_a_schema_stays_when_all_of_it_is_cast() -> None:
    """JsonConverter could not write this: in Java it goes by the name."""
    [branch] = chain_of({"type": f"{KAFKA}Cast$Value", "spec": "string"}).compile(
        None, Schema(SchemaType.INT32, name="org.apache.kafka.connect.data.Date", version=1)
    )
    assert branch.value_schema == Schema(
        SchemaType.STRING, name="org.apache.kafka.connect.data.Date", version=1
    )


def test_a_name_does_not_make_a_timestamp(spark: SparkSession) -> None:
    chain = chain_of(
        {"type": f"{KAFKA}Cast$Value", "spec": "string"},
        {"type": f"{KAFKA}Cast$Value", "spec": "string"},
        {"type": f"{KAFKA}TimestampConverter$Value", "target.type": "unix"},
    )
    schema = Schema(SchemaType.INT32, name="org.apache.kafka.connect.data.Date", version=1)
    [branch] = chain.compile(None, schema)
    [row] = branch.apply(frame_of(spark, [CaseRecord(5)], "value", schema)).collect()
    assert row.fault["message"] == (
        "Expected Date to be a java.util.Date, but found class java.lang.String"
    )


def test_a_timestamp_is_still_one_for_the_next_transformation(spark: SparkSession) -> None:
    converter = {"type": f"{KAFKA}TimestampConverter$Value", "field": "a"}
    chain = chain_of(
        {**converter, "target.type": "Timestamp", "format": "yyyy-MM-dd"},
        {**converter, "target.type": "unix"},
    )
    [branch] = chain.compile(None, None)
    records = [CaseRecord({"a": "2023-11-14"}), CaseRecord({"a": 1_700_000_000_123})]
    rows = branch.apply(frame_of(spark, records, "value", None)).select(
        F.to_json("value").alias("value"), "fault"
    )
    assert [tuple(row) for row in rows.collect()] == [
        ('{"a":1699920000000}', None),
        ('{"a":1700000000123}', None),
    ]


def test_a_date_is_no_number(spark: SparkSession) -> None:
    chain = chain_of(
        {"type": f"{KAFKA}TimestampConverter$Value", "target.type": "Date"},
        {"type": f"{KAFKA}Cast$Value", "spec": "int64"},
    )
    [branch] = chain.compile(None, None)
    [row] = branch.apply(frame_of(spark, [CaseRecord(5)], "value", None)).collect()
    assert row.fault["message"] == (
        "Cast transformation was passed a value of type class java.util.Date which is not"
        " supported by Connect's data API"
    )


@pytest.mark.parametrize("millis", [GREATEST_LONG, LEAST_LONG, LEAST_LONG // 1000 + 1])
@pytest.mark.parametrize("target", ["Date", "Timestamp"])
def test_moments_too_far_away_without_a_schema(
    spark: SparkSession, millis: int, target: str
) -> None:
    chain = chain_of({"type": f"{KAFKA}TimestampConverter$Value", "target.type": target})
    [branch] = chain.compile(None, None)
    [row] = branch.apply(frame_of(spark, [CaseRecord(millis)], "value", None)).collect()
    assert row.fault["message"] == (
        f"Data without a schema can't hold a timestamp so far from 1970: {millis}"
    )


def test_a_record_without_a_timestamp_has_no_topic(spark: SparkSession) -> None:
    [branch] = chain_of({"type": f"{KAFKA}TimestampRouter"}).compile(None, None)
    records = [CaseRecord({}, timestamp=None), CaseRecord({}, timestamp=None, partition=None)]
    rows = branch.apply(frame_of(spark, records, "value", None)).collect()
    assert [(row.topic, row.fault["message"]) for row in rows] == [
        (
            "orders",
            "Timestamp missing on record:"
            f" ConnectRecord{{topic='orders', kafkaPartition={place}, timestamp=null}}",
        )
        for place in ("3", "null")
    ]


def test_topics_of_a_router_depend_on_the_records(spark: SparkSession) -> None:
    branches = chain_of({"type": f"{KAFKA}TimestampRouter"}).compile(None, None)
    assert output_topics(spark, branches, ["orders"]) is None


COMPILED = (
    "cast: numbers to int8",
    "cast: logical types to string",
    "cast: text to float64",
    "cast: map entries to int32",
    "timestamp_converter: all letters",
    "timestamp_converter: entry without schema to Timestamp",
    "timestamp_converter: whole string to string",
    "timestamp_converter: read yyyy-MM-dd'T'HH:mm:ss.SSSX to unix",
    "timestamp_converter: read yy-MM-dd to unix",
    "timestamp_router: default names",
)


@pytest.mark.parametrize(
    ("document", "case"),
    [each for each in test_parity.load_cases("transformation", step=1) if each.id in COMPILED],
)
def test_compiled_plans_do_the_same(
    spark: SparkSession, java: JavaSide, document: Any, case: Any
) -> None:
    test_parity.test_transformations(spark, java, document, case)


def test_all_of_these_are_there() -> None:
    assert {each.id for each in test_parity.load_cases("transformation", step=1)} >= set(COMPILED)
