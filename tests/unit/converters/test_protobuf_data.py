"""Columns of Protobuf messages: values there and back, and the faults of single rows."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf import message_factory

from penstock.codecs.protobuf.files import MessageType, ProtoSchema
from penstock.codecs.protobuf.from_connect import proto_file
from penstock.codecs.protobuf.options import UNION, ProtobufOptions
from penstock.codecs.protobuf.print_file import proto_text
from penstock.codecs.protobuf.to_connect import connect_schema
from penstock.columns.single import array_of, value_of
from penstock.converters.protobuf.decode import DecodeKernel
from penstock.converters.protobuf.encode import EncodeKernel
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

STRING = Schema(SchemaType.STRING)
TEXT = Schema(SchemaType.STRING, optional=True)


def _message(schema: Schema, **options: bool) -> MessageType:
    file, index = proto_file(schema, ProtobufOptions(**options))
    return ProtoSchema.parse(proto_text(file), {}).message((index,))


def _written(schema: Schema, *values: Any, **options: bool) -> list[Any]:
    kernel = EncodeKernel(schema, _message(schema, **options), ProtobufOptions(**options))
    rows = kernel(array_of(schema, list(values))).to_pylist()
    return [row["error"] or row["data"] for row in rows]


def _read(message: MessageType, *raws: bytes | None, **options: bool) -> list[Any]:
    chosen = ProtobufOptions(**options)
    schema = connect_schema(message.descriptor(), chosen)
    rows = DecodeKernel(schema, message, chosen, skip=0)(pa.array(raws, pa.binary())).to_pylist()
    return [row["error"] or _plain(value_of(schema, row["data"])) for row in rows]


def _there_and_back(schema: Schema, *values: Any, **options: bool) -> list[Any]:
    return _read(_message(schema, **options), *_written(schema, *values, **options), **options)


def _plain(value: Any) -> Any:
    match value:
        case Struct():
            return {name: _plain(each) for name, each in value.values.items()}
        case list():
            return [_plain(each) for each in value]
        case dict():
            return {key: _plain(each) for key, each in value.items()}
    return value


def _proto(text: str) -> MessageType:
    return ProtoSchema.parse(text, {}).message((0,))


def _bytes(message: MessageType, **values: Any) -> bytes:
    made = message_factory.GetMessageClass(message.descriptor())(**values)
    return bytes(made.SerializeToString())


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        (Schema(SchemaType.INT8), [-128, 0, 127]),
        (Schema(SchemaType.INT16), [-(2**15), 2**15 - 1]),
        (Schema(SchemaType.INT32), [-(2**31), 2**31 - 1]),
        (Schema(SchemaType.INT64), [-(2**63), 0, 2**63 - 1]),
        (Schema(SchemaType.FLOAT32), [1.5, float("inf"), -0.0]),
        (Schema(SchemaType.FLOAT64), [5e-324, 1.7976931348623157e308]),
        (Schema(SchemaType.BOOLEAN), [True, False]),
        (STRING, ["", "Köln 🚰", "\0"]),
        (Schema(SchemaType.BYTES), [b"", b"\0\xff"]),
        (decimal_schema(3), [Decimal("-0.001"), Decimal("9" * 35 + ".999"), Decimal("0.000")]),
        (date_schema(), [-719_162, -1, 0, 2_932_896]),
        (time_schema(), [0, 1, 86_399_999]),
        (timestamp_schema(), [-62_135_596_800_000, -1, 0, 253_402_300_799_999]),
    ],
)
def test_values_there_and_back(schema: Schema, values: list[Any]) -> None:
    whole = struct_schema(
        Field("one", schema),
        Field("many", Schema(SchemaType.ARRAY, value_schema=schema)),
        Field("named", Schema(SchemaType.MAP, key_schema=STRING, value_schema=schema)),
    )
    rows = [{"one": v, "many": [v, *values], "named": {"k": v, "": values[0]}} for v in values]
    assert _there_and_back(whole, *(Struct(whole, row) for row in rows)) == rows


@pytest.mark.parametrize("type_", [SchemaType.INT32, SchemaType.STRING, SchemaType.BYTES])
def test_single_values_there_and_back(type_: SchemaType) -> None:
    values = {SchemaType.INT32: 7, SchemaType.STRING: "x", SchemaType.BYTES: b"x"}
    assert _there_and_back(Schema(type_, optional=True), values[type_], None) == [
        values[type_],
        None,
    ]


def test_structs_in_structs_and_null() -> None:
    inner = struct_schema(Field("s", TEXT), Field("n", Schema(SchemaType.INT32)), optional=True)
    outer = struct_schema(
        Field("a", inner),
        Field("list", Schema(SchemaType.ARRAY, value_schema=inner)),
        Field("map", Schema(SchemaType.MAP, key_schema=inner, value_schema=inner, optional=True)),
    )
    one = Struct(inner, {"s": "x", "n": 1})
    values: list[Any] = [
        {"a": None, "list": [], "map": None},
        None,
        {"a": one, "list": [one, one], "map": {}},
    ]
    rows = [None if each is None else Struct(outer, each) for each in values]
    plain = {"s": "x", "n": 1}
    assert _there_and_back(outer, *rows) == [
        {"a": None, "list": [], "map": {}},
        None,
        {"a": plain, "list": [plain, plain], "map": {}},
    ]


@pytest.mark.parametrize(
    ("option", "read"),
    [
        ("scrub_invalid_names", {"s": "", "n": 0}),
        ("optional_for_nullables", {"s": None, "n": None}),
        ("wrapper_for_nullables", {"s": None, "n": None}),
    ],
)
def test_null_is_absent_if_protobuf_can_say_so(option: str, read: dict[str, Any]) -> None:
    schema = struct_schema(Field("s", TEXT), Field("n", Schema(SchemaType.INT32, optional=True)))
    null, zero = Struct(schema, {"s": None, "n": None}), Struct(schema, {"s": "", "n": 0})
    assert _there_and_back(schema, null, zero, **{option: True}) == [read, {"s": "", "n": 0}]


def test_defaults_stand_for_null() -> None:
    schema = struct_schema(Field("s", Schema(SchemaType.STRING, optional=True, default="d")))
    rows = [Struct(schema, {"s": text}) for text in (None, "x")]
    assert _there_and_back(schema, *rows) == [{"s": "d"}, {"s": "x"}]


def test_parts_of_larger_arrays() -> None:
    inner = struct_schema(Field("n", Schema(SchemaType.INT32)))
    schema = struct_schema(
        Field("s", Schema(SchemaType.STRING, optional=True, default="d")),
        Field("l", Schema(SchemaType.ARRAY, value_schema=inner, optional=True)),
        Field("m", Schema(SchemaType.MAP, key_schema=STRING, value_schema=inner, optional=True)),
    )
    rows = [
        {"s": None, "l": [Struct(inner, {"n": n})] * n, "m": {"k": Struct(inner, {"n": n})}}
        for n in range(5)
    ]
    kernel = EncodeKernel(schema, _message(schema), ProtobufOptions())
    whole = array_of(schema, [Struct(schema, row) for row in rows])
    raws = kernel(whole.slice(2, 2)).field("data").to_pylist()
    assert _read(_message(schema), *raws) == [
        {"s": "d", "l": [{"n": n}] * n, "m": {"k": {"n": n}}} for n in (2, 3)
    ]
    empty = {"s": "", "l": None, "m": None}
    assert _there_and_back(schema, Struct(schema, empty), None) == [
        {"s": "", "l": [], "m": {}},
        None,
    ]
    assert _there_and_back(schema, None) == [None]
    assert _there_and_back(schema) == []


def test_defaults_of_containers() -> None:
    schema = struct_schema(
        Field("l", Schema(SchemaType.ARRAY, value_schema=STRING, optional=True, default=["d"])),
        Field(
            "m",
            Schema(SchemaType.MAP, key_schema=STRING, value_schema=STRING, default={"k": "v"}),
        ),
    )
    rows = [Struct(schema, {"l": None, "m": None}), Struct(schema, {"l": [], "m": {}})]
    assert _there_and_back(schema, *rows) == [{"l": ["d"], "m": {"k": "v"}}, {"l": [], "m": {}}]


def test_a_name_that_a_cast_left() -> None:
    schema = struct_schema(Field("t", Schema(SchemaType.STRING, name=timestamp_schema().name)))
    assert _there_and_back(schema, Struct(schema, {"t": "x"})) == [{"t": "x"}]


def test_a_fault_is_that_of_its_row() -> None:
    schema = struct_schema(
        Field("s", STRING),
        Field("t", timestamp_schema(optional=True)),
        Field("l", Schema(SchemaType.ARRAY, value_schema=TEXT, optional=True)),
    )
    rows: list[dict[str, Any]] = [
        {"s": "good", "t": 0, "l": []},
        {"s": None, "t": 0, "l": []},
        {"s": "x", "t": 2**62, "l": []},
        {"s": "x", "t": 0, "l": ["a", None]},
        {"s": "good", "t": None, "l": None},
    ]
    written = _written(schema, *(Struct(schema, row) for row in rows))
    assert [isinstance(each, bytes) for each in written] == [True, False, False, False, True]
    assert written[1].endswith("required and has no default value: s")
    assert written[2] == "Field t: the value is beyond what google.protobuf.Timestamp can hold"
    assert written[3] == "Field l: a repeated field of Protobuf can't contain null"


def test_bytes_that_are_no_message() -> None:
    message = _proto('syntax = "proto3"; message M { string s = 1; }')
    good = _bytes(message, s="x")
    rows = _read(message, good, b"\xff", None, b"\x0a\x01\xff", b"", good)
    problem = "The bytes are not a Protobuf message of type M"
    assert rows == [{"s": "x"}, problem, None, problem, {"s": ""}, {"s": "x"}]


def test_a_required_field_of_proto2_must_be_there() -> None:
    message = _proto("message M { optional P p = 1; message P { required int32 a = 1; } }")
    good, bad = _bytes(message, p={"a": 0}), b"\x0a\x00"
    assert _read(message, good, bad) == [
        {"p": {"a": 0}},
        "The bytes are not a Protobuf message of type M",
    ]


def test_unset_fields_of_proto2() -> None:
    message = _proto('message M { optional string s = 1 [default = "d"]; }')
    assert _read(message, b"") == [{"s": None}]
    assert _read(message, b"", optional_for_proto2=False) == [{"s": "d"}]


def test_texts_of_proto2_that_are_no_utf8() -> None:
    message = _proto("message M { optional string s = 1; repeated string r = 2; }")
    assert _read(message, b"\x0a\x01\xff\x12\x01a\x12\x01\xfe") == [
        {"s": "\ufffd", "r": ["a", "\ufffd"]}
    ]


def test_a_number_that_an_enum_of_proto2_has_not() -> None:
    message = _proto("message M { optional E e = 1; enum E { A = 1; } }")
    schema = connect_schema(message.descriptor(), ProtobufOptions(int_for_enums=True))
    values = [Struct(schema, {"e": number}) for number in (1, 5)]
    rows = EncodeKernel(schema, message, ProtobufOptions())(array_of(schema, values)).to_pylist()
    assert rows[0] == {"data": b"\x08\x01", "error": None}
    assert rows[1]["error"] == "The Protobuf message M refuses it: invalid enumerator 5"


def test_dates_that_there_are_not() -> None:
    message = _proto(
        'syntax = "proto3"; import "google/type/date.proto"; import "google/type/timeofday.proto";'
        "message M { google.type.Date d = 1; repeated google.type.TimeOfDay t = 2; }"
    )
    dates = [(2024, 2, 29), (2023, 2, 29), (2024, 0, 1), (0, 1, 1), (1, 1, 1), (9999, 12, 31)]
    raws = [_bytes(message, d={"year": y, "month": m, "day": d}) for y, m, d in dates]
    read = _read(message, *raws, _bytes(message, t=[{"hours": 1}, {"hours": 24}]))
    assert [each if isinstance(each, str) else each["d"] for each in read] == [
        19_782,
        *["Not a google.type.Date: a part of it is out of range"] * 3,
        -719_162,
        2_932_896,
        "Not a google.type.TimeOfDay: a part of it is out of range",
    ]


def test_decimals_of_other_scales() -> None:
    message = _proto(
        'syntax = "proto3"; import "confluent/type/decimal.proto"; message M {'
        " confluent.type.Decimal d = 1"
        ' [(confluent.field_meta).params = {key: "scale" value: "2"}]; }'
    )
    given = [(15, 1), (150, 3), (5, -2), (1, 3), (10**38, 2), (-7, 2)]
    raws = [
        _bytes(message, d={"value": number.to_bytes(20, "big", signed=True), "scale": scale})
        for number, scale in given
    ]
    read = [row if isinstance(row, str) else str(row["d"]) for row in _read(message, *raws)]
    assert read[:3] == ["1.50", "0.15", "500.00"]
    assert read[3].startswith("A Decimal of scale 3 can't be held as one of scale 2")
    assert read[4].startswith("A Decimal of scale 2 can't be held")
    assert read[5] == "-0.07"


def test_a_null_key_is_the_fault_of_its_row() -> None:
    message = _proto(
        'syntax = "proto3"; message M { repeated XEntry m = 1;'
        " message XEntry { optional int32 key = 1; int32 value = 2; } }"
    )
    rows: list[list[tuple[int | None, int]]] = [
        [(1, 2), (3, 4), (1, 5)],
        [(None, 1), (2, 3)],
        [(6, 7)],
        [],
    ]
    raws = [_bytes(message, m=[{"key": key, "value": value} for key, value in row]) for row in rows]
    assert _read(message, *raws) == [
        {"m": {1: 5, 3: 4}},
        "The map m has a null key",
        {"m": {6: 7}},
        {"m": {}},
    ]


def test_oneofs_enums_and_unsigned_numbers() -> None:
    message = _proto(
        'syntax = "proto3"; message M { enum E { A = 0; B = 7; } E e = 1; repeated E es = 2;'
        " oneof k { string s = 3; uint64 n = 4; P p = 5; } uint32 u = 6; fixed64 f = 7;"
        " message P { int32 x = 1; } P q = 8; }"
    )
    first = _bytes(message, e=7, es=[0, 7], n=2**64 - 1, u=2**32 - 1, f=2**63)
    second = _bytes(message, es=[3], p={"x": 1}, q={})
    assert _read(message, first, second, b"") == [
        {"k_0": {"s": None, "n": -1, "p": None}, "e": "B", "es": ["A", "B"],
         "u": 2**32 - 1, "f": -(2**63), "q": None},
        {"k_0": {"s": None, "n": None, "p": {"x": 1}}, "e": "A",
         "es": ["UNKNOWN_ENUM_VALUE_E_3"], "u": 0, "f": 0, "q": {"x": 0}},
        {"k_0": None, "e": "A", "es": [], "u": 0, "f": 0, "q": None},
    ]  # fmt: skip
    flat = _read(message, first, flatten_unions=True, int_for_enums=True)[0]
    assert (flat["s"], flat["n"], flat["e"], flat["es"]) == (None, -1, 7, [0, 7])
    assert _read(message, b"", generate_struct_for_nulls=True)[0]["q"] == {"x": 0}


def test_enums_and_oneofs_are_written_again() -> None:
    message = _proto(
        'syntax = "proto3"; message M { enum E { A = 0; B = 7; } E e = 1; uint32 u = 4;'
        " oneof k { string s = 2; uint64 n = 3; } }"
    )
    raws = [_bytes(message, e=7, n=2**64 - 1, u=2**32 - 1), _bytes(message, s=""), b""]
    for options in ({}, {"generalized_sum_type_support": True}):
        schema = connect_schema(message.descriptor(), ProtobufOptions(**options))
        read = DecodeKernel(schema, message, ProtobufOptions(**options), 0)(pa.array(raws))
        kernel = EncodeKernel(schema, _message(schema, **options), ProtobufOptions(**options))
        assert kernel(read.field("data")).field("data").to_pylist() == raws


def test_a_symbol_or_a_choice_that_is_none() -> None:
    enum = connect_schema(
        _proto('syntax = "proto3"; message M { E e = 1; enum E { A = 0; } }').descriptor(),
        ProtobufOptions(),
    )
    assert _written(enum, Struct(enum, {"e": "Z"})) == ["Field e: not a symbol of the enum E"]
    union = struct_schema(Field("s", TEXT), name=f"{UNION}.k", optional=True)
    schema = struct_schema(Field("k", union))
    assert _written(schema, Struct(schema, {"k": Struct(union, {"s": None})})) == [
        f"No field of the union {UNION}.k has a value"
    ]


def test_data_in_the_form_of_another_schema() -> None:
    schema = struct_schema(
        Field("b", STRING),
        Field("m", Schema(SchemaType.MAP, key_schema=STRING, value_schema=STRING)),
    )
    other = _proto(
        'syntax = "proto3"; message X { int32 a = 1; string b = 9; map<string, string> m = 3; }'
    )
    rows = EncodeKernel(schema, other, ProtobufOptions())(
        array_of(schema, [Struct(schema, {"b": "x", "m": {"k": "v"}})])
    )
    assert _read(other, *rows.field("data").to_pylist()) == [{"a": 0, "b": "x", "m": {"k": "v"}}]
    wrong = struct_schema(Field("a", STRING))
    with pytest.raises(DataError, match="Field a of type STRING can't be written"):
        EncodeKernel(wrong, other, ProtobufOptions())(array_of(wrong, []))
    missing = struct_schema(Field("z", STRING))
    with pytest.raises(DataError, match="message X has no field z"):
        EncodeKernel(missing, other, ProtobufOptions())(array_of(missing, []))
