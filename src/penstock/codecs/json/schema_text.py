"""Connect schemas as JSON and back: the `schema` half of JsonConverter's envelope."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from penstock.codecs.json.read import JsonReader, wrapped
from penstock.codecs.json.write import JsonWriter, quoted
from penstock.kernel.data.schema import Field, Schema, SchemaType
from penstock.kernel.errors import DataError

_TYPES: Final = {str(each): each for each in SchemaType}


def schema_text(schema: Schema | None, writer: JsonWriter) -> str:
    """The JSON of a schema, its members in the order of the Java converter."""
    if schema is None:
        return "null"
    return f"{{{','.join(_members(schema, writer))}}}"


def schema_of(node: Any, reader: JsonReader) -> Schema | None:
    """The schema that a parsed JSON value describes; null is the absence of one.

    Raises:
        DataError: it describes no schema.
    """
    if node is None:
        return None
    name = _of(node, "type")
    if not isinstance(name, str):
        raise DataError("Schema must contain 'type' field")
    if name not in _TYPES:
        raise DataError(f"Unknown schema type: {name}")
    kind = _TYPES[name]
    bare = Schema(
        kind,
        optional=_of(node, "optional") is True,
        name=_text(node, "name"),
        version=_version(node),
        doc=_text(node, "doc"),
        parameters=_parameters(node),
        **_PARTS.get(kind, _no_parts)(node, reader),
    )
    return reader.with_default(bare, node["default"]) if "default" in node else bare


def _members(schema: Schema, writer: JsonWriter) -> list[str]:
    members = [f'"type":"{schema.type}"']
    match schema.type:
        case SchemaType.ARRAY:
            members.append(f'"items":{schema_text(schema.value_schema, writer)}')
        case SchemaType.MAP:
            members.append(f'"keys":{schema_text(schema.key_schema, writer)}')
            members.append(f'"values":{schema_text(schema.value_schema, writer)}')
        case SchemaType.STRUCT:
            members.append(f'"fields":[{",".join(_field(f, writer) for f in schema.fields)}]')
    members.append(f'"optional":{"true" if schema.optional else "false"}')
    return members + _metadata(schema, writer)


def _metadata(schema: Schema, writer: JsonWriter) -> list[str]:
    members = []
    if schema.name is not None:
        members.append(f'"name":{quoted(schema.name)}')
    if schema.version is not None:
        members.append(f'"version":{schema.version}')
    if schema.doc is not None:
        members.append(f'"doc":{quoted(schema.doc)}')
    if schema.parameters:
        pairs = ",".join(f"{quoted(name)}:{quoted(text)}" for name, text in schema.parameters)
        members.append(f'"parameters":{{{pairs}}}')
    if schema.default is not None:
        members.append(f'"default":{writer.text(schema, schema.default)}')
    return members


def _field(field: Field, writer: JsonWriter) -> str:
    return f'{schema_text(field.schema, writer)[:-1]},"field":{quoted(field.name)}}}'


def _of(node: Any, name: str) -> Any:
    return node.get(name) if isinstance(node, Mapping) else None


def _text(node: Any, name: str) -> str | None:
    found = _of(node, name)
    return found if isinstance(found, str) else None


def _version(node: Any) -> int | None:
    found = _of(node, "version")
    integral = isinstance(found, int) and not isinstance(found, bool)
    return wrapped(found, 32) if integral else None


def _parameters(node: Any) -> tuple[tuple[str, str], ...]:
    found = _of(node, "parameters")
    if not isinstance(found, Mapping):
        return ()
    if not all(isinstance(text, str) for text in found.values()):
        raise DataError("Schema parameters must have string values.")
    return tuple(found.items())


def _no_parts(node: Any, reader: JsonReader) -> dict[str, Any]:  # noqa: ARG001 - one of _PARTS
    return {}


def _array_parts(node: Any, reader: JsonReader) -> dict[str, Any]:
    if _of(node, "items") is None:
        raise DataError("Array schema did not specify the element type")
    return {"value_schema": schema_of(node["items"], reader)}


def _map_parts(node: Any, reader: JsonReader) -> dict[str, Any]:
    parts = {}
    for member, kind, part in (("keys", "key", "key_schema"), ("values", "value", "value_schema")):
        if member not in node:
            raise DataError(f"Map schema did not specify the {kind} type")
        parts[part] = schema_of(node[member], reader)
    for part, schema in parts.items():
        if schema is None:
            raise DataError(f"{part.partition('_')[0]}Schema cannot be null.")
    return parts


def _struct_parts(node: Any, reader: JsonReader) -> dict[str, Any]:
    nodes = _of(node, "fields")
    if not isinstance(nodes, list):
        raise DataError('Struct schema\'s "fields" argument is not an array.')
    fields: dict[str, Field] = {}
    for each in nodes:
        name = _of(each, "field")
        if not isinstance(name, str):
            raise DataError("Struct schema's field name not specified properly")
        schema = schema_of(each, reader)
        if name in fields:
            raise DataError(f"Cannot create field because of field name duplication {name}")
        assert schema is not None  # noqa: S101 - only null has none, and `each` has a member
        fields[name] = Field(name, schema)
    return {"fields": tuple(fields.values())}


_PARTS: Final[Mapping[SchemaType, Callable[[Any, JsonReader], dict[str, Any]]]] = {
    SchemaType.ARRAY: _array_parts,
    SchemaType.MAP: _map_parts,
    SchemaType.STRUCT: _struct_parts,
}
