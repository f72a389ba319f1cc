"""Single values as Avro: the same bytes as fastavro's, and back."""

from __future__ import annotations

import io
import json
from decimal import Decimal
from typing import Any

import fastavro
import pytest

from penstock.codecs.avro.options import AvroOptions
from penstock.codecs.registry.client import RegistrySchema
from penstock.converters.avro.format import AvroFormat
from penstock.kernel.data.schema import Schema, SchemaType, Struct
from penstock.kernel.errors import DataError

AVRO = AvroFormat(AvroOptions(), 10)
POINT = {"type": "record", "name": "P", "fields": [{"name": "x", "type": ["int", "null"]}]}
FIXED = {"type": "fixed", "name": "F", "size": 2}
MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 2}
WIDE = {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 3}
PACKED = {"type": "fixed", "name": "D", "size": 5, "logicalType": "decimal", "precision": 9}
ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
ENTRIES = {
    "type": "array",
    "items": {
        "type": "record",
        "name": "io.confluent.connect.avro.MapEntry",
        "fields": [{"name": "key", "type": ["null", "int"]}, {"name": "value", "type": "string"}],
    },
}


def written(schema: Any) -> RegistrySchema:
    return RegistrySchema("AVRO", json.dumps(schema))


def plain(value: Any) -> Any:
    """As fastavro has it."""
    match value:
        case Struct():
            return {name: plain(each) for name, each in value.values.items()}
        case list():
            return [plain(each) for each in value]
        case dict():
            return {key: plain(each) for key, each in value.items()}
    return value


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ("boolean", True),
        ("int", -(2**31)),
        ("long", 2**63 - 1),
        ("long", -65),
        ("float", 0.5),
        ("double", -1e300),
        ("string", "Grüße 🚰"),
        ("bytes", b"\x00\xff"),
        (["null", "string"], "x"),
        (["string", "null"], "x"),
        (FIXED, b"ab"),
        (MONEY, Decimal("-12345678901.23")),
        (MONEY, Decimal("1.28")),
        (WIDE, Decimal("-99999999999999999999999999999999999.999")),
        (PACKED, Decimal(-7)),
        (ENUM, "B"),
        ({"type": "array", "items": ["null", "int"]}, [1, None, -3]),
        ({"type": "array", "items": "int"}, []),
        ({"type": "map", "values": {"type": "array", "items": "long"}}, {"a": [1], "ü": []}),
    ],
)
def test_values_are_those_of_fastavro(schema: Any, value: Any) -> None:
    known = written(schema)
    connect = AVRO.connect_schema(known)
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), value)
    assert AVRO.encode_one(connect, known, value) == stream.getvalue()
    assert AVRO.decode_one(connect, known, stream.getvalue()) == value


def test_structs_unions_and_maps_of_entries() -> None:
    schema = {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "point", "type": POINT},
            {"name": "choice", "type": ["null", "int", "string", "P"]},
            {"name": "entries", "type": ENTRIES},
        ],
    }
    known = written(schema)
    connect = AVRO.connect_schema(known)
    point = connect.fields[0].schema
    choice = connect.fields[1].schema
    chosen = Struct(choice, {"int": None, "string": None, "P": Struct(point, {"x": None})})
    value = Struct(
        connect, {"point": Struct(point, {"x": 3}), "choice": chosen, "entries": {7: "a"}}
    )
    raw = AVRO.encode_one(connect, known, value)
    assert raw == b"\x00\x06" + b"\x06\x02" + b"\x02\x02\x0e\x02a\x00"
    assert plain(AVRO.decode_one(connect, known, raw)) == plain(value)


@pytest.mark.parametrize(
    ("schema", "raw"),
    [
        ("string", b"\x0aab"),
        ("string", b"\x01"),
        ("long", b"\xff" * 12),
        ("long", b""),
        (ENUM, b"\x04"),
        (["null", "int"], b"\x04\x02"),
        (["int", "string"], b"\x04\x02"),
        (
            {"type": "array", "items": {"type": "record", "name": "Z", "fields": []}},
            b"\xfe\xff\x7f",
        ),
        (MONEY, b"\x00"),
        (ENTRIES, b"\x02\x00\x02a\x00"),
    ],
)
def test_bytes_that_are_none_are_refused(schema: Any, raw: bytes) -> None:
    known = written(schema)
    with pytest.raises(DataError, match="not Avro data"):
        AVRO.decode_one(AVRO.connect_schema(known), known, raw)


@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [
        ("int", None, "null value for non-optional"),
        ("string", 5, "is not a valid string"),
        (FIXED, b"abc", "2 bytes"),
        (PACKED, Decimal(10**12), "5 bytes"),
        (ENUM, "C", "symbol of enum E"),
        (MONEY, Decimal("0.001"), "more than 2 digits"),
        ({"type": "int", "logicalType": "time-millis"}, 86_400_001, "time of the day"),
    ],
)
def test_values_that_do_not_fit_are_refused(schema: Any, value: Any, words: str) -> None:
    known = written(schema)
    with pytest.raises(DataError, match=words):
        AVRO.encode_one(AVRO.connect_schema(known), known, value)


def test_data_is_written_with_the_schema_of_the_registry() -> None:
    """use.latest.version: fields by name, defaults for those the data lacks, others left out."""
    fields = [
        {"name": "more", "type": "string", "default": "new"},
        {"name": "id", "type": "long"},
    ]
    latest = written({"type": "record", "name": "R", "fields": fields})
    own = Schema(SchemaType.STRUCT, name="R", fields=_struct_fields())
    raw = AVRO.encode_one(own, latest, Struct(own, {"gone": "x", "id": 5}))
    assert raw == b"\x06new\x0a"
    required = written({"type": "record", "name": "R", "fields": [{"name": "b", "type": "int"}]})
    with pytest.raises(DataError, match=r"Field b: .*without a default"):
        AVRO.encode_one(own, required, Struct(own, {"gone": "x", "id": 5}))
    other = written({"type": "record", "name": "R", "fields": [{"name": "id", "type": "string"}]})
    with pytest.raises(DataError, match=r"Field id: .*int32 can't be written as Avro's string"):
        AVRO.encode_one(own, other, Struct(own, {"gone": "x", "id": 5}))


def _struct_fields() -> Any:
    from penstock.kernel.data.schema import Field

    return (Field("gone", Schema(SchemaType.STRING)), Field("id", Schema(SchemaType.INT32)))
