"""ProtobufConverter over columns: with a real registry, and Confluent's serializer beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from google.protobuf import message_factory
from pyspark.sql import SparkSession

from penstock.codecs.protobuf.files import ProtoSchema
from penstock.codecs.protobuf.from_connect import proto_file
from penstock.codecs.protobuf.options import ProtobufOptions
from penstock.converters.protobuf.converter import ProtobufConverter
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
from tests.spark.converters.generate import Generator
from tests.spark.converters.registry_bench import RegistryBench, context, plain

STRING = Schema(SchemaType.STRING)
ALL = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "google/type/date.proto";
import "google/type/timeofday.proto";
import "confluent/meta.proto";
import "confluent/type/decimal.proto";
message Other { string note = 1; }
message All {
  enum Color { RED = 0; BLUE = 3; }
  message Part { int32 n = 1; Part2 deep = 2; message Part2 { string s = 1; } }
  bool flag = 1;
  int32 a = 2; sint32 b = 3; sfixed32 c = 4; uint32 d = 5; fixed32 e = 6;
  int64 f = 7; sint64 g = 8; sfixed64 h = 9; uint64 i = 10; fixed64 j = 11;
  float single = 12; double wide = 13;
  string text = 14; bytes raw = 15;
  optional string maybe = 16;
  Color color = 17;
  repeated int64 numbers = 18; repeated Part parts = 19; repeated Color colors = 20;
  map<string, Part> by_name = 21; map<int32, double> by_number = 22;
  oneof choice { string word = 23; Part piece = 24; }
  Part part = 25;
  google.protobuf.Timestamp at = 26;
  google.type.Date day = 27;
  google.type.TimeOfDay clock = 28;
  confluent.type.Decimal price = 29 [(confluent.field_meta).params = {key: "scale", value: "2"}];
  google.protobuf.Int64Value wrapped = 30;
}
"""
FULL = {
    "flag": True, "a": -(2**31), "b": -1, "c": 2**31 - 1, "d": 2**32 - 1, "e": 2**32 - 1,
    "f": -(2**63), "g": 2**63 - 1, "h": -1, "i": 2**64 - 1, "j": 2**63,
    "single": 0.5, "wide": -1e300, "text": "Grüße 🚰", "raw": b"\0\xff", "maybe": "",
    "color": 3, "numbers": [1, -1, 2**62], "parts": [{"n": 1}, {"deep": {"s": "x"}}],
    "colors": [3, 0], "by_name": {"ü": {"n": 7}}, "by_number": {-1: 0.25},
    "piece": {"n": 9}, "part": {"deep": {}},
    "at": {"seconds": -1, "nanos": 999_000_000}, "day": {"year": 1969, "month": 12, "day": 31},
    "clock": {"hours": 23, "minutes": 59, "seconds": 59, "nanos": 999_999_999},
    "price": {"value": b"\xff\x85", "scale": 2, "precision": 3}, "wrapped": {"value": 0},
}  # fmt: skip
READ_FULL = {
    **FULL, "i": -1, "j": -(2**63), "color": "BLUE", "colors": ["BLUE", "RED"],
    "parts": [{"n": 1, "deep": None}, {"n": 0, "deep": {"s": "x"}}],
    "by_name": {"ü": {"n": 7, "deep": None}}, "part": {"n": 0, "deep": {"s": ""}},
    "choice_0": {"word": None, "piece": {"n": 9, "deep": None}},
    "at": -1, "day": -1, "clock": 86_399_999, "price": Decimal("-1.23"), "wrapped": {"value": 0},
}  # fmt: skip
del READ_FULL["piece"]
READ_EMPTY: dict[str, Any] = {
    **dict.fromkeys("abcdefghij", 0), "flag": False, "single": 0.0, "wide": 0.0, "text": "",
    "raw": b"", "maybe": None, "color": "RED", "numbers": [], "parts": [], "colors": [],
    "by_name": {}, "by_number": {}, "choice_0": None, "part": None, "at": None, "day": None,
    "clock": None, "price": None, "wrapped": None,
}  # fmt: skip


@pytest.fixture
def bench(spark: SparkSession, registry: SchemaRegistry) -> RegistryBench:
    return RegistryBench(spark, registry, ProtobufConverter)


def _class(text: str, *indexes: int) -> Any:
    message = ProtoSchema.parse(text, {}).message(indexes)
    return message_factory.GetMessageClass(message.descriptor())


