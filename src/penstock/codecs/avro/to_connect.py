"""The Connect schema of an Avro schema, as Confluent's AvroData makes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any, Final

from penstock.codecs.avro import names
from penstock.codecs.avro.decimals import decimal_of
from penstock.codecs.avro.model import NAMED, NO_DEFAULT, AvroType, Kind
from penstock.codecs.avro.options import AvroOptions, is_union
from penstock.kernel.data.schema import (
    PRECISION,
    STRING_SCHEMA,
    Field,
    Schema,
    SchemaType,
    Struct,
    date_schema,
    decimal_schema,
    time_schema,
    timestamp_schema,
)
from penstock.kernel.errors import DataError

_PLAIN: Final = {
    Kind.BOOLEAN: SchemaType.BOOLEAN,
    Kind.INT: SchemaType.INT32,
    Kind.LONG: SchemaType.INT64,
    Kind.FLOAT: SchemaType.FLOAT32,
    Kind.DOUBLE: SchemaType.FLOAT64,
    Kind.BYTES: SchemaType.BYTES,
    Kind.FIXED: SchemaType.BYTES,
    Kind.STRING: SchemaType.STRING,
}
_LOGICAL: Final[dict[tuple[Kind, str | None], Callable[[], Schema]]] = {
    (Kind.INT, "date"): date_schema,
    (Kind.INT, "time-millis"): time_schema,
    (Kind.LONG, "timestamp-millis"): timestamp_schema,
}
_SMALL: Final = {"int8": SchemaType.INT8, "int16": SchemaType.INT16}


class ToConnect:
    """Makes Connect schemas. One object for each schema that is read."""

    def __init__(self, options: AvroOptions) -> None:
        self._options = options
        self._unions = count()

    def schema(self, type_: AvroType) -> Schema:
        return self._schema(type_, optional=False)

    def _schema(
        self,
        type_: AvroType,
        *,
        optional: bool,
        default: Any = NO_DEFAULT,
        doc: str | None = None,
    ) -> Schema:
        inner = type_.optional_of
        if inner is not None:
            return self._schema(inner, optional=True, doc=doc)
        if type_.kind is Kind.UNION and len(type_.branches) == 1 and self._flattens:
            return self._schema(type_.branches[0], optional=optional, doc=doc)
        made = self._annotated(self._bare(type_), type_, doc)
        made = self._with_default(made, type_, default)
        return made.as_optional() if optional else made

    @property
    def _flattens(self) -> bool:
        return self._options.flatten_singletons

    def _bare(self, type_: AvroType) -> Schema:
        match type_.kind:
            case Kind.RECORD:
                return self._struct(type_)
            case Kind.ENUM:
                return self._enum(type_)
            case Kind.UNION:
                return self._union(type_)
            case Kind.ARRAY:
                return self._array(type_)
            case Kind.MAP:
                values = self._schema(type_.item, optional=False)
                return Schema(SchemaType.MAP, key_schema=STRING_SCHEMA, value_schema=values)
            case Kind.NULL:
                raise DataError("Standalone null schemas are not supported by this converter")
        return _primitive(type_)

    def _struct(self, type_: AvroType) -> Schema:
        parameters: list[tuple[str, str]] = []
        keeps_docs = self._options.meta_data and not self._options.discard_type_doc
        if keeps_docs and type_.doc is not None:
            parameters.append((names.RECORD_DOC, type_.doc))
        fields: list[Field] = []
        for each in type_.fields:
            if keeps_docs and each.doc is not None:
                parameters.append((names.FIELD_DOC + each.name, each.doc))
            inner = self._schema(each.type, optional=False, default=each.default, doc=each.doc)
            fields.append(Field(each.name, inner))
        return Schema(SchemaType.STRUCT, fields=tuple(fields), parameters=tuple(parameters))

    def _enum(self, type_: AvroType) -> Schema:
        options = self._options
        parameters: list[tuple[str, str]] = []
        if options.meta_data and type_.doc is not None:
            plain = options.discard_type_doc
            key = names.PLAIN_ENUM_DOC if plain else names.ENUM_DOC + type_.simple_name
            parameters.append((key, type_.doc))
        if options.meta_data and not options.discard_type_doc and type_.symbol_default is not None:
            parameters.append((names.ENUM_DEFAULT + type_.simple_name, type_.symbol_default))
        mark = options.enum_parameter
        parameters.append((mark, type_.name or ""))
        parameters += [
            (f"{mark}.{symbol}", str(number) if options.generalized else symbol)
            for number, symbol in enumerate(type_.symbols)
        ]
        return Schema(SchemaType.STRING, parameters=tuple(parameters))

    def _union(self, type_: AvroType) -> Schema:
        general = self._options.generalized
        name = f"{names.GENERAL_UNION_NAME}{next(self._unions)}" if general else names.UNION
        fields: dict[str, Schema] = {}
        for number, branch in enumerate(type_.branches):
            if branch.kind is Kind.NULL:
                continue
            field = self._options.branch_name(branch, number)
            if field in fields:
                raise DataError(f"Two types of a union have the name {field}")
            fields[field] = self._schema(branch, optional=True)
        return Schema(
            SchemaType.STRUCT,
            name=name,
            optional=len(fields) < len(type_.branches),
            parameters=((names.GENERAL_UNION, name),) if general else (),
            fields=tuple(Field(*each) for each in fields.items()),
        )

    def _array(self, type_: AvroType) -> Schema:
        if not is_entries(type_):
            items = self._schema(type_.item, optional=False)
            return Schema(SchemaType.ARRAY, value_schema=items)
        fields = {each.name: each.type for each in type_.item.fields}
        if fields.keys() != {"key", "value"}:
            raise DataError("A map is an array of records here, which need a key and a value")
        return Schema(
            SchemaType.MAP,
            key_schema=self._schema(fields["key"], optional=False),
            value_schema=self._schema(fields["value"], optional=False),
        )

    def _annotated(self, made: Schema, type_: AvroType, doc: str | None) -> Schema:
        """With what `connect.` properties say, and the name of a named type."""
        props = type_.props
        parameters = dict(made.parameters)
        if self._options.discard_type_doc:
            text = doc or type_.doc or props.get("connect.doc")
            if self._options.meta_data and type_.doc is not None:
                parameters[names.PLAIN_RECORD_DOC] = type_.doc
        else:
            text = props.get("connect.doc") if self._options.meta_data else None
        if self._options.meta_data:
            parameters |= _parameters(props.get("connect.parameters"))
        parameters |= {
            name: _java_text(value) for name, value in props.items() if name.startswith("avro")
        }
        return replace(
            made,
            doc=text,
            version=_version(made, props.get("connect.version")),
            name=_name(made, type_),
            parameters=tuple(parameters.items()),
        )

    def _with_default(self, made: Schema, type_: AvroType, default: Any) -> Schema:
        own = type_.props.get("connect.default")
        keeps = self._options.meta_data and not self._options.discard_type_doc
        if default is NO_DEFAULT:
            default = own
        elif keeps and own is None:
            flag = (names.FIELD_DEFAULT, "true")
            made = replace(made, parameters=(*made.parameters, flag))
        if default is None:
            return made
        try:
            return replace(made, default=default_of(made, type_, default))
        except (DataError, TypeError, ValueError, KeyError, AttributeError):
            return made  # as in Java, a default that does not fit is none


def is_entries(type_: AvroType) -> bool:
    """Whether an array is a map whose keys are not strings."""
    item = type_.items
    if type_.kind is not Kind.ARRAY or item is None or item.kind is not Kind.RECORD:
        return False
    marked = item.props.get(names.INTERNAL_TYPE) == names.MAP_ENTRY
    return marked or item.name == f"{names.NAMESPACE}.{names.MAP_ENTRY}"


def default_of(schema: Schema, type_: AvroType, found: Any) -> Any:
    """The value that the JSON of a default stands for."""
    inner = type_.optional_of
    if found is None or inner is not None:
        return None if found is None else default_of(schema, inner or type_, found)
    match type_.kind:
        case Kind.RECORD:
            return Struct(schema, {
                each.name: default_of(each.schema, field.type, found.get(each.name, field.default))
                for each, field in zip(schema.fields, type_.fields, strict=True)
            })  # fmt: skip
        case Kind.ARRAY | Kind.MAP:
            return _items_of(schema, type_, found)
        case Kind.UNION:
            return None  # a default of the first type; the struct that stands for it has none
    return _single_of(schema, type_, found)


def _items_of(schema: Schema, type_: AvroType, found: Any) -> Any:
    assert schema.value_schema is not None  # noqa: S101 - arrays and maps have one
    items = schema.value_schema
    if type_.kind is Kind.MAP:
        return {key: default_of(items, type_.item, each) for key, each in found.items()}
    if schema.type is SchemaType.MAP:
        raise DataError("a default of a map as an array")
    return [default_of(items, type_.item, each) for each in found]


def _single_of(schema: Schema, type_: AvroType, found: Any) -> Any:
    match type_.kind:
        case Kind.BYTES | Kind.FIXED:
            raw = found.encode("latin-1")
            return decimal_of(raw, schema.scale) if schema.is_decimal else raw
        case Kind.FLOAT | Kind.DOUBLE:
            return float(found)
        case Kind.INT | Kind.LONG if isinstance(found, int):
            return found
        case Kind.BOOLEAN if isinstance(found, bool):
            return found
        case Kind.STRING | Kind.ENUM if isinstance(found, str):
            return found
    raise DataError(f"{found!r} is not a valid default for {type_.kind}")


def _primitive(type_: AvroType) -> Schema:
    if type_.is_decimal:
        made = decimal_schema(type_.scale)
        precision = type_.props.get("precision")
        parameters = made.parameters
        if isinstance(precision, int) and precision != names.DEFAULT_PRECISION:
            parameters = (*parameters, (PRECISION, str(precision)))
        return replace(made, parameters=(*parameters, *_fixed_size(type_)))
    logical = _LOGICAL.get((type_.kind, type_.logical))
    if logical is not None:
        return logical()
    plain = _PLAIN[type_.kind]
    if type_.kind is Kind.INT and type_.logical is None and "connect.type" in type_.props:
        small = _SMALL.get(type_.props["connect.type"])
        if small is None:
            raise DataError(f"Unknown connect.type {type_.props['connect.type']!r} of an int")
        plain = small
    return Schema(plain, parameters=_fixed_size(type_))


def _fixed_size(type_: AvroType) -> tuple[tuple[str, str], ...]:
    return ((names.FIXED_SIZE, str(type_.size)),) if type_.kind is Kind.FIXED else ()


def _version(made: Schema, found: Any) -> int | None:
    if found is None or made.version == found:
        return made.version
    if not isinstance(found, int) or made.version is not None:
        raise DataError(f"The schema has connect.version {found!r}, which does not fit")
    return found


def _name(made: Schema, type_: AvroType) -> str | None:
    found = type_.props.get("connect.name")
    if found is None and type_.kind in NAMED and made.name is None:
        found = type_.name
    if found is None or found.startswith(names.DEFAULT_FULL_NAME) or found == made.name:
        return made.name
    if made.name is not None and not is_union(made):
        raise DataError(f"The schema has connect.name {found}, but it is a {made.name}")
    return str(found)


def _parameters(found: Any) -> dict[str, str]:
    if found is None:
        return {}
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise DataError("The schema's connect.parameters must be an object of strings")
    return found


def _java_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
