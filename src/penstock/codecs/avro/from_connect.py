"""The Avro schema of a Connect schema, as Confluent's AvroData makes it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any, Final

from penstock.codecs.avro import names
from penstock.codecs.avro.decimals import unscaled_bytes
from penstock.codecs.avro.options import AvroOptions, is_union
from penstock.kernel.data.schema import DATE, PRECISION, TIME, TIMESTAMP, Schema, SchemaType, Struct
from penstock.kernel.errors import DataError

_PLAIN: Final = {
    SchemaType.INT8: "int",
    SchemaType.INT16: "int",
    SchemaType.INT32: "int",
    SchemaType.INT64: "long",
    SchemaType.FLOAT32: "float",
    SchemaType.FLOAT64: "double",
    SchemaType.BOOLEAN: "boolean",
    SchemaType.STRING: "string",
    SchemaType.BYTES: "bytes",
}
_LOGICAL: Final = {DATE: "date", TIME: "time-millis", TIMESTAMP: "timestamp-millis"}
_SMALL: Final = frozenset({SchemaType.INT8, SchemaType.INT16})


def avro_text(schema: Schema, options: AvroOptions) -> str:
    """The JSON of the Avro schema.

    Raises:
        DataError: Avro has no such schema.
    """
    node = _FromConnect(options).node(schema)
    return json.dumps(node, separators=(",", ":"), ensure_ascii=False)


class _NoDefaultError(Exception):
    """Avro can't write this default; then there is none."""


