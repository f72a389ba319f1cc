"""JsonConverter against Java's, over generated data: the same bytes, data and errors."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from penstock.api.converter import Layout
from penstock.codecs.json.write import NULL_FOR_REQUIRED
from penstock.converters.json import JsonConverter
from penstock.kernel.data.schema import Schema, date_schema, decimal_schema, timestamp_schema
from tests.spark.converters.bridge import JavaConverters
from tests.spark.converters.comparing import (
    beyond_limits,
    collected,
    decoded_one,
    decoded_row,
    difference,
    encoded_one,
    encoded_row,
    expected,
    text_difference,
)
from tests.spark.converters.generate import Generator, arrow_column
from tests.spark.converters.odd_json import ODD_PAYLOADS, ODD_RECORDS, ODD_SCHEMAS, READ_SCHEMAS

_NAME = "org.apache.kafka.connect.json.JsonConverter"
_PLAIN = {"converter.type": "value", "schemas.enable": "false"}
_ROWS = 120
_SCHEMAS = 8
_CONFIGS: tuple[dict[str, str], ...] = (
    {},
    {"schemas.enable": "false"},
    {"decimal.format": "NUMERIC"},
    {"replace.null.with.default": "false"},
)


def _converter(config: Mapping[str, str]) -> JsonConverter:
    return JsonConverter(JsonConverter.Config.parse({"converter.type": "value", **config}))


@pytest.mark.parametrize("config", _CONFIGS, ids=str)
def test_generated_records_are_written_the_same(
    spark: SparkSession, java: JavaConverters, config: dict[str, str]
) -> None:
    _assert_written_the_same(spark, java, config, Generator(len(str(config))))


@pytest.mark.parametrize("config", [{}, {"replace.null.with.default": "false"}], ids=str)
def test_nulls_that_may_not_be_are_refused_the_same(
    spark: SparkSession, java: JavaConverters, config: dict[str, str]
) -> None:
    _assert_written_the_same(spark, java, config, Generator(500, bad_nulls=0.05))


def _refusal(want: dict[str, Any]) -> dict[str, Any]:
    """A null inside an array is refused by Java's Struct already, before the converter sees it."""
    early = want.get("error", "").startswith("Invalid value: null used for required")
    return {"error": NULL_FOR_REQUIRED} if early else want


def _assert_written_the_same(
    spark: SparkSession, java: JavaConverters, config: dict[str, str], generator: Generator
) -> None:
    schemas = [generator.schema() for _ in range(_SCHEMAS)]
    values = [[generator.value(schema) for _ in range(_ROWS)] for schema in schemas]
    converter = _converter(config)
    made = [converter.encode(schema, F.col(f"c{n}")) for n, schema in enumerate(schemas)]
    columns = [arrow_column(*pair) for pair in zip(schemas, values, strict=True)]
    results = collected(spark, columns, *made)
    for schema, given, rows in zip(schemas, values, results, strict=True):
        wanted = [_refusal(expected(each)) for each in java.encode(_NAME, config, schema, given)]
        for value, want, row in zip(given, wanted, rows, strict=True):
            ours = encoded_row(row)
            assert ours == want, text_difference(ours, want)
            assert not text_difference(encoded_one(converter, schema, value), want)


@pytest.mark.parametrize(
    "config", [each for each in _CONFIGS if "schemas.enable" not in each], ids=str
)
def test_generated_json_is_read_the_same(
    spark: SparkSession, java: JavaConverters, config: dict[str, str]
) -> None:
    generator = Generator(1000 + len(str(config)))
    schemas = [generator.schema() for _ in range(_SCHEMAS)]
    raws = [_written_by_java(java, config, schema, generator) for schema in schemas]

    _assert_read_the_same(spark, java, config, raws)


