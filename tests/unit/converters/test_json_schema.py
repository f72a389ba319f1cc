"""JsonSchemaConverter without Spark: schemas both ways, and one record at a time."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from penstock.codecs.json import document
from penstock.codecs.json.read import JsonReader
from penstock.codecs.json_schema.data import JsonSchemaReader, JsonSchemaWriter
from penstock.codecs.json_schema.documents import Documents
from penstock.codecs.json_schema.from_connect import json_schema_text
from penstock.codecs.json_schema.options import (
    ENUM,
    GENERAL_ENUM,
    GENERAL_UNION,
    ONE_OF,
    JsonSchemaOptions,
)
from penstock.codecs.json_schema.to_connect import connect_schema
from penstock.converters.json.decode import PayloadKernel
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
INT32 = Schema(SchemaType.INT32)
NULL = {"type": "null"}
POINT = struct_schema(Field("x", Schema(SchemaType.FLOAT64)), name="geo.Point")


def _node(schema: Schema, **options: Any) -> Any:
    return json.loads(json_schema_text(schema, JsonSchemaOptions(**options)))


def _read(node: Any, references: Any = None, **options: Any) -> Schema:
    others = {name: json.dumps(each) for name, each in (references or {}).items()}
    return connect_schema(Documents(json.dumps(node), others), JsonSchemaOptions(**options))


def _map(keys: Schema, values: Schema, **more: Any) -> Schema:
    return Schema(SchemaType.MAP, key_schema=keys, value_schema=values, **more)


def _array(of: Schema, **more: Any) -> Schema:
    return Schema(SchemaType.ARRAY, value_schema=of, **more)


def _union(*parts: Schema, **more: Any) -> Schema:
    fields = (Field(f"{ONE_OF}.field.{n}", part.as_optional()) for n, part in enumerate(parts))
    return Schema(SchemaType.STRUCT, name=ONE_OF, fields=tuple(fields), **more)


@pytest.mark.parametrize(
    ("schema", "node"),
    [
        (Schema(SchemaType.INT8), {"type": "integer", "connect.type": "int8"}),
        (Schema(SchemaType.INT16), {"type": "integer", "connect.type": "int16"}),
        (INT32, {"type": "integer", "connect.type": "int32"}),
        (Schema(SchemaType.INT64), {"type": "integer", "connect.type": "int64"}),
        (Schema(SchemaType.FLOAT32), {"type": "number", "connect.type": "float32"}),
        (Schema(SchemaType.FLOAT64), {"type": "number", "connect.type": "float64"}),
        (Schema(SchemaType.BOOLEAN), {"type": "boolean"}),
        (STRING, {"type": "string"}),
        (Schema(SchemaType.BYTES), {"type": "string", "connect.type": "bytes"}),
        (TEXT, {"oneOf": [NULL, {"type": "string"}]}),
        (
            Schema(SchemaType.STRING, name="n", version=2, doc="d", parameters=(("a", "b"),)),
            {
                "type": "string", "title": "n", "description": "d",
                "connect.version": 2, "connect.parameters": {"a": "b"},
            },
        ),
        (
            decimal_schema(2, optional=True),
            {"oneOf": [NULL, {
                "type": "number", "connect.type": "bytes", "connect.version": 1,
                "title": "org.apache.kafka.connect.data.Decimal",
                "connect.parameters": {"scale": "2"},
            }]},
        ),
        (_array(TEXT), {"type": "array", "items": {"oneOf": [NULL, {"type": "string"}]}}),
        (
            _map(STRING, INT32),
            {
                "type": "object", "connect.type": "map",
                "additionalProperties": {"type": "integer", "connect.type": "int32"},
            },
        ),
        (
            _map(TEXT, STRING),
            {
                "type": "array", "connect.type": "map",
                "items": {"type": "object", "properties": {
                    "key": {"oneOf": [NULL, {"type": "string"}], "connect.index": 0},
                    "value": {"type": "string", "connect.index": 1},
                }},
            },
        ),
        (
            struct_schema(Field("b", replace(POINT, optional=True)), Field("a", STRING), name="s"),
            {
                "type": "object", "title": "s",
                "properties": {
                    "b": {"connect.index": 0, "oneOf": [NULL, {
                        "type": "object", "title": "geo.Point",
                        "properties": {"x": {
                            "type": "number", "connect.type": "float64", "connect.index": 0,
                        }},
                    }]},
                    "a": {"type": "string", "connect.index": 1},
                },
            },
        ),
        (
            _union(STRING, INT32, optional=True),
            {"oneOf": [
                NULL, {"type": "string", "connect.index": 0},
                {"type": "integer", "connect.type": "int32", "connect.index": 1},
            ]},
        ),
        (
            Schema(SchemaType.STRING, parameters=(
                (ENUM, ""), (f"{ENUM}.A", "A"), (f"{ENUM}.B", "B"),
            )),
            {"enum": ["A", "B"]},
        ),
        (
            _array(INT32, default=[1, 2]),
            {
                "type": "array", "items": {"type": "integer", "connect.type": "int32"},
                "default": [1, 2],
            },
        ),
        (
            Schema(SchemaType.INT64, default=2**60, optional=True),
            {"oneOf": [NULL, {"type": "integer", "connect.type": "int64", "default": 2**60}]},
        ),
    ],
)  # fmt: skip
def test_schemas_both_ways(schema: Schema, node: Any) -> None:
    assert _node(schema) == node
    assert _read(node) == schema


@pytest.mark.parametrize("schema", [date_schema(), time_schema(), timestamp_schema(optional=True)])
def test_moments_both_ways(schema: Schema) -> None:
    assert _read(_node(schema)) == schema


def test_fields_have_the_order_of_their_index() -> None:
    node = {"properties": {"b": {"type": "string", "connect.index": 1}, "a": {"type": "string",
            "connect.index": 0}, "c": {"type": "string"}}}  # fmt: skip
    assert [each.name for each in _read(node).fields] == ["a", "b", "c"]


def test_additional_properties() -> None:
    node = _node(POINT, object_additional_properties=False)
    assert node["additionalProperties"] is False
    assert "additionalProperties" not in _node(POINT)


def test_properties_that_are_not_required() -> None:
    node = {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    }
    assert [each.schema.optional for each in _read(node).fields] == [False, False]
    strict = _read(node, use_optional_for_nonrequired=True)
    assert [each.schema.optional for each in strict.fields] == [False, True]


@pytest.mark.parametrize(
    ("node", "schema"),
    [
        ({"type": "integer"}, Schema(SchemaType.INT64)),
        ({"type": "number"}, Schema(SchemaType.FLOAT64)),
        ({"type": ["null", "string"], "title": "t"}, replace(TEXT, name="t")),
        ({"type": ["string", "null"], "default": "x"}, replace(TEXT, default="x")),
        ({"type": ["string", "integer"]}, _union(STRING, Schema(SchemaType.INT64))),
        ({"minimum": 5}, Schema(SchemaType.FLOAT64)),
        ({"type": "string", "format": "date-time"}, STRING),
        ({"type": "integer", "const": 5}, Schema(SchemaType.INT64)),
        ({"type": "number", "enum": [1, 2]}, Schema(SchemaType.FLOAT64)),
        ({"anyOf": [{"type": "string"}, NULL]}, TEXT),
        ({"oneOf": [NULL]}, Schema(SchemaType.STRUCT, name=ONE_OF, optional=True)),
        (
            {"type": ["string", "null"], "enum": ["a", None]},
            Schema(SchemaType.STRING, optional=True, parameters=(
                (ENUM, ""), (f"{ENUM}.a", "a"), (f"{ENUM}.<NULL>", "<NULL>"),
            )),
        ),
        (
            {"allOf": [{"properties": {"x": {"type": "string"}}}, {"$ref": "#/$defs/B"}],
             "$defs": {"B": {"type": "object", "properties": {"y": {"type": "boolean"}}}}},
            struct_schema(Field("x", STRING), Field("y", Schema(SchemaType.BOOLEAN))),
        ),
        (
            {"type": "array", "items": {"$ref": "#/definitions/a~1b"},
             "definitions": {"a/b": {"$ref": "#named"}, "c": {"$id": "#named", "type": "string"}}},
            _array(STRING),
        ),
    ],
)  # fmt: skip
def test_schemas_that_others_write(node: Any, schema: Schema) -> None:
    assert _read(node) == schema


def test_references_to_other_documents() -> None:
    node = {
        "$id": "http://acme/order.json",
        "type": "object",
        "properties": {
            "a": {"$ref": "person.json"},
            "b": {"$ref": "http://acme/common.json#/definitions/City"},
            "c": {"$ref": "#/definitions/Own"},
        },
        "definitions": {"Own": {"type": "string"}},
    }
    references = {
        "person.json": {"type": "object", "title": "P", "properties": {"city": {"$ref": "b.json"}}},
        "common": {"$id": "http://acme/common.json", "definitions": {"City": {"type": "integer"}}},
        "b.json": {"type": "boolean"},
    }
    person = struct_schema(Field("city", Schema(SchemaType.BOOLEAN)), name="P")
    assert _read(node, references) == struct_schema(
        Field("a", person), Field("b", Schema(SchemaType.INT64)), Field("c", STRING)
    )


def test_general_enums_and_unions() -> None:
    options = {"generalized_sum_type_support": True}
    enum = _read({"enum": ["A", "B"]}, **options)
    assert enum.parameters == (
        (GENERAL_ENUM, ""), (f"{GENERAL_ENUM}.A", "0"), (f"{GENERAL_ENUM}.B", "1"),
    )  # fmt: skip
    assert _node(enum, **options)["enum"] == ["A", "B"]
    union = _read({"oneOf": [{"type": "string"}, {"type": "boolean"}]}, **options)
    assert (union.name, union.parameter(GENERAL_UNION)) == ("connect_union_0", "connect_union_0")
    assert [each.name for each in union.fields] == [
        "connect_union_field_0",
        "connect_union_field_1",
    ]
    assert _read(_node(union, **options), **options) == union


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ({}, "has no type"),
        (True, "is not an object"),
        ([], "is not an object"),
        ({"type": "null"}, "has type null"),
        ({"type": "date"}, "has type date, which Connect lacks"),
        ({"type": "array"}, "did not specify the items type"),
        ({"type": "integer", "connect.type": "int9"}, "Unsupported connect.type int9"),
        ({"$ref": "#/definitions/Gone"}, "which it does not contain"),
        ({"$ref": "#gone"}, "which it does not contain"),
        ({"$ref": "gone.json"}, "not among its references"),
        ({"$ref": 5}, "is not a text"),
        ({"title": "T", "properties": {"n": {"$ref": "#"}}}, "JSON Schema T contains itself"),
        ({"properties": {"n": {"items": {"$ref": "#/properties/n"}}}}, "contains itself"),
        ({"type": "string", "default": 5, "connect.type": "bytes", "title": None}, None),
        ({"type": "object", "properties": {"a": {"type": "boolean"}}, "default": 5}, "objects"),
    ],
)
def test_schemas_that_are_none(node: Any, words: str | None) -> None:
    if words is None:
        assert _read(node).default is None
        return
    with pytest.raises(DataError, match=words):
        _read(node)


EVERYTHING = struct_schema(
    Field("pairs", _map(INT32, POINT)),
    Field("object", _map(STRING, TEXT)),
    Field("union", _union(STRING, Schema(SchemaType.FLOAT64), POINT, optional=True)),
    Field("price", decimal_schema(2)),
    Field("late", Schema(SchemaType.STRING, optional=True, default="d")),
)


def _value(union: dict[int, Any] | None) -> Struct:
    point = Struct(POINT, {"x": 0.5})
    schema = EVERYTHING.fields[2].schema
    parts = {f.name: (union or {}).get(n) for n, f in enumerate(schema.fields)}
    values = {
        "pairs": {1: point, 2: point},
        "object": {"a": None, "b": "🚰"},
        "union": None if union is None else Struct(schema, parts),
        "price": Decimal("-1.50"),
        "late": None,
    }
    return Struct(EVERYTHING, values)


@pytest.mark.parametrize(
    ("union", "text"),
    [
        (None, "null"),
        ({0: "x"}, '"x"'),
        ({1: 2.0}, "2.0"),
        ({2: Struct(POINT.as_optional(), {"x": 1.0})}, '{"x":1.0}'),
    ],
)
def test_data_both_ways(union: dict[int, Any] | None, text: str) -> None:
    value = _value(union)
    written = JsonSchemaWriter(decimal_numbers=False, replace_null=False).text(EVERYTHING, value)
    assert json.loads(written) == {
        "pairs": [{"key": 1, "value": {"x": 0.5}}, {"key": 2, "value": {"x": 0.5}}],
        "object": {"a": None, "b": "🚰"},
        "union": json.loads(text),
        "price": "/2o=",
        "late": None,
    }
    read = JsonSchemaReader(replace_null=False).compile(EVERYTHING)
    assert read(document.parse(written.encode())) == value


def test_what_is_missing_is_null_and_null_is_refused() -> None:
    schema = struct_schema(Field("a", STRING), Field("b", Schema(SchemaType.STRING, default="d")))
    read = JsonSchemaReader(replace_null=True).compile(schema)
    assert read({}).values == {"a": None, "b": "d"}
    with pytest.raises(DataError, match="Invalid null value for required STRING field"):
        read({"a": None})


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ({"a": 1}, "array of objects, but found OBJECT"),
        ([1], "instead of object: NUMBER"),
        ([{"key": 1}], "expected length 2 but found :1"),
    ],
)
def test_maps_that_are_none(node: Any, words: str) -> None:
    read = JsonSchemaReader(replace_null=True).compile(_map(INT32, STRING))
    with pytest.raises(DataError, match=words):
        read(node)


def test_an_alternative_for_nothing() -> None:
    read = JsonSchemaReader(replace_null=True).compile(_union(STRING, POINT))
    assert read({"x": 1, "y": 2}).values[f"{ONE_OF}.field.1"].values == {"x": 1.0}
    with pytest.raises(DataError, match="Did not find matching oneof field"):
        read(True)


@pytest.mark.parametrize(
    ("reader", "null", "good"),
    [
        (JsonReader, b"[[null,1]]", b"[[3,4]]"),
        (JsonSchemaReader, b'[{"key":null,"value":1}]', b'[{"key":3,"value":4}]'),
    ],
)
def test_a_null_key_is_the_fault_of_its_row(
    reader: type[JsonReader], null: bytes, good: bytes
) -> None:
    schema = _map(INT32.as_optional(), INT32)
    kernel = PayloadKernel(schema, tag=b"", replace_null=True, decimal_numbers=False, reader=reader)
    assert kernel(pa.array([null, good], pa.binary())).to_pylist() == [
        {"data": None, "error": "A map with a null key can't be held in columns"},
        {"data": [(3, 4)], "error": None},
    ]


def test_structs_as_keys_are_for_columns() -> None:
    schema = _map(POINT, INT32)
    raws = [
        b'[{"key":{"x":1},"value":2},{"key":{"x":1},"value":3}]',
        b'[{"key":{"x":2},"value":4}]',
    ]
    kernel = PayloadKernel(
        schema, tag=b"", replace_null=True, decimal_numbers=False, reader=JsonSchemaReader
    )
    assert kernel(pa.array(raws, pa.binary())).field("data").to_pylist() == [
        [({"x": 1.0}, 3)],
        [({"x": 2.0}, 4)],
    ]
    with pytest.raises(DataError, match="only be held in columns"):
        JsonSchemaReader(replace_null=True).compile(schema)(document.parse(raws[1]))
