"""Connect schemas as JSON Schema."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from penstock.codecs.json_schema.data import JsonSchemaWriter
from penstock.codecs.json_schema.options import (
    CONNECT_INDEX,
    CONNECT_PARAMETERS,
    CONNECT_TYPE,
    CONNECT_VERSION,
    ENUM,
    GENERAL_ENUM,
    KEY,
    MAP,
    NAMESPACE,
    NULL_SYMBOL,
    VALUE,
    JsonSchemaOptions,
    is_object,
    is_union,
)
from penstock.kernel.data.schema import Schema, SchemaType

Node = dict[str, Any]

_NULL: Final[Node] = {"type": "null"}
_SCALARS: Final[dict[SchemaType, Node]] = {
    SchemaType.INT8: {"type": "integer", CONNECT_TYPE: "int8"},
    SchemaType.INT16: {"type": "integer", CONNECT_TYPE: "int16"},
    SchemaType.INT32: {"type": "integer", CONNECT_TYPE: "int32"},
    SchemaType.INT64: {"type": "integer", CONNECT_TYPE: "int64"},
    SchemaType.FLOAT32: {"type": "number", CONNECT_TYPE: "float32"},
    SchemaType.FLOAT64: {"type": "number", CONNECT_TYPE: "float64"},
    SchemaType.BOOLEAN: {"type": "boolean"},
    SchemaType.STRING: {"type": "string"},
    SchemaType.BYTES: {"type": "string", CONNECT_TYPE: "bytes"},
}


def json_schema_text(schema: Schema, options: JsonSchemaOptions) -> str:
    """The JSON Schema of a Connect schema."""
    node = _Mapping(options).node(schema)
    if options.dialect:
        node = {"$schema": options.dialect, **node}
    return json.dumps(node, ensure_ascii=False, separators=(",", ":"))


class _Mapping:
    def __init__(self, options: JsonSchemaOptions) -> None:
        self._options = options
        self._writer = JsonSchemaWriter(
            decimal_numbers=options.decimal_numbers, replace_null=options.default_for_null
        )

    def node(self, schema: Schema, index: int | None = None) -> Node:
        if is_union(schema):
            node = self._union(schema)
        elif schema.optional:
            node = {"oneOf": [_NULL, self._described(replace(schema, optional=False))]}
        else:
            node = self._described(schema)
        return node if index is None else {**node, CONNECT_INDEX: index}

    def _union(self, schema: Schema) -> Node:
        parts = [
            self.node(replace(each.schema, optional=False), number)
            for number, each in enumerate(schema.fields)
        ]
        return {"oneOf": [_NULL, *parts] if schema.optional else parts}

    def _described(self, schema: Schema) -> Node:
        node = dict(self._bare(schema))
        if schema.name is not None:
            node["title"] = schema.name
        if schema.doc is not None:
            node["description"] = schema.doc
        if schema.version is not None:
            node[CONNECT_VERSION] = schema.version
        if parameters := _own_parameters(schema):
            node[CONNECT_PARAMETERS] = parameters
        if schema.default is not None:
            node["default"] = json.loads(self._writer.text(schema, schema.default))
        return node

    def _bare(self, schema: Schema) -> Node:
        match schema.type:
            case SchemaType.STRUCT:
                return self._object(schema)
            case SchemaType.MAP:
                return self._map(schema)
            case SchemaType.ARRAY if schema.value_schema is not None:
                return {"type": "array", "items": self.node(schema.value_schema)}
            case SchemaType.STRING if (symbols := _symbols(schema)) is not None:
                return {"enum": symbols}
        if schema.is_decimal:
            return {"type": "number", CONNECT_TYPE: "bytes"}
        return _SCALARS[schema.type]

    def _object(self, schema: Schema) -> Node:
        properties = {
            each.name: self.node(each.schema, number) for number, each in enumerate(schema.fields)
        }
        node: Node = {"type": "object", "properties": properties}
        if not self._options.object_additional_properties:
            node["additionalProperties"] = False
        return node

    def _map(self, schema: Schema) -> Node:
        keys, values = schema.key_schema, schema.value_schema
        assert keys is not None  # noqa: S101 - a map has both
        assert values is not None  # noqa: S101
        if is_object(schema):
            return {
                "type": "object",
                "additionalProperties": self.node(values),
                CONNECT_TYPE: MAP,
            }
        entry = {KEY: self.node(keys, 0), VALUE: self.node(values, 1)}
        return {
            "type": "array",
            "items": {"type": "object", "properties": entry},
            CONNECT_TYPE: MAP,
        }


def _own_parameters(schema: Schema) -> dict[str, str]:
    return {name: text for name, text in schema.parameters if not name.startswith(NAMESPACE)}


def _symbols(schema: Schema) -> list[str | None] | None:
    """The symbols of an enum; None for other strings."""
    for parameter in (GENERAL_ENUM, ENUM):
        if schema.parameter(parameter) is not None:
            prefix = f"{parameter}."
            names = [name for name, _ in schema.parameters if name.startswith(prefix)]
            symbols = [name.removeprefix(prefix) for name in names]
            return [None if each == NULL_SYMBOL else each for each in symbols]
    return None