def test_broken_json_is_refused_the_same(spark: SparkSession, java: JavaConverters) -> None:
    generator, random = Generator(77), Random(77)
    schemas = [generator.schema() for _ in range(_SCHEMAS)]
    raws = [_written_by_java(java, {}, schema, generator) for schema in schemas]
    broken = [[_broken(raw, raws[n][0], random) for raw in each] for n, each in enumerate(raws)]

    _assert_read_the_same(spark, java, {}, [[a[0], *b] for a, b in zip(raws, broken, strict=True)])


def test_odd_payloads_are_read_the_same(spark: SparkSession, java: JavaConverters) -> None:
    for config in ({}, {"replace.null.with.default": "false"}, {"decimal.format": "NUMERIC"}):
        raws = [
            [f'{{"schema":{schema},"payload":{payload}}}'.encode() for payload in ODD_PAYLOADS]
            for schema in READ_SCHEMAS
        ]
        _assert_read_the_same(spark, java, config, raws)


def test_every_odd_payload_alone_is_read_the_same(java: JavaConverters) -> None:
    """One at a time there is no neighbour that sends the batch down the row by row way."""
    converter = _converter({})
    for schema in READ_SCHEMAS:
        raws = [f'{{"schema":{schema},"payload":{each}}}'.encode() for each in ODD_PAYLOADS]
        layout = converter.layout(raws[0])
        wanted = [expected(each) for each in java.decode(_NAME, {}, raws)]
        for raw, want in zip(raws, wanted, strict=True):
            ours = decoded_row(layout, _kernel_row(layout, raw))
            assert beyond_limits(ours) or not difference(ours, want), raw


def _kernel_row(layout: Layout, raw: bytes) -> Any:
    from types import SimpleNamespace

    from penstock.converters.json.decode import PayloadKernel

    assert layout.schema is not None
    kernel = PayloadKernel(layout.schema, layout.tag, replace_null=True, decimal_numbers=False)
    row = kernel(pa.array([raw[len(layout.tag) :]], pa.binary()))[0].as_py()
    return SimpleNamespace(data=_as_rows(layout.schema, row["data"]), error=row["error"])


def _as_rows(schema: Schema, value: Any) -> Any:
    """Arrow's structs as the tuples that Spark collects, its maps as dictionaries."""
    if isinstance(value, dict):
        return [_as_rows(each.schema, value[each.name]) for each in schema.fields]
    if isinstance(value, list) and schema.value_schema:
        if schema.key_schema:
            return {key: _as_rows(schema.value_schema, each) for key, each in value}
        return [_as_rows(schema.value_schema, each) for each in value]
    return value


def test_odd_records_are_read_the_same(java: JavaConverters) -> None:
    for config in _CONFIGS:
        converter = _converter(config)
        wanted = [expected(each) for each in java.decode(_NAME, config, ODD_RECORDS)]
        for raw, want in zip(ODD_RECORDS, wanted, strict=True):
            assert not difference(decoded_one(converter, raw), want), (config, raw)


def test_odd_schemas_are_read_the_same(java: JavaConverters) -> None:
    converter = _converter({})
    raws = [f'{{"schema":{schema},"payload":null}}'.encode() for schema in ODD_SCHEMAS]
    wanted = [expected(each) for each in java.decode(_NAME, {}, raws)]
    for raw, want in zip(raws, wanted, strict=True):
        assert not difference(decoded_one(converter, raw), want), raw
        refused = "error" in want and not want["error"].startswith("Invalid null value")
        assert converter.layout(raw).regular != refused or "default" in str(raw)


def _written_by_java(
    java: JavaConverters, config: dict[str, str], schema: Schema, generator: Generator
) -> list[bytes]:
    values = [generator.value(schema) for _ in range(_ROWS)]
    rows = java.encode(_NAME, config, schema, values)
    good = [bytes.fromhex(each["data"]) for each in rows if "data" in each]
    assert good, schema
    return [good[number % len(good)] for number in range(_ROWS)]