def _serializer(bench: RegistryBench, message: Any) -> Any:
    return ProtobufSerializer(message, bench.client, {"use.deprecated.format": False})


def test_what_confluents_serializer_wrote_is_read(
    bench: RegistryBench, unique: Callable[[str], str]
) -> None:
    topic = unique("all")
    message = _class(ALL, 1)
    serialize = _serializer(bench, message)
    full, empty = (serialize(message(**values), context(topic)) for values in (FULL, {}))
    # The same file, but other messages of it: [0] and the nested [1, 0].
    other, part = _class(ALL, 0), _class(ALL, 1, 0)
    another = _serializer(bench, other)(other(note="x"), context(topic))
    nested = _serializer(bench, part)(part(n=5), context(topic))
    # And another schema.
    line = _class('syntax = "proto3"; message Line { string s = 1; }', 0)
    foreign = _serializer(bench, line)(line(s="x"), context(unique("lines")))

    converter = bench.converter()
    layout = converter.layout(full)
    raws = [full, empty, None, another, foreign, full[:-1], full[:8], b"no magic", empty[:5]]
    read = [plain(each) for each in bench.decode(converter, layout, raws)]

    assert read[:3] == [READ_FULL, READ_EMPTY, None]
    assert read[3:5] == [..., ...]
    assert read[5] == "The bytes are not a Protobuf message of type shop.All"
    assert read[6] == read[5]
    assert read[7:] == [..., ...]
    assert not converter.layout(b"no magic").regular
    with pytest.raises(DataError, match="which message of its Protobuf schema"):
        converter.decode_one(empty[:5])
    assert [
        plain(converter.decode_one(each).value) for each in (full, another, nested, foreign)
    ] == [
        READ_FULL,
        {"note": "x"},
        {"n": 5, "deep": None},
        {"s": "x"},
    ]


POINT = struct_schema(Field("x", Schema(SchemaType.FLOAT64)), name="geo.Point")
ORDER = struct_schema(
    Field("tiny", Schema(SchemaType.INT8)),
    Field("large", Schema(SchemaType.INT64, optional=True)),
    Field("text", Schema(SchemaType.STRING, optional=True)),
    Field("raw", Schema(SchemaType.BYTES)),
    Field("price", decimal_schema(2, optional=True)),
    Field("day", date_schema()),
    Field("clock", time_schema()),
    Field("at", timestamp_schema(optional=True)),
    Field("points", Schema(SchemaType.ARRAY, value_schema=POINT)),
    Field(
        "counts",
        Schema(SchemaType.MAP, key_schema=STRING, value_schema=Schema(SchemaType.INT32)),
    ),
    Field("point", replace(POINT, optional=True)),
    name="shop.Order",
)


def _orders() -> list[dict[str, Any]]:
    point = Struct(POINT, {"x": 0.5})
    full = {
        "tiny": -128, "large": 2**63 - 1, "text": "Grüße 🚰", "raw": b"\0", "day": -1,
        "price": Decimal("-12345678901234567890.12"), "clock": 1, "at": -1,
        "points": [point, point], "counts": {"": 0, "ü": 5}, "point": point,
    }  # fmt: skip
    empty: dict[str, Any] = {
        "tiny": 0, "large": None, "text": None, "raw": b"", "day": 0, "price": None, "clock": 0,
        "at": None, "points": [], "counts": {}, "point": None,
    }  # fmt: skip
    return [full, empty]


@pytest.mark.parametrize("nulls", ["", "optional.for.nullables", "wrapper.for.nullables"])
def test_what_is_written_is_read_by_confluents_deserializer(
    bench: RegistryBench, unique: Callable[[str], str], nulls: str
) -> None:
    topic = unique("orders")
    converter = bench.converter(**({nulls: "true"} if nulls else {}))
    values = [Struct(ORDER, each) for each in _orders()]
    bad = Struct(ORDER, _orders()[1] | {"day": None})
    rows = bench.encode(converter, topic, ORDER.as_optional(), [*values, None, bad])
    raws = rows[:2]

    assert rows[2] is None
    assert rows[3].endswith("required and has no default value: day")
    # As Apicurio keeps it, and as the other side has to understand it.
    text = bench.registry.latest(f"{topic}-value")["schema"]
    deserialize = ProtobufDeserializer(_class(text, 0), {"use.deprecated.format": False})
    full, empty = (deserialize(each, context(topic)) for each in raws)
    assert (full.tiny, full.raw, full.clock.nanos) == (-128, b"\0", 1_000_000)
    assert (full.day.year, full.day.month, full.day.day) == (1969, 12, 31)
    assert (full.at.seconds, full.at.nanos) == (-1, 999_000_000)
    assert int.from_bytes(full.price.value, "big", signed=True) == -1234567890123456789012
    assert (full.price.scale, full.price.precision) == (2, 22)
    assert [each.x for each in full.points] == [0.5, 0.5]
    assert {each.key: each.value for each in full.counts} == {"": 0, "ü": 5}
    assert not empty.HasField("at")
    wrapped = nulls == "wrapper.for.nullables"
    assert (full.text.value if wrapped else full.text) == "Grüße 🚰"
    if nulls:
        assert not empty.HasField("text")

    layout = converter.layout(raws[0])
    read = [plain(each) for each in bench.decode(converter, layout, raws)]
    expected = [plain(each) for each in values]
    if not nulls:
        expected[1] |= {"large": 0, "text": ""}
    assert read == expected
    assert [converter.encode_one_for(topic, ORDER, each) for each in values] == raws


