"""A Connect value as a constant column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from penstock.columns.types import spark_type
from penstock.kernel.data.schema import Schema, SchemaType

if TYPE_CHECKING:
    from pyspark.sql import Column


def literal(schema: Schema, value: Any) -> Column:
    """The column whose every row is this value; its type is spark_type(schema)."""
    return _bare(schema, value).cast(spark_type(schema))


def null_of(schema: Schema) -> Column:
    """The column of this schema whose every row is null."""
    return F.lit(None).cast(spark_type(schema))


def _bare(schema: Schema, value: Any) -> Column:
    if value is None or schema.is_decimal:
        return F.lit(value)
    match schema.type:
        case SchemaType.STRUCT:
            return F.struct(
                *[
                    literal(field.schema, value[field.name]).alias(field.name)
                    for field in schema.fields
                ]
            )
        case SchemaType.ARRAY if schema.value_schema is not None:
            return F.array(*[literal(schema.value_schema, item) for item in value])
        case SchemaType.MAP if schema.key_schema is not None and schema.value_schema is not None:
            return F.map_from_arrays(
                F.array(*[literal(schema.key_schema, name) for name in value]),
                F.array(*[literal(schema.value_schema, item) for item in value.values()]),
            )
    return F.lit(bytearray(value) if isinstance(value, bytes) else value)