def _broken(raw: bytes, example: bytes, random: Random) -> bytes:
    """One byte changed, taken away or put in, behind the schema as a rule."""
    start = example.rindex(b'"payload":') if random.random() < 0.95 else 0
    at = random.randrange(min(start, len(raw) - 1), len(raw))
    middle = random.choice(
        (b"", raw[at : at + 1] * 2, bytes([random.choice(b'"{}[],:0e-.tn x\x00\xc3')]))
    )
    return raw[:at] + middle + raw[at + 1 :]


def _assert_read_the_same(
    spark: SparkSession,
    java: JavaConverters,
    config: dict[str, str],
    raws: Sequence[Sequence[bytes]],
) -> None:
    """All rows of a list with the layout of its first."""
    converter = _converter(config)
    layouts = [converter.layout(each[0]) for each in raws]
    made = [converter.decode(layout, F.col(f"c{n}")) for n, layout in enumerate(layouts)]
    results = collected(spark, [pa.array(each, pa.binary()) for each in raws], *made)
    for layout, given, rows in zip(layouts, raws, results, strict=True):
        assert layout.regular
        wanted = [expected(each) for each in java.decode(_NAME, config, given)]
        for raw, want, row in zip(given, wanted, rows, strict=True):
            assert not difference(decoded_one(converter, raw), want), raw
            assert row.other == (not raw.startswith(layout.tag))
            if not row.other:
                ours = decoded_row(layout, row)
                assert beyond_limits(ours) or not difference(ours, want), raw


def test_data_without_a_schema_is_read_the_same(spark: SparkSession, java: JavaConverters) -> None:
    """Numbers with a point are decimals in a VARIANT, so they are compared by value."""
    config = {"schemas.enable": "false"}
    converter = _converter(config)
    raws: list[bytes | None] = [
        b'{"b":1,"a":[1,2.5,"x",null,true,{"c":{}}]}',
        b'"text"',
        b"12",
        b"-1.5e3",
        b"null",
        b"true",
        b"[]",
        b"{}",
        None,
        b"",
        b"  ",
        '{"ü":"🚀"}'.encode(),
        b"nonsense",
        b'{"a":',
        b'{"a":1}x',
    ]
    (rows,) = collected(spark, [pa.array(raws, pa.binary())], _as_json(converter))
    for raw, want, row in zip(raws, java.decode(_NAME, config, raws), rows, strict=True):
        assert not difference(decoded_one(converter, raw), expected(want)), raw
        if "error" in want:
            assert row.error.startswith("Converting byte[] to Kafka Connect data failed")
        else:
            assert row.error is None
            ours = json.loads(row.data) if row.data is not None else None
            assert ours == converter.decode_one(raw).value


def _as_json(converter: JsonConverter) -> Any:
    read = converter.decode(converter.layout(None), F.col("c0"))
    return F.struct(F.to_json(read.getField("data")).alias("data"), read.getField("error"))


def test_dates_beyond_an_int_of_days_come_round_in_java(java: JavaConverters) -> None:
    """A reason in docs/transform-differences.md."""
    days = [2**31 - 1, 2**31, -(2**31) - 1]
    assert _plain_json(java, date_schema(), days) == [2**31 - 1, -(2**31), 2**31 - 1]


def test_decimals_of_another_scale_are_refused_in_java(java: JavaConverters) -> None:
    """A reason in docs/transform-differences.md."""
    numbers = [Decimal("1.25"), Decimal(1), Decimal("1.125")]
    fits, *others = java.encode(_NAME, _PLAIN, decimal_schema(2), numbers)
    assert "data" in fits
    assert all("mismatching scale" in other["error"][0] for other in others)


def test_numbers_are_no_moments_in_java(java: JavaConverters) -> None:
    """A reason in docs/transform-differences.md."""
    [found] = java.encode_told(_NAME, _PLAIN, timestamp_schema(), [["INT64", "20"]])
    assert "expected Date but was class java.lang.Long" in found["error"][0]


def _plain_json(java: JavaConverters, schema: Schema, values: list[Any]) -> list[Any]:
    found = java.encode(_NAME, _PLAIN, schema, values)
    return [json.loads(bytes.fromhex(each["data"])) for each in found]
