"""Texts of values against Java's String.valueOf() of what JsonConverter reads."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from penstock.columns.java.to_string import java_text
from tests.spark.transforms.java_side import JavaSide
from tests.spark.transforms.records import data_of, schema_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOGICAL = "org.apache.kafka.connect.data."


def kind(type_: str, **more: Any) -> dict[str, Any]:
    return {"type": type_, "optional": True, **more}


def decimal(scale: int) -> dict[str, Any]:
    return kind("bytes", name=LOGICAL + "Decimal", version=1, parameters={"scale": str(scale)})


STRUCT = kind(
    "struct",
    fields=[
        kind("int64", field="a"),
        kind("string", field="b c"),
        kind("array", field="list", items=kind("double")),
        kind("map", field="map", keys=kind("string"), values=kind("int32")),
        kind("struct", field="inner", fields=[kind("boolean", field="x")]),
    ],
)
FLOATS = [0.0, 1.0, 1.5, 0.001, 0.0009, 1e7, 9999999.0, 123456789.125, 1e-5, 1e300, -2.5e-10]
CASES: dict[str, tuple[dict[str, Any] | None, list[Any]]] = {
    "string": (kind("string"), ["", "a, b", "ö ☃", "null", '"']),
    "int8": (kind("int8"), [0, -128, 127]),
    "int64": (kind("int64"), [0, -(2**63), 2**63 - 1]),
    "boolean": (kind("boolean"), [True, False]),
    "double": (kind("double"), FLOATS),
    "float": (kind("float"), [0.0, 1.5, 0.1, 1e10, 1e-5, 3.4e38]),
    "date": (kind("int32", name=LOGICAL + "Date", version=1), [0, 1, -1, 19_000, 40_000]),
    "time": (kind("int32", name=LOGICAL + "Time", version=1), [0, 1, 86_399_999]),
    "timestamp": (
        kind("int64", name=LOGICAL + "Timestamp", version=1),
        [0, -1, 999, 1_000, 1_700_000_000_123, -1_000_000_000_001],
    ),
    "array": (kind("array", items=kind("int32")), [[], [1], [1, None, 3]]),
    "map": (kind("map", keys=kind("string"), values=kind("string")), [{}, {"k": "v"}, {"k": None}]),
    "struct": (
        STRUCT,
        [
            {"a": 1, "b c": "x,y", "list": [1.0, None], "map": {"k": 1}, "inner": {"x": True}},
            {"a": None, "b c": None, "list": None, "map": None, "inner": None},
            {"a": None, "b c": "", "list": [], "map": {}, "inner": {"x": None}},
        ],
    ),
    "without schema": (
        None,
        [
            "text", 1e17, 'quote " and \\ and \n and ☃', "", 5, -(2**53), 1.5, 0.00001,
            True, [], {}, [1, "a", None, [True]], {"k": "v"}, {"k": {"n": [1, {"x": "a,b:c"}]}},
            {"ein \"k\"": "}", "": None},
        ],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def java(spark: SparkSession) -> JavaSide:
    # Dates are shown in the zone of the JVM, which in these tests has to be ours.
    made = JavaSide.load(spark)
    zone = made.jvm.java.util.TimeZone
    zone.setDefault(zone.getTimeZone("UTC"))
    return made


@pytest.mark.parametrize("name", CASES)
def test_texts(spark: SparkSession, java: JavaSide, name: str) -> None:
    schema, values = CASES[name]
    expected = java.texts(
        [
            json.dumps(value if schema is None else {"schema": schema, "payload": value}).replace(
                '{"schema": ', '{"schema":'
            )
            for value in values
        ]
    )
    assert texts_of(spark, schema, values) == expected


@pytest.mark.parametrize(
    ("scale", "values"),
    [
        (0, ["0", "-5", "12345678901234567890"]),
        (2, ["0.00", "1.25", "-0.01", "1234567.89"]),
        (6, ["0.000000", "0.000001"]),
        (10, ["0.0000000000", "1.0000000000", "0.0000000012", "-0.0000000012", "0.0000123456"]),
        (38, ["0." + "0" * 37 + "1"]),
    ],
)
def test_decimals(spark: SparkSession, java: JavaSide, scale: int, values: list[str]) -> None:
    schema = schema_of(decimal(scale))
    frame = spark.createDataFrame([(Decimal(value),) for value in values], f"d decimal(38,{scale})")
    rows = frame.coalesce(1).select(java_text(schema, F.col("d")).alias("text")).collect()
    expected = [java.jvm.java.util.Objects.toString(Decimal(value)) for value in values]
    assert [row.text for row in rows] == expected


def texts_of(spark: SparkSession, schema: dict[str, Any] | None, values: list[Any]) -> list[str]:
    known = None if schema is None else schema_of(schema)
    rows = [(place, json.dumps(value)) for place, value in enumerate(values)]
    frame = spark.createDataFrame(rows, "place int, payload string")
    found = frame.select("place", data_of(F.col("payload"), known).alias("value")).select(
        "place", java_text(known, F.col("value")).alias("text")
    )
    return [row.text for row in sorted(found.collect(), key=lambda row: row.place)]


def test_what_differs_on_purpose(spark: SparkSession) -> None:
    assert texts_of(spark, kind("bytes"), ["AAH/", None]) == ["0001ff", "null"]
    late = kind("int64", name=LOGICAL + "Timestamp", version=1)
    assert texts_of(spark, late, [2**63 - 1]) == [str(2**63 - 1)]


def test_dates_are_in_utc_whatever_the_session_says(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        date = kind("int32", name=LOGICAL + "Date", version=1)
        assert texts_of(spark, date, [0]) == ["Thu Jan 01 00:00:00 UTC 1970"]
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