def test_single_values(bench: RegistryBench, unique: Callable[[str], str]) -> None:
    topic = unique("texts")
    converter = bench.converter()
    raws = bench.encode(converter, topic, STRING.as_optional(), ["x", "", None])
    assert [each and each[5:] for each in raws] == [b"\2\x0e\x0a\1x", b"\2\x0e", None]
    assert bench.decode(converter, converter.layout(raws[0]), raws) == ["x", "", None]


def test_references_are_followed(bench: RegistryBench, unique: Callable[[str], str]) -> None:
    topic, common = unique("orders"), unique("common")
    bench.registry.register(
        common,
        'syntax = "proto3"; package common; message Money { int64 cents = 1; }',
        "PROTOBUF",
    )
    number = bench.registry.register(
        f"{topic}-value",
        'syntax = "proto3"; import "common/money.proto"; message O { common.Money price = 1; }',
        "PROTOBUF",
        references=[{"name": "common/money.proto", "subject": common, "version": 1}],
    )
    converter = bench.converter(auto_register_schemas="false", use_latest_version="true")
    raw = b"\0" + number.to_bytes(4, "big") + b"\0\x0a\2\x08\x63"
    assert plain(converter.decode_one(raw).value) == {"price": {"cents": 99}}
    # With the latest version it is written in the form that the registry has.
    money = struct_schema(Field("cents", Schema(SchemaType.INT64)), name="Money")
    order = struct_schema(Field("price", money), name="O")
    value = Struct(order, {"price": Struct(money, {"cents": 99})})
    assert bench.encode(converter, topic, order, [value]) == [raw]
    unfit = struct_schema(Field("weight", STRING), name="O")
    (fault,) = bench.encode(converter, topic, unfit, [Struct(unfit, {"weight": "x"})])
    assert "O has no field weight" in fault


def test_generated_data_comes_back_as_it_was(
    bench: RegistryBench, unique: Callable[[str], str]
) -> None:
    generator = Generator(11)
    options = ProtobufOptions(scrub_invalid_names=True, optional_for_nullables=True)
    converter = bench.converter(scrub_invalid_names="true", optional_for_nullables="true")
    schemas = [each for each in (generator.schema() for _ in range(60)) if _exists(each, options)]
    assert len(schemas) >= 6
    for number, schema in enumerate(schemas[:4]):
        topic = unique(f"generated-{number}")
        values = [generator.value(schema, may_be_null=schema.optional) for _ in range(40)]
        rows = bench.encode(converter, topic, schema, values)
        raws = [None if isinstance(each, str) else each for each in rows]
        assert any(raws)
        for value, row in zip(values, rows, strict=True):
            assert row == _one(converter, topic, schema, value)
        layout = converter.layout(next(filter(None, raws)))
        read = bench.decode(converter, layout, raws)
        ones = [converter.decode_one(each).value for each in raws]
        assert str(list(map(plain, read))) == str(list(map(plain, ones)))


def _one(converter: Any, topic: str, schema: Schema, value: Any) -> Any:
    try:
        return converter.encode_one_for(topic, schema, value)
    except DataError as error:
        return str(error)


def _exists(schema: Schema, options: ProtobufOptions) -> bool:
    """Whether Protobuf has a form for the schema."""
    try:
        file, index = proto_file(schema, options)
        ProtoSchema.of(file).message((index,)).descriptor()
    except DataError:
        return False
    return True
