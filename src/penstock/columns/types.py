"""How Connect's types look in a Spark frame and in an Arrow batch.

Date, Time and Timestamp travel as the integers Connect encodes them with: every value survives,
and converters need no calendar. Decimal travels as DECIMAL(38, scale), because its bytes can't
be computed with in a Column. Data without a schema is a VARIANT.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import types as spark_types

from penstock.kernel.data.schema import Schema, SchemaType
from penstock.kernel.errors import DataError

MAX_DECIMAL_DIGITS: Final = 38

SPARK_TYPES: Final[dict[SchemaType, spark_types.DataType]] = {
    SchemaType.INT8: spark_types.ByteType(),
    SchemaType.INT16: spark_types.ShortType(),
    SchemaType.INT32: spark_types.IntegerType(),
    SchemaType.INT64: spark_types.LongType(),
    SchemaType.FLOAT32: spark_types.FloatType(),
    SchemaType.FLOAT64: spark_types.DoubleType(),
    SchemaType.BOOLEAN: spark_types.BooleanType(),
    SchemaType.STRING: spark_types.StringType(),
    SchemaType.BYTES: spark_types.BinaryType(),
}

ARROW_TYPES: Final[dict[SchemaType, pa.DataType]] = {
    SchemaType.INT8: pa.int8(),
    SchemaType.INT16: pa.int16(),
    SchemaType.INT32: pa.int32(),
    SchemaType.INT64: pa.int64(),
    SchemaType.FLOAT32: pa.float32(),
    SchemaType.FLOAT64: pa.float64(),
    SchemaType.BOOLEAN: pa.bool_(),
    SchemaType.STRING: pa.string(),
    SchemaType.BYTES: pa.binary(),
}


def spark_type(schema: Schema | None) -> spark_types.DataType:
    """The type of a column that holds data of this schema. All columns are nullable."""
    if schema is None:
        return spark_types.VariantType()
    if schema.is_decimal:
        return spark_types.DecimalType(MAX_DECIMAL_DIGITS, _checked_scale(schema))
    match schema.type:
        case SchemaType.STRUCT:
            return spark_types.StructType(
                [
                    spark_types.StructField(field.name, spark_type(field.schema))
                    for field in schema.fields
                ]
            )
        case SchemaType.ARRAY:
            return spark_types.ArrayType(spark_type(schema.value_schema))
        case SchemaType.MAP:
            return spark_types.MapType(
                spark_type(schema.key_schema), spark_type(schema.value_schema)
            )
    return SPARK_TYPES[schema.type]


def arrow_type(schema: Schema) -> pa.DataType:
    """The Arrow form of spark_type(); data without a schema has none."""
    if schema.is_decimal:
        return pa.decimal128(MAX_DECIMAL_DIGITS, _checked_scale(schema))
    match schema.type:
        case SchemaType.STRUCT:
            return pa.struct(
                [pa.field(each.name, arrow_type(each.schema)) for each in schema.fields]
            )
        case SchemaType.ARRAY:
            return pa.list_(arrow_type(_present(schema.value_schema)))
        case SchemaType.MAP:
            return pa.map_(
                arrow_type(_present(schema.key_schema)), arrow_type(_present(schema.value_schema))
            )
    return ARROW_TYPES[schema.type]


def arrow_array(values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    """The values as an array. Half a surrogate pair becomes a question mark.

    Java's strings may hold one, and it is a question mark as soon as Java writes it as UTF-8.
    """
    try:
        return pa.array(values, type_)
    except UnicodeEncodeError:
        return pa.array([_encodable(each) for each in values], type_)


def _encodable(value: Any) -> Any:
    match value:
        case str():
            return (
                value.encode("utf-16", "surrogatepass")
                .decode("utf-16", "replace")
                .replace("\ufffd", "?")
            )
        case list() | tuple():
            return [_encodable(each) for each in value]
        case dict():
            return {key: _encodable(each) for key, each in value.items()}
    return value


def _present(schema: Schema | None) -> Schema:
    if schema is None:
        message = "arrays and maps need the schema of their items"
        raise DataError(message)
    return schema


def _checked_scale(schema: Schema) -> int:
    if 0 <= schema.scale <= MAX_DECIMAL_DIGITS:
        return schema.scale
    message = (
        f"Decimal with scale {schema.scale} can't be held: Spark's decimals have a scale of"
        f" 0 to {MAX_DECIMAL_DIGITS}"
    )
    raise DataError(message)
