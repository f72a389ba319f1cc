"""Reads and builds structs as the transformations of Kafka Connect do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.kernel.config import Importance, Type, key
from penstock.kernel.data.schema import Field, Schema, SchemaType
from penstock.kernel.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column


def replace_null_key() -> Any:
    """The key `replace.null.with.default` of a Config."""
    return key(
        Type.BOOLEAN,
        default=True,
        importance=Importance.MEDIUM,
        doc="Whether fields that are null and have a default get their default.",
    )


def field_value(value: Column, field: Field, *, replace_null: bool) -> Column:
    """A field of a struct; with `replace_null` its default, if it has one, instead of null.

    If the struct is null, so is its field.
    """
    column = value.getField(field.name)
    if not replace_null or field.schema.default is None:
        return column
    from pyspark.sql import functions as F

    from penstock.columns.literals import literal

    default = literal(field.schema, field.schema.default)
    return F.when(value.isNotNull(), F.coalesce(column, default))


def copied_schema(schema: Schema, fields: Sequence[Field]) -> Schema:
    """A struct with other fields. As in Kafka it is not optional and has no default.

    Raises:
        DataError: two fields have the same name, or one has none.
    """
    names = [field.name for field in fields]
    if "" in names:
        raise DataError("fieldName cannot be null.")
    for place, name in enumerate(names):
        if name in names[:place]:
            raise DataError(f"Cannot create field because of field name duplication {name}")
    return Schema(
        SchemaType.STRUCT,
        name=schema.name,
        version=schema.version,
        doc=schema.doc,
        parameters=schema.parameters,
        fields=tuple(fields),
    )


def struct_of(present: Column, fields: Sequence[tuple[str, Column]]) -> Column:
    """A struct of these columns where `present` is true, else null."""
    from pyspark.sql import functions as F

    if not fields:
        return F.when(present, F.struct())
    return F.when(present, F.struct(*[column.alias(name) for name, column in fields]))
