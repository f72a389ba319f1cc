"""Connect schemas as Protobuf messages, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from penstock.codecs.protobuf.files import ProtoSchema
from penstock.codecs.protobuf.from_connect import proto_file
from penstock.codecs.protobuf.options import (
    ENUM,
    GENERAL_ENUM,
    GENERAL_UNION,
    TAG,
    TYPE,
    UNION,
    ProtobufOptions,
)
from penstock.codecs.protobuf.print_file import proto_text
from penstock.codecs.protobuf.to_connect import connect_schema
from penstock.kernel.data.schema import (
    PRECISION,
    Field,
    Schema,
    SchemaType,
    date_schema,
    decimal_schema,
    struct_schema,
    time_schema,
    timestamp_schema,
)
from penstock.kernel.errors import DataError

STRING = Schema(SchemaType.STRING)
INT32 = Schema(SchemaType.INT32)


def _text(schema: Schema, **options: bool) -> str:
    return proto_text(proto_file(schema, ProtobufOptions(**options))[0])


def _read(text: str, *indexes: int, **options: bool) -> Schema:
    schema = ProtoSchema.parse(f'syntax = "proto3"; {text}', {})
    return connect_schema(schema.message(indexes or (0,)).descriptor(), ProtobufOptions(**options))


def _tagged(schema: Schema, number: int) -> Schema:
    return replace(schema, parameters=(*schema.parameters, (TAG, str(number))))


def _array(of: Schema, **more: Any) -> Schema:
    return Schema(SchemaType.ARRAY, value_schema=of, **more)


def _map(keys: Schema, values: Schema, **more: Any) -> Schema:
    return Schema(SchemaType.MAP, key_schema=keys, value_schema=values, **more)


POINT = struct_schema(Field("x", Schema(SchemaType.FLOAT64)), name="geo.Point")
ALL = struct_schema(
    Field("tiny", Schema(SchemaType.INT8)),
    Field("small", Schema(SchemaType.INT16, optional=True)),
    Field("number", INT32),
    Field("large", Schema(SchemaType.INT64, optional=True)),
    Field("single", Schema(SchemaType.FLOAT32)),
    Field("double", Schema(SchemaType.FLOAT64)),
    Field("flag", Schema(SchemaType.BOOLEAN)),
    Field("text", Schema(SchemaType.STRING, optional=True)),
    Field("raw", Schema(SchemaType.BYTES)),
    Field("price", decimal_schema(2)),
    Field("day", date_schema()),
    Field("hour", time_schema()),
    Field("moment", timestamp_schema(optional=True)),
    Field("names", _array(STRING)),
    Field("points", _array(POINT)),
    Field("counts", _map(STRING, INT32)),
    Field("Point", POINT),
    name="shop.Order",
)
EXPECTED = """\
syntax = "proto3";

package shop;

import "confluent/meta.proto";
import "confluent/type/decimal.proto";
import "google/type/date.proto";
import "google/type/timeofday.proto";
import "google/protobuf/timestamp.proto";

