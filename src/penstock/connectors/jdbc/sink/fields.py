"""Which columns a record becomes: the keys as `pk.mode` says, then the fields of its value."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from penstock.connectors.jdbc.dialects.merging import WriteMode
from penstock.kernel.data.schema import STRING_SCHEMA, Schema, SchemaType
from penstock.kernel.errors import DataError, UnfitError

KAFKA_FIELDS: Final = ("__connect_topic", "__connect_partition", "__connect_offset")


class KeyMode(StrEnum):
    """Where the primary key comes from; the values are those of `pk.mode`."""

    NONE = "none"
    KAFKA = "kafka"
    RECORD_KEY = "record_key"
    RECORD_VALUE = "record_value"


@dataclass(frozen=True, slots=True)
class SinkField:
    """A column's name, what it holds, and the path to it in a record's frame."""

    name: str
    schema: Schema
    path: tuple[str, ...]
    key: bool = False


@dataclass(frozen=True, slots=True)
class FieldRules:
    """The settings that decide about columns."""

    mode: WriteMode
    key_mode: KeyMode
    key_fields: Sequence[str]
    whitelist: Collection[str]
    deletes: bool
    text_column: str


def fields_of(
    rules: FieldRules, table: str, key: Schema | None, value: Schema | None
) -> tuple[SinkField, ...]:
    """The columns for records of these schemas, in the order of the value's fields, then others.

    Raises:
        UnfitError: the schemas lack what the settings ask for; the text says what to set.
    """
    values = _value_fields(rules, table, value)
    keys = _key_fields(rules, table, key, values)
    if rules.mode is not WriteMode.INSERT and not keys:
        raise DataError(
            f"table {table}: insert.mode={rules.mode} needs a primary key; set pk.mode and,"
            " where that asks for them, pk.fields"
        )
    names = {field.name for field in keys}
    others = [
        field
        for field in values
        if field.name not in names and (not rules.whitelist or field.name in rules.whitelist)
    ]
    if not keys and not others:
        raise UnfitError(f"table {table}: no field of the record is left to be written")
    return _ordered([*keys, *others], [field.name for field in values])


def _ordered(fields: Sequence[SinkField], order: Sequence[str]) -> tuple[SinkField, ...]:
    by_name = {field.name: field for field in fields}
    first = [by_name.pop(name) for name in order if name in by_name]
    return (*first, *(by_name[name] for name in sorted(by_name)))


def _value_fields(rules: FieldRules, table: str, value: Schema | None) -> list[SinkField]:
    if value is None:
        if rules.deletes:
            return []  # All values are null: tombstones.
        raise UnfitError(
            f"table {table}: the values have no schema, so their columns are not known; use a"
            " converter that keeps schemas (JsonConverter with schemas.enable=true)"
        )
    if value.type is SchemaType.STRUCT:
        return [
            SinkField(field.name, field.schema, ("value", field.name)) for field in value.fields
        ]
    if value.type is SchemaType.STRING:
        return [SinkField(rules.text_column, value, ("value",))]
    raise UnfitError(
        f"table {table}: the values are of type {value.type.name}, but rows are made of a STRUCT;"
        " HoistField can put a value into one"
    )


def _key_fields(
    rules: FieldRules, table: str, key: Schema | None, values: Sequence[SinkField]
) -> list[SinkField]:
    match rules.key_mode:
        case KeyMode.NONE:
            return []
        case KeyMode.KAFKA:
            return _kafka_fields(rules.key_fields or KAFKA_FIELDS)
        case KeyMode.RECORD_KEY:
            return _record_key_fields(rules, table, key)
        case KeyMode.RECORD_VALUE:
            names = rules.key_fields or [field.name for field in values]
            found = {field.name: field for field in values}
            _require(names, found, table, "record_value", "value")
            return [_as_key(found[name]) for name in names]


def _kafka_fields(names: Sequence[str]) -> list[SinkField]:
    parts = (
        ("topic", STRING_SCHEMA),
        ("partition", Schema(SchemaType.INT32)),
        ("offset", Schema(SchemaType.INT64)),
    )
    return [
        SinkField(name, schema, (part,), key=True)
        for name, (part, schema) in zip(names, parts, strict=True)
    ]


def _record_key_fields(rules: FieldRules, table: str, key: Schema | None) -> list[SinkField]:
    if key is None:
        raise UnfitError(
            f"table {table}: pk.mode=record_key, but the keys have no schema; use a key.converter"
            " that gives one (JsonConverter with schemas, StringConverter, LongConverter)"
        )
    if key.type is SchemaType.STRUCT:
        names = rules.key_fields or [field.name for field in key.fields]
        found = {
            field.name: SinkField(field.name, field.schema, ("key", field.name))
            for field in key.fields
        }
        _require(names, found, table, "record_key", "key")
        return [_as_key(found[name]) for name in names]
    if len(rules.key_fields) != 1:
        raise UnfitError(
            f"table {table}: the keys are plain values of type {key.type.name}, so pk.fields must"
            f" name exactly one column; it names {list(rules.key_fields)}"
        )
    return [SinkField(rules.key_fields[0], key, ("key",), key=True)]


def _require(
    names: Sequence[str], found: Collection[str], table: str, mode: str, part: str
) -> None:
    missing = [name for name in names if name not in found]
    if missing:
        raise UnfitError(
            f"table {table}: pk.mode={mode} with pk.fields={','.join(names)}, but the record's"
            f" {part} has no field {', '.join(missing)}; it has"
            f" {', '.join(sorted(found)) or 'none'}"
        )


def _as_key(field: SinkField) -> SinkField:
    return SinkField(field.name, field.schema, field.path, key=True)
