"""Connect schemas as Avro schemas and back; expected texts follow Confluent's AvroData."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from penstock.codecs.avro.from_connect import avro_text
from penstock.codecs.avro.model import AvroType, Kind, parse
from penstock.codecs.avro.names import scrubbed
from penstock.codecs.avro.options import AvroOptions
from penstock.codecs.avro.to_connect import ToConnect
from penstock.kernel.data.schema import (
    DATE,
    DECIMAL,
    Field,
    Schema,
    SchemaType,
    Struct,
    date_schema,
    decimal_schema,
    struct_schema,
    timestamp_schema,
)
from penstock.kernel.errors import DataError

STRING = Schema(SchemaType.STRING)
INT = Schema(SchemaType.INT32)


def avro(schema: Schema, **options: bool) -> Any:
    return json.loads(avro_text(schema, AvroOptions(**options)))


def connect(schema: Any, **options: bool) -> Schema:
    return ToConnect(AvroOptions(**options)).schema(parse(json.dumps(schema)))


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (Schema(SchemaType.BOOLEAN), "boolean"),
        (Schema(SchemaType.INT8), {"type": "int", "connect.type": "int8"}),
        (Schema(SchemaType.INT16), {"type": "int", "connect.type": "int16"}),
        (INT, "int"),
        (Schema(SchemaType.INT64), "long"),
        (Schema(SchemaType.FLOAT32), "float"),
        (Schema(SchemaType.FLOAT64), "double"),
        (STRING, "string"),
        (Schema(SchemaType.BYTES), "bytes"),
        (STRING.as_optional(), ["null", "string"]),
        (
            Schema(SchemaType.STRING, optional=True, default="x"),
            [{"type": "string", "connect.default": "x"}, "null"],
        ),
        (
            Schema(SchemaType.STRING, name="n.Name", version=2, doc="d", parameters=(("a", "b"),)),
            {
                "type": "string",
                "connect.doc": "d",
                "connect.version": 2,
                "connect.parameters": {"a": "b"},
                "connect.name": "n.Name",
            },
        ),
        (
            date_schema(),
            {"type": "int", "connect.version": 1, "connect.name": DATE, "logicalType": "date"},
        ),
        (
            decimal_schema(2),
            {
                "type": "bytes",
                "scale": 2,
                "precision": 64,
                "connect.version": 1,
                "connect.parameters": {"scale": "2"},
                "connect.name": DECIMAL,
                "logicalType": "decimal",
            },
        ),
        (Schema(SchemaType.ARRAY, value_schema=INT), {"type": "array", "items": "int"}),
        (
            Schema(SchemaType.MAP, key_schema=STRING, value_schema=INT),
            {"type": "map", "values": "int"},
        ),
        (
            Schema(SchemaType.MAP, key_schema=INT, value_schema=STRING.as_optional()),
            {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "MapEntry",
                    "namespace": "io.confluent.connect.avro",
                    "fields": [
                        {"name": "key", "type": "int"},
                        {"name": "value", "type": ["null", "string"], "default": None},
                    ],
                },
            },
        ),
    ],
)
def test_schemas_of_connect_and_back(schema: Schema, expected: Any) -> None:
    assert avro(schema) == expected
    assert connect(expected) == schema


def test_structs_have_names_and_defaults() -> None:
    inner = struct_schema(Field("at", timestamp_schema()))
    schema = struct_schema(
        Field("id", Schema(SchemaType.INT64, default=7)),
        Field("one", inner),
        Field("two", inner.as_optional()),
        Field("price", Schema(**_fields(decimal_schema(1), default=Decimal("-1.5")))),
        name="shop.Order",
        version=3,
    )
    found = avro(schema)
    assert (found["name"], found["namespace"], found["connect.version"]) == ("Order", "shop", 3)
    number, one, two, price = found["fields"]
    assert number == {
        "name": "id",
        "type": {"type": "long", "connect.default": 7},
        "default": 7,
    }
    assert one["type"]["name"] == "ConnectDefault"
    assert two == {
        "name": "two",
        "type": ["null", "io.confluent.connect.avro.ConnectDefault"],
        "default": None,
    }
    assert price["default"] == "\u00f1"
    assert connect(found) == schema


def _fields(schema: Schema, **more: Any) -> dict[str, Any]:
    return {name: getattr(schema, name) for name in Schema.__slots__} | more


def test_without_meta_data_only_avro_is_left() -> None:
    schema = struct_schema(Field("small", Schema(SchemaType.INT8)), name="a.B", version=1)
    found = avro(schema, meta_data=False)
    assert found == {
        "type": "record",
        "name": "B",
        "namespace": "a",
        "fields": [{"name": "small", "type": "int"}],
    }


def test_names_are_scrubbed_or_refused() -> None:
    schema = struct_schema(Field("with space", INT), Field("1st", INT), name="my-ns.my-name")
    with pytest.raises(DataError, match=r"my-ns\.my-name.*scrub\.invalid\.names"):
        avro(schema)
    found = avro(schema, scrub_names=True)
    assert (found["namespace"], found["name"]) == ("my_ns", "my_name")
    assert [each["name"] for each in found["fields"]] == ["with_space", "x1st"]
    assert scrubbed("ü~*") == "_C3_BC_7E_"


def test_two_schemas_of_one_name_are_refused() -> None:
    one, two = struct_schema(Field("a", INT), name="X"), struct_schema(Field("b", INT), name="X")
    with pytest.raises(DataError, match="Two different schemas have the name X"):
        avro(struct_schema(Field("one", one), Field("two", two)))


COLOR = {"type": "enum", "name": "Color", "namespace": "p", "symbols": ["RED", "BLUE"]}


def test_enums_are_strings_and_only_with_a_key_enums_again() -> None:
    schema = connect(COLOR)
    mark = "io.confluent.connect.avro.Enum"
    assert (schema.type, schema.name) == (SchemaType.STRING, "p.Color")
    assert dict(schema.parameters) == {
        mark: "p.Color",
        f"{mark}.RED": "RED",
        f"{mark}.BLUE": "BLUE",
    }
    assert avro(schema)["type"] == "string"
    assert avro(schema, enhanced=True)["symbols"] == ["RED", "BLUE"]
    general = connect(COLOR, generalized=True)
    assert general.parameter("org.apache.kafka.connect.data.Enum.BLUE") == "1"
    assert avro(general, generalized=True)["name"] == "Color"


POINT = {
    "type": "record",
    "name": "Point",
    "namespace": "p",
    "fields": [{"name": "x", "type": "int"}],
}


def test_unions_are_structs() -> None:
    schema = connect(["null", "int", "string", POINT])
    assert (schema.name, schema.optional) == ("io.confluent.connect.avro.Union", True)
    assert [each.name for each in schema.fields] == ["int", "string", "Point"]
    assert all(each.schema.optional for each in schema.fields)
    branches = avro(schema)
    assert branches[:3] == ["null", "int", "string"]
    assert branches[3]["name"] == "Point"
    assert connect(["int", POINT], enhanced=True).fields[1].name == "p.Point"
    general = connect(["int", "string"], generalized=True)
    assert [each.name for each in general.fields] == [
        "connect_union_field_0",
        "connect_union_field_1",
    ]


def test_a_union_of_one_type() -> None:
    assert connect(["int"]).fields[0].name == "int"
    assert connect(["int"], flatten_singletons=True) == INT


def test_fixed_is_bytes_of_a_size() -> None:
    schema = connect({"type": "fixed", "name": "Hash", "namespace": "p", "size": 4})
    assert (schema.type, schema.name) == (SchemaType.BYTES, "p.Hash")
    assert schema.parameter("connect.fixed.size") == "4"
    assert avro(schema)["size"] == 4
    decimal = {"type": "fixed", "name": "D", "size": 4, "logicalType": "decimal"}
    assert connect(decimal | {"precision": 9, "scale": 3}).scale == 3


def test_documentation_and_defaults_of_fields() -> None:
    field = {"name": "x", "type": "int", "doc": "of x", "default": 5}
    record = {"type": "record", "name": "R", "doc": "of R", "fields": [field]}
    schema = connect(record)
    start = "io.confluent.connect.avro."
    assert schema.parameter(f"{start}record.doc") == "of R"
    assert schema.parameter(f"{start}field.doc.x") == "of x"
    assert schema.fields[0].schema.default == 5
    found = avro(schema)
    assert (found["doc"], found["fields"][0]["doc"], found["fields"][0]["default"]) == (
        "of R",
        "of x",
        5,
    )
    plain = connect(record, discard_type_doc=True)
    assert plain.fields[0].schema.doc == "of x"


def test_defaults_of_every_type() -> None:
    fields = [
        {"name": "bytes", "type": "bytes", "default": "\u00ff\u0000"},
        {"name": "list", "type": {"type": "array", "items": "long"}, "default": [1, 2]},
        {"name": "map", "type": {"type": "map", "values": "string"}, "default": {"a": "b"}},
        {"name": "point", "type": POINT, "default": {"x": 1}},
        {"name": "wrong", "type": "int", "default": "text"},
    ]
    found = connect({"type": "record", "name": "R", "fields": fields})
    values = [each.schema.default for each in found.fields]
    point = Struct(found.fields[3].schema, {"x": 1})
    assert values[:3] == [b"\xff\x00", [1, 2], {"a": "b"}]
    assert values[3].values == point.values
    assert values[4] is None


def test_names_are_found_in_their_namespace_and_in_references() -> None:
    record = {
        "type": "record",
        "name": "n.Outer",
        "fields": [
            {"name": "a", "type": {"type": "enum", "name": "E", "symbols": ["X"]}},
            {"name": "b", "type": "E"},
            {"name": "c", "type": "n.E"},
            {"name": "d", "type": "p.Point"},
        ],
    }
    found = parse(json.dumps(record), {"p.Point": json.dumps(POINT)})
    assert [each.type.name for each in found.fields] == ["n.E", "n.E", "n.E", "p.Point"]
    assert parse("string") == AvroType(Kind.STRING)


def test_what_can_not_be_is_refused_with_its_name() -> None:
    node = {
        "type": "record",
        "name": "Node",
        "fields": [{"name": "next", "type": ["null", "Node"]}],
    }
    with pytest.raises(DataError, match="Node contains itself"):
        connect(node)
    with pytest.raises(DataError, match="Missing, which is defined nowhere"):
        connect({"type": "array", "items": "Missing"})
    with pytest.raises(DataError, match="null"):
        connect("null")
    with pytest.raises(DataError, match=r"connect\.type"):
        connect({"type": "int", "connect.type": "int128"})
