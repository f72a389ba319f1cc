"""Converts the results of a query to Connect's data: a schema for each SQL type that has one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F
from pyspark.sql import types as T

from penstock.columns.types import MAX_DECIMAL_DIGITS, SPARK_TYPES
from penstock.kernel.data.schema import (
    Field,
    Schema,
    SchemaType,
    date_schema,
    decimal_schema,
    struct_schema,
    timestamp_schema,
)
from penstock.kernel.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.transforms.sql.scope import Found

_PLAIN: Final = {kind: type_ for type_, kind in SPARK_TYPES.items()}


def nullable_type(schema: Schema | None, kind: T.DataType) -> T.DataType:
    """A column's type with its schema's nullability, by which SQL decides what may be null."""
    if schema is None:
        return kind
    if isinstance(kind, T.StructType):
        return T.StructType(
            [
                T.StructField(
                    field.name, nullable_type(field.schema, each.dataType), field.schema.optional
                )
                for field, each in zip(schema.fields, kind.fields, strict=True)
            ]
        )
    return kind


def in_flight(name: str, kind: T.DataType, column: Column, *, optional: bool) -> Found:
    """A computed column as data of a record, with its schema.

    Raises:
        DataError: Connect has no type for it.
    """
    from penstock.transforms.sql.scope import Found

    schema, changed = _converted(name, kind, column)
    return Found(replace(schema, optional=optional), changed)


def _converted(name: str, kind: T.DataType, column: Column) -> tuple[Schema, Column]:
    match kind:
        case T.StructType():
            return _struct(name, kind, column)
        case T.ArrayType():
            return _array(name, kind, column)
        case T.MapType():
            return _map(name, kind, column)
    return _scalar(name, kind, column)


def _scalar(name: str, kind: T.DataType, column: Column) -> tuple[Schema, Column]:
    match kind:
        case T.TimestampType() | T.TimestampNTZType():
            return timestamp_schema(), F.unix_millis(column.cast("timestamp"))
        case T.DateType():
            return date_schema(), F.unix_date(column)
        case T.DecimalType():
            wide = T.DecimalType(MAX_DECIMAL_DIGITS, kind.scale)
            return decimal_schema(kind.scale), column.cast(wide)
        case T.CharType() | T.VarcharType() | T.StringType():
            return Schema(SchemaType.STRING), column.cast("string")
    if kind in _PLAIN:
        return Schema(_PLAIN[kind]), column
    raise DataError(
        f"column {name} of the query has type {kind.simpleString()}, which records can't have;"
        f" use CAST({name} AS …)"
    )


def _struct(name: str, kind: T.StructType, column: Column) -> tuple[Schema, Column]:
    fields, columns = [], []
    for each in kind.fields:
        schema, changed = _converted(
            f"{name}.{each.name}", each.dataType, column.getField(each.name)
        )
        fields.append(Field(each.name, replace(schema, optional=each.nullable)))
        columns.append(changed.alias(each.name))
    return struct_schema(*fields), F.when(column.isNotNull(), F.struct(*columns))


def _array(name: str, kind: T.ArrayType, column: Column) -> tuple[Schema, Column]:
    items, _ = _converted(name, kind.elementType, column)
    changed = F.transform(column, lambda item: _converted(name, kind.elementType, item)[1])
    items = replace(items, optional=kind.containsNull)
    return Schema(SchemaType.ARRAY, value_schema=items), changed


def _map(name: str, kind: T.MapType, column: Column) -> tuple[Schema, Column]:
    keys, _ = _converted(name, kind.keyType, column)
    values, _ = _converted(name, kind.valueType, column)
    changed = F.transform_values(
        F.transform_keys(column, lambda key, _: _converted(name, kind.keyType, key)[1]),
        lambda _, value: _converted(name, kind.valueType, value)[1],
    )
    values = replace(values, optional=kind.valueContainsNull)
    return Schema(SchemaType.MAP, key_schema=keys, value_schema=values), changed
