"""How Cast makes a value of one type from a value of another, as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from penstock.columns.faults import Outcome
from penstock.columns.java_casts import (
    FLOATS,
    INTEGERS,
    int_of_float,
    long_of_decimal,
    long_of_float,
    narrowed,
    parsed_float,
    parsed_integer,
)
from penstock.columns.java_text import java_text
from penstock.columns.types import SPARK_TYPES
from penstock.columns.values_text import base64_text, moment_text
from penstock.data.java_text import MILLIS_OF_DAY
from penstock.data.schema import DATE, Schema, SchemaType
from penstock.transforms.requirements import java_class

if TYPE_CHECKING:
    from pyspark.sql import Column

_NO_SOURCES: Final = (SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT)


def unsupported(source: SchemaType) -> str | None:
    """What is wrong with casting from this type; None if it can be done."""
    if source not in _NO_SOURCES:
        return None
    known = ", ".join(kind.name for kind in SchemaType if kind not in _NO_SOURCES)
    return (
        f"Cast transformation does not support casting from {source.name};"
        f" supported types are [{known}]"
    )


def cast(schema: Schema, value: Column, target: SchemaType) -> Outcome:
    """A column of this schema as one of the target's type."""
    wrong = unsupported(schema.type)
    if wrong is not None:
        return _failed(value, wrong, target)
    if target is SchemaType.STRING:
        return Outcome(_text(schema, value))
    if schema.type is SchemaType.STRING:
        return _parsed(value, target)
    if schema.type is SchemaType.BYTES and not schema.is_decimal:
        wrong = f"Unexpected type in Cast transformation: class {java_class(schema)}"
        return _failed(value, wrong, target)
    return Outcome(_number(schema, value, target))


def _failed(value: Column, message: str, target: SchemaType) -> Outcome:
    nothing = F.lit(None).cast(SPARK_TYPES[target])
    return Outcome(nothing, F.when(value.isNotNull(), F.lit(message)))


def _text(schema: Schema, value: Column) -> Column:
    if schema.type is SchemaType.BYTES and not schema.is_decimal:
        return base64_text(value)
    if schema.is_moment:
        millis = value.cast("bigint")
        return moment_text(millis * MILLIS_OF_DAY if schema.name == DATE else millis)
    return F.when(value.isNotNull(), java_text(schema, value))


def _parsed(text: Column, target: SchemaType) -> Outcome:
    if target is SchemaType.BOOLEAN:
        return Outcome(F.lower(text) == "true")
    read = parsed_integer if target in INTEGERS else parsed_float
    number = read(text, target)
    message = F.concat(F.lit("Value ("), text, F.lit(") was out of range for requested data type"))
    return Outcome(number, F.when(text.isNotNull() & number.isNull(), message))


def _number(schema: Schema, value: Column, target: SchemaType) -> Column:
    """A number or a boolean as another one."""
    if target in FLOATS:
        return value.cast(SPARK_TYPES[target])
    if target is SchemaType.BOOLEAN:
        return value if schema.type is SchemaType.BOOLEAN else _long(schema, value) != 0
    if schema.type in FLOATS:
        return int_of_float(value, target)
    return narrowed(_long(schema, value), target)


def _long(schema: Schema, value: Column) -> Column:
    if schema.is_decimal:
        return long_of_decimal(value)
    return long_of_float(value) if schema.type in FLOATS else value.cast("bigint")


# By how schema_of_variant() begins: the type JsonConverter gives such a value in Java.
_VARIANT_TYPES: Final = {
    "BIGINT": SchemaType.INT64,
    "STRING": SchemaType.STRING,
    "BOOLEAN": SchemaType.BOOLEAN,
    "DECIMAL": SchemaType.FLOAT64,
    "DOUBLE": SchemaType.FLOAT64,
    "FLOAT": SchemaType.FLOAT32,
    "BINARY": SchemaType.BYTES,
    "OBJECT": SchemaType.MAP,
    "ARRAY": SchemaType.ARRAY,
}
_NO_DATA: Final = (
    "Cast transformation was passed a value of type class java.util.Date which is not supported"
    " by Connect's data API"
)


def cast_variant(value: Column, target: SchemaType) -> Outcome:
    """Data without a schema as a VARIANT of the target's type."""
    shown = F.schema_of_variant(value)
    found = F.lit(None).cast("variant")
    fault = F.when(shown.startswith("TIMESTAMP"), F.lit(_NO_DATA))
    for prefix, source in _VARIANT_TYPES.items():
        casted = cast(Schema(source), _typed(value, prefix, source), target)
        matches = shown.startswith(prefix)
        found = F.when(matches, casted.value.cast("variant")).otherwise(found)
        if casted.fault is not None:
            fault = F.when(matches, casted.fault).otherwise(fault)
    return Outcome(found, fault)


def _typed(value: Column, prefix: str, source: SchemaType) -> Column:
    if source in _NO_SOURCES:
        return value
    if prefix == "DECIMAL":
        # Spark's way from a decimal to a double rounds twice.
        return F.try_variant_get(value, "$", "string").try_cast("double")
    return F.try_variant_get(value, "$", SPARK_TYPES[source].simpleString())
