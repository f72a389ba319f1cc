"""Messages of each format, as the serializers of Confluent's Python client write them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.codecs.registry.client import Registered, RegistrySchema
from penstock.kernel.errors import ConfigError, DataError
from penstock.tools.broker.registry_encodings import RegistryForms

AVRO = json.dumps({
    "type": "record", "name": "Order", "namespace": "shop", "fields": [
        {"name": "id", "type": "long"},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "price", "type": {
            "type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
    ],
})  # fmt: skip
PROTO = """
syntax = "proto3";
package shop;
message Order {
  int64 id = 1;
  string note = 2;
  repeated string tags = 3;
  message Line { int32 number = 1; }
  Line line = 4;
}
"""
ORDER = {
    "id": 2**40,
    "note": None,
    "price": 12.34,
    "at": 1_700_000_000_000,
    "tags": ["x", "ü"],
    "kind": "B",
}


@pytest.fixture
def forms() -> RegistryForms:
    """One that has not asked its registry for anything."""
    return RegistryForms({"schema.registry.url": "http://localhost:1"})


def codec(type_: str, text: str) -> Any:
    """What writes, and what reads, messages of a schema."""
    from penstock.tools.broker.registry_encodings import _codec

    return _codec(RegistrySchema(type_, text))


def test_avro_there_and_back() -> None:
    avro = codec("AVRO", AVRO)
    raw = avro.from_json(ORDER)
    assert json.loads(avro.to_json(raw)) == ORDER


def test_avro_is_that_of_fastavro() -> None:
    import io
    from datetime import UTC, datetime
    from decimal import Decimal

    import fastavro

    schema = fastavro.parse_schema(json.loads(AVRO))
    native = {**ORDER, "price": Decimal("12.34"), "at": datetime.fromtimestamp(1.7e9, UTC)}
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, native)
    assert codec("AVRO", AVRO).from_json(ORDER) == out.getvalue()


def test_a_union_names_its_type() -> None:
    avro = codec("AVRO", '["int", "string"]')
    assert avro.from_json({"string": "x"}) == b"\2\2x"
    assert json.loads(avro.to_json(b"\0\6")) == {"int": 3, "string": None}
    for wrong in ({}, {"int": 1, "string": "x"}, {"int": None}):
        with pytest.raises(DataError, match="value is a union; it must have one of int, string"):
            avro.from_json(wrong)


def test_a_tag_stands_in_front(forms: RegistryForms) -> None:
    write = forms.encoder(Registered(258, RegistrySchema("AVRO", '"string"')))
    assert write("ab") == b"\0\0\0\1\2\4ab"


def test_protobuf_there_and_back() -> None:
    protobuf = codec("PROTOBUF", PROTO)
    raw = protobuf.from_json({"id": "5", "tags": ["x"], "line": {"number": 3}})
    assert raw == b"\0\x08\x05\x1a\x01x\x22\x02\x08\x03"
    assert json.loads(protobuf.to_json(raw)) == {
        "id": "5",
        "tags": ["x"],
        "line": {"number": 3},
    }
    nested = b"\4\0\0\x08\x07"  # Two places: the first message of the first message.
    assert json.loads(protobuf.to_json(nested)) == {"number": 7}


def test_json_with_a_schema_is_json() -> None:
    document = codec("JSON", '{"type": "object"}')
    assert document.from_json({"a": [1, None]}) == b'{"a":[1,null]}'
    assert document.to_json(b'{"a": 1.10}') == '{"a": 1.10}'


@pytest.mark.parametrize(
    ("type_", "text", "node", "problem"),
    [
        ("AVRO", AVRO, {**ORDER, "id": "x"}, "value.id must be int64, not 'x'"),
        ("AVRO", AVRO, {**ORDER, "kind": "C"}, "Not a symbol of enum"),
        ("PROTOBUF", PROTO, {"sise": 1}, "does not fit the Protobuf schema"),
        ("PROTOBUF", PROTO, {"id": "x"}, "does not fit the Protobuf schema"),
    ],
)
def test_what_does_not_fit_is_not_written(type_: str, text: str, node: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        codec(type_, text).from_json(node)


@pytest.mark.parametrize(
    ("type_", "text", "raw"),
    [
        ("AVRO", AVRO, b"\x02"),
        ("PROTOBUF", PROTO, b"\0\xff"),
        ("PROTOBUF", PROTO, b"\2\x0c\x08\x07"),
        ("JSON", "{}", b"{broken"),
    ],
)
def test_what_is_broken_is_not_read(type_: str, text: str, raw: bytes) -> None:
    with pytest.raises(DataError):
        codec(type_, text).to_json(raw)


def test_a_schema_that_contains_itself_is_refused() -> None:
    node = {
        "type": "record",
        "name": "Node",
        "fields": [{"name": "next", "type": ["null", "Node"]}],
    }
    with pytest.raises(DataError):
        codec("AVRO", json.dumps(node))


def test_what_has_no_id_is_refused(forms: RegistryForms) -> None:
    with pytest.raises(DataError, match="does not begin with the id of a schema"):
        forms.to_json(b"\1\0\0\0\1x")


def test_without_an_address_there_is_no_registry() -> None:
    with pytest.raises(ConfigError, match="--schema-registry URL"):
        RegistryForms({})