message Order {
  int32 tiny = 1 [(confluent.field_meta) = {params: [{key: "connect.type", value: "int8"}]}];
  int32 small = 2 [(confluent.field_meta) = {params: [{key: "connect.type", value: "int16"}]}];
  int32 number = 3;
  int64 large = 4;
  float single = 5;
  double double = 6;
  bool flag = 7;
  string text = 8;
  bytes raw = 9;
  .confluent.type.Decimal price = 10 META;
  .google.type.Date day = 11;
  .google.type.TimeOfDay hour = 12;
  .google.protobuf.Timestamp moment = 13;
  repeated string names = 14;
  repeated Point points = 15;
  repeated ConnectDefault1Entry counts = 16;
  PointMessage Point = 17;
  message Point {
    double x = 1;
  }
  message ConnectDefault1Entry {
    string key = 1;
    int32 value = 2;
  }
  message PointMessage {
    double x = 1;
  }
}
""".replace("META", '[(confluent.field_meta) = {params: [{key: "scale", value: "2"}]}]')


def test_a_struct_of_everything() -> None:
    assert _text(ALL) == EXPECTED


@pytest.mark.parametrize("option", ["optional_for_nullables", "wrapper_for_nullables"])
def test_what_is_written_is_read_as_it_was(option: str) -> None:
    plain = {each.name: each.schema for each in ALL.fields}
    read = connect_schema(
        ProtoSchema.parse(_text(ALL, **{option: True}), {}).message((0,)).descriptor(),
        ProtobufOptions(**{option: True}),
    )

    assert read.name == "Order"
    for number, field in enumerate(read.fields, start=1):
        before = plain[field.name]
        assert field.schema.parameter(TAG) == str(number)
        assert field.schema.type is before.type
        if before.type in (SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT):
            continue
        # Messages can always be absent.
        logical = before.name is not None
        expected = _tagged(replace(before, optional=before.optional or logical), number)
        assert field.schema == expected


def test_nulls_that_protobuf_can_tell() -> None:
    schema = struct_schema(Field("a", Schema(SchemaType.STRING, optional=True)), Field("b", STRING))
    assert "  string a = 1;\n  string b = 2;" in _text(schema)
    assert "  optional string a = 1;\n  string b" in _text(schema, optional_for_nullables=True)
    assert "  .google.protobuf.StringValue a = 1;\n  string b" in _text(
        schema, wrapper_for_nullables=True
    )


def test_a_struct_without_a_name() -> None:
    inner = struct_schema(Field("c", STRING))
    text = _text(struct_schema(Field("a", inner), Field("b", _map(STRING, inner))))
    assert "message ConnectDefault1 {\n  ConnectDefault2 a = 1;" in text
    assert "repeated ConnectDefault3Entry b = 2;" in text
    assert "package" not in text


@pytest.mark.parametrize(
    ("type_", "name", "place"),
    [
        (SchemaType.STRING, "StringValue", 7),
        (SchemaType.INT8, "Int32Value", 4),
        (SchemaType.INT64, "Int64Value", 2),
        (SchemaType.BYTES, "BytesValue", 8),
    ],
)
def test_single_values_are_googles_messages(type_: SchemaType, name: str, place: int) -> None:
    file, index = proto_file(Schema(type_), ProtobufOptions())
    assert index == place
    assert file.message_type[index].name == name


def test_numbers_of_fields_stay_and_new_ones_get_free_numbers() -> None:
    schema = struct_schema(
        Field("new", STRING), Field("old", _tagged(STRING, 1)), Field("more", STRING)
    )
    text = _text(schema)
    assert "string new = 2;\n  string old = 1;\n  string more = 3;" in text


def test_enums_and_oneofs_come_back() -> None:
    text = """
        message M {
          enum Color { RED = 0; BLUE = 5; }
          Color color = 1;
          oneof choice { string a = 2; Part b = 3; }
          message Part { int32 n = 1; }
        }
    """
    for options in ({}, {"generalized_sum_type_support": True}):
        schema = _read(text, **options)
        again = proto_text(proto_file(schema, ProtobufOptions(**options))[0])
        assert "Color color = 1;" in again
        assert "enum Color {\n    RED = 0;\n    BLUE = 5;\n  }" in again
        assert "oneof choice {\n    string a = 2;\n    Part b = 3;\n  }" in again
        assert _read(again.partition(";")[2], **options) == schema


def test_an_enum() -> None:
    text = "package p; message M { E e = 1; } enum E { A = 0; B = -3; }"
    symbols = ((f"{ENUM}.A", "0"), (f"{ENUM}.B", "-3"), (TAG, "1"))

    plain = _read(text).fields[0].schema
    assert plain.type is SchemaType.STRING
    assert (plain.name, plain.optional) == ("E", True)
    assert plain.parameters == ((ENUM, "E"), *symbols)
    number = _read(text, int_for_enums=True, enhanced_protobuf_schema_support=True)
    assert number.name == "p.M"
    assert (number.fields[0].schema.type, number.fields[0].schema.name) == (
        SchemaType.INT32,
        "p.E",
    )
    general = _read(text, generalized_sum_type_support=True).fields[0].schema
    assert general.parameter(GENERAL_ENUM) == "E"
    assert general.parameter(f"{GENERAL_ENUM}.B") == "-3"


def test_a_oneof() -> None:
    text = "package p; message M { int32 i = 9; oneof k { string a = 1; int32 b = 2; } }"
    a = _tagged(Schema(SchemaType.STRING, optional=True), 1)
    b = _tagged(Schema(SchemaType.INT32, optional=True), 2)

    schema = _read(text)
    union = struct_schema(Field("a", a), Field("b", b), name=f"{UNION}.k", optional=True)
    assert schema.fields[0] == Field("k_0", union)
    assert [each.name for each in schema.fields] == ["k_0", "i"]
    assert _read(text, generate_index_for_unions=False).fields[0].name == "k"
    assert _read(text, flatten_unions=True).fields[:2] == (Field("a", a), Field("b", b))
    general = _read(text, generalized_sum_type_support=True).fields[0].schema
    assert (general.name, general.parameter(GENERAL_UNION)) == ("k", "k")


@pytest.mark.parametrize(
    ("declared", "type_", "parameter"),
    [
        ("sint32", SchemaType.INT32, "sint32"),
        ("sfixed32", SchemaType.INT32, "sfixed32"),
        ("uint32", SchemaType.INT64, "uint32"),
        ("fixed64", SchemaType.INT64, "fixed64"),
        ("int64", SchemaType.INT64, None),
        ("float", SchemaType.FLOAT32, None),
    ],
)
def test_scalars(declared: str, type_: SchemaType, parameter: str | None) -> None:
    schema = _read(f"message M {{ {declared} f = 1; }}").fields[0].schema
    assert (schema.type, schema.parameter(TYPE), schema.optional) == (type_, parameter, True)
    again = _text(struct_schema(Field("f", schema)))
    assert f"  {declared} f = 1;" in again


def test_optional_and_not() -> None:
    text = "message M { string a = 1; optional string b = 2; repeated string c = 3; M2 d = 4; }"
    text += "message M2 { }"
    flags = {
        option: [each.schema.optional for each in _read(text, **{option: True}).fields]
        for option in ("scrub_invalid_names", "optional_for_nullables", "wrapper_for_nullables")
    }
    assert flags == {
        "scrub_invalid_names": [True, True, True, True],
        "optional_for_nullables": [False, True, True, True],
        "wrapper_for_nullables": [False, True, True, True],
    }


def test_wrappers() -> None:
    text = (
        'import "google/protobuf/wrappers.proto"; message M { google.protobuf.UInt32Value n = 1; }'
    )
    assert _read(text).fields[0].schema.type is SchemaType.STRUCT
    read = _read(text, wrapper_for_nullables=True).fields[0].schema
    assert (read.type, read.optional) == (SchemaType.INT64, True)


def test_maps_declared_or_not() -> None:
    declared = _read("message M { map<int32, string> my_map = 1; }").fields[0].schema
    assert declared.type is SchemaType.MAP
    assert declared.name == "my_map"
    made = _read(
        "message M { repeated XEntry m = 1;"
        " message XEntry { P key = 1; P value = 2; message P { } } }"
    ).fields[0]
    assert made.schema.type is SchemaType.MAP
    assert made.schema.key_schema is not None
    assert made.schema.key_schema.type is SchemaType.STRUCT


def test_a_decimal() -> None:
    meta = '[(confluent.field_meta).params = {key: "precision", value: "9"}]'
    schema = _read(
        'import "confluent/type/decimal.proto";'
        f" message M {{ confluent.type.Decimal d = 1 {meta}; }}"
    )
    found = schema.fields[0].schema
    assert (found.is_decimal, found.scale, found.parameter(PRECISION)) == (True, 0, "9")


def test_messages_are_found_by_their_places() -> None:
    text = "message A { message B { } message C { string s = 1; } } message D { int32 i = 1; }"
    assert _read(text, 0, 1).fields[0].name == "s"
    assert _read(text, 1).name == "D"
    with pytest.raises(DataError, match=r"no message at the indexes \[2\]"):
        _read(text, 2)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (_array(STRING), "Unsupported root schema of type ARRAY"),
        (struct_schema(Field("a", _array(_array(STRING)))), "array of arrays"),
        (struct_schema(Field("a-b", STRING)), "scrub.invalid.names=true"),
        (
            struct_schema(
                Field("a", replace(POINT, name="P")),
                Field("b", struct_schema(Field("y", STRING), name="P")),
            ),
            "Two different schemas are called P",
        ),
    ],
)
def test_what_protobuf_has_no_form_for(schema: Schema, words: str) -> None:
    with pytest.raises(DataError, match=words):
        proto_file(schema, ProtobufOptions())


def test_a_message_that_contains_itself() -> None:
    with pytest.raises(DataError, match="Node contains itself"):
        _read("message Node { Node next = 1; }")


def test_names_are_changed_on_request() -> None:
    schema = struct_schema(
        Field("a-b", STRING), Field("1st", STRING), Field("ü", STRING), name="my pack.my type"
    )
    text = _text(schema, scrub_invalid_names=True)
    assert "package my_pack;" in text
    assert "message my_type {" in text
    assert "string a_b = 1;\n  string x1st = 2;\n  string _C3_BC = 3;" in text
