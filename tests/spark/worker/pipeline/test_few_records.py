"""A few records are decoded on the driver, and must come out as the columns would have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from penstock.converters.json.converter import JsonConverter
from penstock.converters.text import StringConverter
from penstock.kafka.clients.raw_records import RawRecord
from penstock.kernel.data.schema import OPTIONAL_STRING_SCHEMA, Schema, SchemaType, decimal_schema
from penstock.worker.pipeline.chain import Chain
from penstock.worker.pipeline.inline_records import decoded_frame, decoded_frames, raw_frame
from penstock.worker.pipeline.pipeline import Converters, SinkPipeline, Typed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LONG = Schema(SchemaType.INT64)
ENVELOPE = b'{"schema":{"type":"int64","optional":false},"payload":%s}'


def record(offset: int, value: bytes | None, key: bytes | None = None) -> RawRecord:
    return RawRecord("numbers", 0, offset, 1_000 + offset, 1, key, value, [("h", b"x")])


@pytest.fixture
def strings_and_json() -> Converters:
    key = StringConverter(StringConverter.Config.parse({"converter.type": "key"}), is_key=True)
    value = JsonConverter(JsonConverter.Config.parse({"converter.type": "value"}), is_key=False)
    return Converters(key, value)


def few(spark: SparkSession, converters: Converters, records: Sequence[RawRecord]) -> Typed | None:
    return decoded_frame(spark, records, converters, (OPTIONAL_STRING_SCHEMA, LONG))


def test_they_equal_what_the_columns_decode(
    spark: SparkSession, strings_and_json: Converters
) -> None:
    records = [record(0, ENVELOPE % b"7", b"k"), record(1, ENVELOPE % b"-8"), record(2, None)]

    found = few(spark, strings_and_json, records)

    layouts = strings_and_json.key.layout(b"k"), strings_and_json.value.layout(records[0].value)
    (expected,) = SinkPipeline(Chain(), strings_and_json).decoded(
        raw_frame(spark, records), *layouts
    )
    assert found is not None
    assert found.clean
    names = sorted(expected.frame.columns)
    assert sorted(found.frame.columns) == names
    assert found.frame.select(names).collect() == expected.frame.select(names).collect()
    assert [row.value for row in found.frame.collect()] == [7, -8, None]


@pytest.mark.parametrize(
    "odd",
    [
        ENVELOPE % b"[",
        ENVELOPE.replace(b"int64", b"string") % b'"x"',
        b'{"schema":null,"payload":1}',
    ],
)
def test_one_that_is_odd_sends_all_to_the_columns(
    spark: SparkSession, strings_and_json: Converters, odd: bytes
) -> None:
    assert few(spark, strings_and_json, [record(0, ENVELOPE % b"7"), record(1, odd)]) is None


@pytest.mark.parametrize(
    ("enveloped", "bad"),
    [
        (False, b"{no JSON"),
        (False, b"\xff"),
        (True, ENVELOPE % b"["),
        (True, ENVELOPE.replace(b"int64", b"bytes") % b'"*"'),
    ],
)
def test_a_bad_record_has_one_text(spark: SparkSession, *, enveloped: bool, bad: bytes) -> None:
    """A preview decodes here what the columns decode for the dead letter topic."""
    config = {"converter.type": "value", "schemas.enable": str(enveloped).lower()}
    converter = JsonConverter(JsonConverter.Config.parse(config), is_key=False)
    converters = Converters(converter, converter)
    records = [record(0, bad)]
    layouts = converter.layout(None), converter.layout(bad)
    (here,) = decoded_frames(spark, records, converters)
    (there,) = SinkPipeline(Chain(), converters).decoded(raw_frame(spark, records), *layouts)
    (fault,), same = (each.frame.select("fault").collect() for each in (here, there))
    assert [fault] == same
    assert fault[0].stage == "VALUE_CONVERTER"


def test_a_decimal_that_no_column_holds_sends_all_to_the_columns(
    spark: SparkSession, strings_and_json: Converters
) -> None:
    schema = decimal_schema(2)
    name = b'"bytes","name":"org.apache.kafka.connect.data.Decimal","version":1'
    envelope = ENVELOPE.replace(b'"int64"', name + b',"parameters":{"scale":"2"}')
    records = [record(0, envelope % b"1.5"), record(1, envelope % b"1.555")]

    def found(some: Sequence[RawRecord]) -> Typed | None:
        return decoded_frame(spark, some, strings_and_json, (OPTIONAL_STRING_SCHEMA, schema))

    assert found(records[:1]) is not None
    assert found(records) is None


def test_rows_are_clean_only_until_a_transformation(
    spark: SparkSession, strings_and_json: Converters
) -> None:
    typed = few(spark, strings_and_json, [record(0, ENVELOPE % b"7")])
    assert typed is not None

    (untouched,) = SinkPipeline(Chain(), strings_and_json).transformed(typed)

    assert untouched.clean
