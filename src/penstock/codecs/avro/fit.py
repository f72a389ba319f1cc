"""How data of a Connect schema goes into an Avro type, and comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from penstock.codecs.avro.model import NO_DEFAULT, AvroField, AvroType, Kind
from penstock.codecs.avro.options import AvroOptions, is_union
from penstock.codecs.avro.to_connect import ToConnect, default_of, is_entries
from penstock.kernel.data.schema import Schema, SchemaType
from penstock.kernel.errors import DataError

_KINDS: Final = {
    SchemaType.INT8: (Kind.INT, Kind.LONG),
    SchemaType.INT16: (Kind.INT, Kind.LONG),
    SchemaType.INT32: (Kind.INT, Kind.LONG),
    SchemaType.INT64: (Kind.LONG,),
    SchemaType.FLOAT32: (Kind.FLOAT, Kind.DOUBLE),
    SchemaType.FLOAT64: (Kind.DOUBLE,),
    SchemaType.BOOLEAN: (Kind.BOOLEAN,),
    SchemaType.STRING: (Kind.STRING, Kind.ENUM),
    SchemaType.BYTES: (Kind.BYTES, Kind.FIXED),
    SchemaType.ARRAY: (Kind.ARRAY,),
    SchemaType.MAP: (Kind.MAP, Kind.ARRAY),
    SchemaType.STRUCT: (Kind.RECORD,),
}


@dataclass(frozen=True, slots=True)
class Fit:
    """A Connect schema and the Avro type that its data is written as.

    Attributes:
        type: what the data is if it is not null.
        null_at: the place of null in the union with it; None if null can't be written.
        fields: of a record, one for each of its fields; of a union, for each type but null.
        items: of an array, or the values of a map.
        keys: of a map that is written as an array of entries.
    """

    schema: Schema
    type: AvroType
    null_at: int | None = None
    fields: tuple[FieldFit, ...] = ()
    items: Fit | None = None
    keys: Fit | None = None

    @property
    def item(self) -> Fit:
        assert self.items is not None  # noqa: S101 - arrays and maps have one
        return self.items


@dataclass(frozen=True, slots=True)
class FieldFit:
    """A field of a record, or a type of a union.

    Attributes:
        name: of the field in Avro.
        source: the field in Connect; None if Connect's data has none, and `default` is written.
        default: written for null.
        place: of a type in its union.
    """

    name: str
    source: str | None
    fit: Fit
    default: Any = None
    place: int = 0


class Fitting:
    """Makes fits."""

    def __init__(self, options: AvroOptions) -> None:
        self._options = options

    def fit(self, schema: Schema, type_: AvroType, path: str = "") -> Fit:
        """Raises DataError where data of the schema can't be written as that type."""
        inner, null_at = _without_null(type_)
        if self._is_flat(inner, schema):
            inner = inner.branches[0]
        if inner.kind is Kind.UNION:
            return Fit(schema, inner, null_at, self._branches(schema, inner, path))
        if inner.kind not in _KINDS[schema.type] or _is_other_decimal(schema, inner):
            raise _no_fit(schema, inner, path)
        match inner.kind:
            case Kind.RECORD:
                return Fit(schema, inner, null_at, self._fields(schema, inner, path))
            case Kind.ARRAY | Kind.MAP:
                return self._container(schema, inner, null_at, path)
        return Fit(schema, inner, null_at)

    def _is_flat(self, type_: AvroType, schema: Schema) -> bool:
        single = type_.kind is Kind.UNION and len(type_.branches) == 1
        return single and not is_union(schema)

    def _branches(self, schema: Schema, union: AvroType, path: str) -> tuple[FieldFit, ...]:
        if not is_union(schema):
            raise _no_fit(schema, union, path)
        fits: list[FieldFit] = []
        for place, branch in enumerate(union.branches):
            if branch.kind is Kind.NULL:
                continue
            name = self._options.branch_name(branch, place)
            field = schema.field(name)
            if field is None:
                raise DataError(f"{_at(path)}The union has a type {name}, the data has none")
            inner = self.fit(field.schema, branch, f"{path}.{name}")
            fits.append(FieldFit(name, name, inner, place=place))
        return tuple(fits)

    def _fields(self, schema: Schema, record: AvroType, path: str) -> tuple[FieldFit, ...]:
        by_name = {self._options.name(each.name): each for each in schema.fields}
        fits: list[FieldFit] = []
        for wanted in record.fields:
            here = f"{path}.{wanted.name}"
            given = by_name.get(wanted.name)
            if given is None:
                fits.append(self._constant(wanted, here))
                continue
            default = None if self._options.ignore_defaults else given.schema.default
            inner = self.fit(given.schema, wanted.type, here)
            fits.append(FieldFit(wanted.name, given.name, inner, default))
        return tuple(fits)

    def _constant(self, wanted: AvroField, path: str) -> FieldFit:
        if wanted.default is NO_DEFAULT:
            raise DataError(
                f"{_at(path)}The schema in the registry has this field without a default, the"
                " data does not have it"
            )
        schema = ToConnect(self._options).schema(wanted.type)
        default = default_of(schema, wanted.type, wanted.default)
        return FieldFit(wanted.name, None, self.fit(schema, wanted.type, path), default)

    def _container(self, schema: Schema, type_: AvroType, null_at: int | None, path: str) -> Fit:
        if schema.value_schema is None:
            raise _no_fit(schema, type_, path)
        if schema.type is SchemaType.MAP and type_.kind is Kind.ARRAY:
            if not is_entries(type_) or schema.key_schema is None:
                raise _no_fit(schema, type_, path)
            types = {each.name: each.type for each in type_.item.fields}
            keys = self.fit(schema.key_schema, types["key"], f"{path}.key")
            values = self.fit(schema.value_schema, types["value"], f"{path}.value")
            return Fit(schema, type_, null_at, items=values, keys=keys)
        string_keys = schema.key_schema is None or schema.key_schema.type is SchemaType.STRING
        if not string_keys:
            raise _no_fit(schema, type_, path)
        return Fit(schema, type_, null_at, items=self.fit(schema.value_schema, type_.item, path))


def _without_null(type_: AvroType) -> tuple[AvroType, int | None]:
    """What there is besides null, and where null stands among it."""
    if type_.kind is not Kind.UNION:
        return type_, None
    places = [place for place, each in enumerate(type_.branches) if each.kind is Kind.NULL]
    null_at = places[0] if places else None
    return type_.optional_of or type_, null_at


def _is_other_decimal(schema: Schema, type_: AvroType) -> bool:
    if schema.is_decimal != type_.is_decimal:
        return True
    return schema.is_decimal and schema.scale != type_.scale


def _no_fit(schema: Schema, type_: AvroType, path: str) -> DataError:
    return DataError(f"{_at(path)}{_described(schema)} can't be written as Avro's {_shown(type_)}")


def _described(schema: Schema) -> str:
    if schema.is_decimal:
        return f"A Decimal with scale {schema.scale}"
    return f"Data of type {schema.type}"


def _shown(type_: AvroType) -> str:
    if type_.is_decimal:
        return f"decimal with scale {type_.scale}"
    return f"{type_.kind} {type_.name}" if type_.name else str(type_.kind)


def _at(path: str) -> str:
    return f"Field {path.removeprefix('.')}: " if path else ""
