"""JsonSchemaConverter over columns: with a real registry, and Confluent's serializer beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from pyspark.sql import SparkSession

from penstock.codecs.json_schema.options import ONE_OF
from penstock.converters.json_schema.converter import JsonSchemaConverter
from penstock.kernel.data.schema import (
    Field,
    Schema,
    SchemaType,
    Struct,
    date_schema,
    decimal_schema,
    struct_schema,
    time_schema,
    timestamp_schema,
)
from penstock.kernel.errors import DataError
from penstock.testing.registry import SchemaRegistry
from tests.spark.converters.comparing import difference
from tests.spark.converters.generate import Generator
from tests.spark.converters.registry_bench import RegistryBench, context, plain

STRING = Schema(SchemaType.STRING)
INT64 = Schema(SchemaType.INT64)
ALL = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "shop.All",
    "type": "object",
    "required": ["id", "flag"],
    "definitions": {"Part": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    "properties": {
        "id": {"type": "integer"},
        "flag": {"type": "boolean"},
        "wide": {"type": "number"},
        "text": {"type": "string"},
        "maybe": {"type": ["string", "null"]},
        "color": {"type": "string", "enum": ["RED", "BLUE"]},
        "numbers": {"type": "array", "items": {"type": "integer"}},
        "part": {"$ref": "#/definitions/Part"},
        "parts": {"type": "array", "items": {"$ref": "#/definitions/Part"}},
        "choice": {"oneOf": [{"type": "null"}, {"type": "string"}, {"type": "integer"}]},
        "free": {
            "type": "object",
            "connect.type": "map",
            "additionalProperties": {"type": "number"},
        },
    },
}
FULL = {
    "id": 2**63 - 1, "flag": True, "wide": -1e300, "text": "Grüße 🚰 \u0000\"", "maybe": "",
    "color": "BLUE", "numbers": [1, -(2**63)], "part": {"n": 1}, "parts": [{"n": 2}, {"n": 3}],
    "choice": "x", "free": {"ü": 0.5, "": 1},
}  # fmt: skip


@pytest.fixture
def bench(spark: SparkSession, registry: SchemaRegistry) -> RegistryBench:
    return RegistryBench(spark, registry, JsonSchemaConverter)


def _choice(number: int | None, value: Any = None) -> dict[str, Any]:
    return {f"{ONE_OF}.field.{n}": value if n == number else None for n in range(2)}


def test_what_confluents_serializer_wrote_is_read_and_written_again(
    bench: RegistryBench, unique: Callable[[str], str]
) -> None:
    topic = unique("all")
    serialize = JSONSerializer(json.dumps(ALL), bench.client)
    some = {"id": 1, "flag": False, "choice": 5, "unknown": [1]}
    full, least = (serialize(each, context(topic)) for each in (FULL, some))
    text = {"$schema": ALL["$schema"], "type": "string"}
    other = JSONSerializer(json.dumps(text), bench.client)("x", context(unique("other")))
    assert full is not None
    assert least is not None
    head = full[:5]

    converter = bench.converter()
    layout = converter.layout(full)
    bad = [head + b"{", head + b"[]", head + b'{"id": null, "flag": true}', head, head + b"\xff"]
    read = [
        plain(each)
        for each in bench.decode(converter, layout, [full, None, least, other, b"x", *bad])
    ]
    assert read[0] == FULL | {"choice": _choice(0, "x")}
    assert read[1] is None
    missing = dict.fromkeys(FULL) | {"id": 1, "flag": False, "choice": _choice(1, 5)}
    assert read[2] == missing
    assert read[3:5] == [..., ...]
    assert read[5].startswith("Converting byte[] to Kafka Connect data failed")
    assert read[6] == "Structs should be encoded as JSON objects, but found ARRAY"
    assert read[7] == "Invalid null value for required INT64 field"
    assert all(isinstance(each, str) for each in read[8:])
    assert plain(converter.decode_one(full).value) == read[0]
    assert plain(converter.decode_one(other).value) == "x"
    with pytest.raises(DataError, match="magic byte"):
        converter.decode_one(b"x")

    keeping = bench.converter(auto_register_schemas="false", use_latest_version="true")
    assert layout.schema is not None
    value = converter.decode_one(full).value
    (again,) = bench.encode(keeping, topic, layout.schema, [value])
    assert JSONDeserializer(json.dumps(ALL))(again, context(topic)) == FULL
    assert again == keeping.encode_one_for(topic, layout.schema, value)


def test_properties_that_are_not_required_are_optional(
    bench: RegistryBench, unique: Callable[[str], str]
) -> None:
    topic = unique("all")
    raw = JSONSerializer(json.dumps(ALL), bench.client)({"id": 1, "flag": True}, context(topic))
    schema = bench.converter(use_optional_for_nonrequired="true").layout(raw).schema
    assert schema is not None
    flags = {each.name: each.schema.optional for each in schema.fields}
    assert flags == {name: name not in ("id", "flag") for name in FULL}


POINT = struct_schema(Field("x", Schema(SchemaType.FLOAT64)), name="geo.Point")
ORDER = struct_schema(
    Field("tiny", Schema(SchemaType.INT8)),
    Field("large", Schema(SchemaType.INT64, optional=True)),
    Field("late", Schema(SchemaType.STRING, optional=True, default="d")),
    Field("raw", Schema(SchemaType.BYTES)),
    Field("price", decimal_schema(2, optional=True)),
    Field("day", date_schema()),
    Field("clock", time_schema()),
    Field("at", timestamp_schema(optional=True)),
    Field("points", Schema(SchemaType.ARRAY, value_schema=POINT)),
    Field("named", Schema(SchemaType.MAP, key_schema=STRING, value_schema=INT64)),
    Field("pairs", Schema(SchemaType.MAP, key_schema=INT64, value_schema=POINT)),
    Field("point", replace(POINT, optional=True)),
    name="shop.Order",
)


def _orders() -> list[dict[str, Any]]:
    point = Struct(POINT, {"x": 0.5})
    full = {
        "tiny": -128, "large": 2**63 - 1, "late": "🚰", "raw": b"\0\xff", "day": -1,
        "price": Decimal("-1.23"), "clock": 86_399_999, "at": -1, "points": [point, point],
        "named": {"": 0, "ü": 5}, "pairs": {-1: point},
        "point": Struct(POINT.as_optional(), {"x": 0.5}),
    }  # fmt: skip
    empty: dict[str, Any] = {
        "tiny": 0, "large": None, "late": None, "raw": b"", "day": 0, "price": None, "clock": 0,
        "at": None, "points": [], "named": {}, "pairs": {}, "point": None,
    }  # fmt: skip
    return [full, empty]


def test_what_is_written_is_read_by_confluents_deserializer(
    bench: RegistryBench, unique: Callable[[str], str]
) -> None:
    topic = unique("orders")
    converter = bench.converter(decimal_format="numeric", json_schema_spec_version="draft_7")
    order = ORDER.as_optional()
    values = [Struct(order, each) for each in _orders()]
    bad = Struct(order, _orders()[1] | {"raw": None})
    rows = bench.encode(converter, topic, order, [*values, None, bad])
    raws = rows[:2]

    assert rows[2] is None
    assert "null value for field that is required" in rows[3]
    text = bench.registry.latest(f"{topic}-value")["schema"]
    # It also holds what was written against the schema.
    full, empty = (JSONDeserializer(text)(each, context(topic)) for each in raws)
    assert full == {
        "tiny": -128, "large": 2**63 - 1, "late": "🚰", "raw": "AP8=", "day": -1, "price": -1.23,
        "clock": 86_399_999, "at": -1, "points": [{"x": 0.5}] * 2, "named": {"": 0, "ü": 5},
        "pairs": [{"key": -1, "value": {"x": 0.5}}], "point": {"x": 0.5},
    }  # fmt: skip
    assert (empty["large"], empty["late"], empty["pairs"]) == (None, "d", [])

    layout = converter.layout(raws[0])
    assert layout.schema == order
    read = [plain(each) for each in bench.decode(converter, layout, raws)]
    assert read == [plain(values[0]), plain(values[1]) | {"late": "d"}]
    assert [converter.encode_one_for(topic, order, each) for each in values] == raws
    quiet = bench.converter(ignore_default_for_nullables="true", json_schema_spec_version="draft_7")
    (kept,) = bench.encode(quiet, topic, order, values[1:])
    assert json.loads(kept[5:])["late"] is None


def test_generated_data_comes_back_as_it_was(
    bench: RegistryBench, unique: Callable[[str], str]
) -> None:
    generator = Generator(5)
    converter = bench.converter(json_schema_spec_version="draft_7")
    for number in range(4):
        schema = generator.schema()
        topic = unique(f"generated-{number}")
        values = [generator.value(schema, may_be_null=schema.optional) for _ in range(40)]
        raws = bench.encode(converter, topic, schema, values)
        given = [each for each in raws if isinstance(each, bytes)]
        assert given
        for value, raw in zip(values, raws, strict=True):
            assert not difference(_parsed(raw), _parsed(_one(converter, topic, schema, value)))
        layout = converter.layout(given[0])
        read = bench.decode(converter, layout, given)
        ones = [_read_one(converter, each) for each in given]
        assert str(list(map(plain, read))) == str(list(map(plain, ones)))


def _one(converter: Any, topic: str, schema: Schema, value: Any) -> Any:
    try:
        return converter.encode_one_for(topic, schema, value)
    except DataError as error:
        return str(error)


def _parsed(raw: Any) -> Any:
    """Some Javas write more digits of a float than it needs."""
    return json.loads(raw[5:]) if isinstance(raw, bytes) else raw


def _read_one(converter: Any, raw: bytes) -> Any:
    try:
        return converter.decode_one(raw).value
    except DataError as error:
        return str(error)