class _FromConnect:
    """Makes the JSON of one schema; remembers the names it gave."""

    def __init__(self, options: AvroOptions) -> None:
        self._options = options
        self._defined: dict[str, Any] = {}
        self._unnamed: dict[Schema, str] = {}

    def node(self, schema: Schema, *, optional: bool | None = None) -> Any:
        optional = schema.optional if optional is None else optional
        if is_union(schema):
            branches = [self.node(each.schema, optional=False) for each in schema.fields]
            return ["null", *branches] if schema.optional else branches
        base = self._annotated(schema, self._bare(schema))
        base = self._named(base) if isinstance(base, dict) else base
        if not optional:
            return base
        has_default = schema.default is not None and schema.type is not SchemaType.STRUCT
        return [base, "null"] if has_default else ["null", base]

    def _bare(self, schema: Schema) -> dict[str, Any]:
        match schema.type:
            case SchemaType.STRUCT:
                return self._record(schema)
            case SchemaType.ARRAY:
                return {"type": "array", "items": self.node(_present(schema.value_schema))}
            case SchemaType.MAP:
                return self._map(schema)
            case SchemaType.STRING if self._is_enum(schema):
                return self._enum(schema)
            case SchemaType.BYTES if self._is_fixed(schema):
                size = int(schema.parameter(names.FIXED_SIZE) or 0)
                return {"type": "fixed", **self._name_of(schema), "size": size}
        return {"type": _PLAIN[schema.type]}

    def _record(self, schema: Schema) -> dict[str, Any]:
        doc_key = names.PLAIN_RECORD_DOC if self._options.discard_type_doc else names.RECORD_DOC
        return {
            "type": "record",
            **self._name_of(schema),
            **_if_given("doc", schema.parameter(doc_key)),
            "fields": [
                self._field(
                    self._options.name(each.name),
                    each.schema,
                    schema.parameter(names.FIELD_DOC + each.name),
                )
                for each in schema.fields
            ],
        }

    def _field(self, name: str, schema: Schema, doc: str | None = None) -> dict[str, Any]:
        if not names.is_valid(name):
            raise DataError(
                f"Avro does not allow the field name {name!r}; set scrub.invalid.names=true"
            )
        doc = schema.doc if self._options.discard_type_doc else doc
        node = {"name": name, "type": self.node(schema), **_if_given("doc", doc)}
        if schema.default is None:
            return node | ({"default": None} if schema.optional else {})
        first = not (schema.optional and schema.type is SchemaType.STRUCT)
        try:
            return node | ({"default": self._default(schema, schema.default)} if first else {})
        except _NoDefaultError:
            return node

    def _map(self, schema: Schema) -> dict[str, Any]:
        keys, values = _present(schema.key_schema), _present(schema.value_schema)
        if self.has_string_keys(keys):
            return {"type": "map", "values": self.node(values)}
        entry: dict[str, Any] = {"type": "record"}
        if schema.name is None:
            entry |= {"name": names.MAP_ENTRY, "namespace": names.NAMESPACE}
        else:
            entry |= self._name_of(schema)
        entry["fields"] = [self._field("key", keys), self._field("value", values)]
        if schema.name is not None:
            entry[names.INTERNAL_TYPE] = names.MAP_ENTRY
        return {"type": "array", "items": self._named(entry)}

    def has_string_keys(self, keys: Schema) -> bool:
        allowed = not keys.optional or self._options.optional_map_keys
        return keys.type is SchemaType.STRING and allowed

    def _is_enum(self, schema: Schema) -> bool:
        wanted = self._options.generalized or self._options.enhanced
        return wanted and schema.parameter(self._options.enum_parameter) is not None

    def _enum(self, schema: Schema) -> dict[str, Any]:
        mark = self._options.enum_parameter
        full = schema.parameter(mark) or ""
        simple = (schema.name or full).rpartition(".")[2]
        start = f"{mark}."
        symbols = [name[len(start) :] for name, _ in schema.parameters if name.startswith(start)]
        plain = self._options.discard_type_doc
        doc = schema.parameter(names.PLAIN_ENUM_DOC if plain else names.ENUM_DOC + simple)
        default = None if plain else schema.parameter(names.ENUM_DEFAULT + simple)
        space, _, name = full.rpartition(".")
        return {
            "type": "enum",
            "name": name,
            "namespace": space,
            **_if_given("doc", doc),
            "symbols": symbols,
            **_if_given("default", default),
        }

    def _is_fixed(self, schema: Schema) -> bool:
        # A Decimal has as many bytes as it needs, whatever it was read from.
        named = schema.name is not None and not schema.is_decimal
        return named and schema.parameter(names.FIXED_SIZE) is not None

    def _name_of(self, schema: Schema) -> dict[str, str]:
        if schema.name is None:
            return {"name": self._default_name(schema), "namespace": names.NAMESPACE}
        space, _, name = self._options.full_name(schema.name).rpartition(".")
        for part in [name, *(space.split(".") if space else [])]:
            if not names.is_valid(part):
                raise DataError(
                    f"Avro does not allow the schema name {schema.name!r};"
                    " set scrub.invalid.names=true"
                )
        return {"name": name, "namespace": space}

    def _default_name(self, schema: Schema) -> str:
        plain = replace(schema, optional=False)
        if plain not in self._unnamed:
            number = len(self._unnamed) + 1
            self._unnamed[plain] = names.DEFAULT_NAME + (str(number) if number > 1 else "")
        return self._unnamed[plain]

    def _annotated(self, schema: Schema, base: dict[str, Any]) -> dict[str, Any] | str:
        """With what Connect knows and Avro does not."""
        if schema.is_decimal:
            precision = int(schema.parameter(PRECISION) or names.DEFAULT_PRECISION)
            base |= {"scale": schema.scale, "precision": precision}
        if self._options.meta_data:
            base |= self._meta_data(schema)
        if schema.is_decimal:
            base["logicalType"] = "decimal"
        elif schema.is_moment and schema.name is not None:
            base["logicalType"] = _LOGICAL[schema.name]
        base |= {name: text for name, text in schema.parameters if name.startswith("avro")}
        return str(base["type"]) if base.keys() == {"type"} else base

    def _meta_data(self, schema: Schema) -> dict[str, Any]:
        discard = self._options.discard_type_doc
        parameters = {
            name: text for name, text in schema.parameters if discard or name != names.FIELD_DEFAULT
        }
        own_default = discard or schema.parameter(names.FIELD_DEFAULT) is None
        default: dict[str, Any] = {}
        if schema.default is not None and own_default:
            try:
                default = {"connect.default": self._default(schema, schema.default)}
            except _NoDefaultError:
                default = {}
        return {
            **_if_given("connect.doc", schema.doc),
            **_if_given("connect.version", schema.version),
            **_if_given("connect.parameters", parameters or None),
            **default,
            **_if_given("connect.name", schema.name),
            **_if_given("connect.type", str(schema.type) if schema.type in _SMALL else None),
        }

    def _named(self, node: dict[str, Any]) -> Any:
        """The definition of a named type, or its name where it was defined before."""
        if "name" not in node:
            return node
        full = f"{node['namespace']}.{node['name']}" if node["namespace"] else node["name"]
        if full not in self._defined:
            self._defined[full] = node
            return node
        if self._defined[full] == node:
            return full
        raise DataError(
            f"Two different schemas have the name {full}, which Avro does not allow; give one"
            " of them another with SetSchemaMetadata"
        )

    def _default(self, schema: Schema, value: Any) -> Any:
        if value is None:
            return None
        if schema.is_decimal:
            return unscaled_bytes(value, schema.scale).decode("latin-1")
        items = schema.value_schema
        match schema.type:
            case SchemaType.ARRAY if items is not None:
                return [self._default(items, each) for each in value]
            case SchemaType.MAP if items is not None:
                if not self.has_string_keys(_present(schema.key_schema)):
                    raise _NoDefaultError
                return {name: self._default(items, each) for name, each in value.items()}
            case SchemaType.STRUCT:
                return self._struct_default(schema, value)
        return _json_default(value)

    def _struct_default(self, schema: Schema, value: Struct) -> dict[str, Any]:
        if is_union(schema):
            raise _NoDefaultError
        return {
            self._options.name(each.name): self._default(each.schema, value[each.name])
            for each in schema.fields
        }


def _json_default(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise _NoDefaultError
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _if_given(name: str, value: Any) -> dict[str, Any]:
    return {} if value is None else {name: value}


def _present(schema: Schema | None) -> Schema:
    if schema is None:
        raise DataError("Arrays and maps need the schema of their items")
    return schema
