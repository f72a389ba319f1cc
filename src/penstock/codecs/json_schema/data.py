"""The differences of JSON with a JSON Schema from JsonConverter's JSON, one value at a time.

Maps that are no objects are arrays of `{"key": ..., "value": ...}`, unions are the one value they
hold, and a property that is missing is not the same as one that is null.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from penstock.codecs.json.document import kind
from penstock.codecs.json.read import JsonReader, Read, hashable
from penstock.codecs.json.write import JsonWriter, mismatch
from penstock.codecs.json_schema.options import KEY, VALUE, is_object, is_union
from penstock.kernel.data.schema import Schema, SchemaType, Struct
from penstock.kernel.errors import DataError

#: The property is not there.
_ABSENT: Final = object()
_KINDS: Final[dict[SchemaType, tuple[type, ...]]] = {
    SchemaType.FLOAT32: (int, Decimal),
    SchemaType.FLOAT64: (int, Decimal),
    SchemaType.BOOLEAN: (bool,),
    SchemaType.STRING: (str,),
    SchemaType.BYTES: (Decimal,),
    SchemaType.ARRAY: (list,),
    SchemaType.MAP: (dict, list),
}


class JsonSchemaWriter(JsonWriter):
    """Connect data as JSON text."""

    def is_object(self, schema: Schema) -> bool:
        return is_object(schema)

    def pair_text(self, key: str, value: str) -> str:
        return f'{{"{KEY}":{key},"{VALUE}":{value}}}'

    def struct_text(self, schema: Schema, value: Any) -> str:
        if not is_union(schema):
            return super().struct_text(schema, value)
        if not isinstance(value, Struct):
            raise mismatch(schema, value)
        for each in schema.fields:
            part = value.values.get(each.name)
            if part is not None:
                return self.text(each.schema, part)
        return self.text(schema, None)


class JsonSchemaReader(JsonReader):
    """Parsed JSON as Connect data."""

    @staticmethod
    def is_foreign(schema: Schema) -> bool:
        return schema.type is SchemaType.MAP or is_union(schema)

    def compile(self, schema: Schema | None) -> Read:
        read = super().compile(schema)
        absent = None if schema is None else self.default_of(schema)
        return lambda node: absent if node is _ABSENT else read(node)

    def map_reader(self, schema: Schema) -> Read:
        if is_object(schema):
            return super().map_reader(schema)
        read_key, read_value = self.compile(schema.key_schema), self.compile(schema.value_schema)

        def read(node: Any) -> dict[Any, Any]:
            if not isinstance(node, list):
                text = "Maps with non-string fields should be encoded as JSON array of objects,"
                raise DataError(f"{text} but found {kind(node)}")
            return {
                hashable(read_key(entry.get(KEY, _ABSENT))): read_value(entry.get(VALUE, _ABSENT))
                for entry in map(_entry, node)
            }

        return read

    def struct_reader(self, schema: Schema) -> Read:
        if is_union(schema):
            return self._union(schema)
        readers = [(each.name, self.compile(each.schema)) for each in schema.fields]
        make = self._make_struct

        def read(node: Any) -> Any:
            if not isinstance(node, dict):
                text = "Structs should be encoded as JSON objects, but found "
                raise DataError(text + kind(node))
            return make(schema, {name: read(node.get(name, _ABSENT)) for name, read in readers})

        return read

    def _union(self, schema: Schema) -> Read:
        readers = [self.compile(each.schema) for each in schema.fields]
        make = self._make_struct

        def read(node: Any) -> Any:
            chosen = _alternative(schema, node)
            values = {
                each.name: reader(node) if number == chosen else None
                for number, (each, reader) in enumerate(zip(schema.fields, readers, strict=True))
            }
            return make(schema, values)

        return read


def _alternative(schema: Schema, node: Any) -> int:
    """The first alternative of the node's kind, else the one that has most of its properties."""
    best, most = -1, -1
    for number, each in enumerate(schema.fields):
        if _is_of_kind(each.schema, node):
            return number
        if each.schema.type is SchemaType.STRUCT and isinstance(node, dict):
            shared = sum(part.name in node for part in each.schema.fields)
            if shared > most:
                best, most = number, shared
    if best < 0:
        raise DataError("Did not find matching oneof field for data")
    return best


def _is_of_kind(schema: Schema, node: Any) -> bool:
    if schema.type is SchemaType.STRUCT:
        return False
    if isinstance(node, bool):
        return schema.type is SchemaType.BOOLEAN
    return isinstance(node, _KINDS.get(schema.type, (int,)))


def _entry(node: Any) -> dict[str, Any]:
    if not isinstance(node, dict):
        raise DataError(f"Found invalid map entry instead of object: {kind(node)}")
    if len(node) != 2:
        raise DataError(f"Found invalid map entry, expected length 2 but found :{len(node)}")
    return node
