"""Casts columns of values from one type to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from penstock.columns.faults import Outcome
from penstock.columns.java.casts import (
    FLOATS,
    INTEGERS,
    int_of_float,
    long_of_decimal,
    long_of_float,
    narrowed,
    parsed_float,
    parsed_integer,
)
from penstock.columns.java.connect_text import base64_text, moment_text
from penstock.columns.java.to_string import java_text
from penstock.columns.let import let
from penstock.columns.types import SPARK_TYPES
from penstock.kernel.data.schema import DATE, Schema, SchemaType
from penstock.kernel.java.to_string import MILLIS_OF_DAY
from penstock.transforms.requirements import java_class, variant_kind

if TYPE_CHECKING:
    from pyspark.sql import Column

_NO_SOURCES: Final = (SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT)


def unsupported(source: SchemaType) -> str | None:
    """The error of a cast from this type; None if it is supported."""
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
        return _failed(value, _unexpected(schema), target)
    return Outcome(_number(schema, value, target))


def _unexpected(schema: Schema) -> str:
    return f"Unexpected type in Cast transformation: class {java_class(schema)}"


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
    return Outcome(number, F.when(text.isNotNull() & number.isNull(), _out_of_range(text)))


def _out_of_range(text: Column) -> Column:
    return F.concat(F.lit("Value ("), text, F.lit(") was out of range for requested data type"))


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


# By variant_kind(), the frequent ones first: the type JsonConverter gives such a value in Java.
_VARIANT_TYPES: Final = {
    "BIGINT": SchemaType.INT64,
    "STRING": SchemaType.STRING,
    "DECIMAL": SchemaType.FLOAT64,
    "DOUBLE": SchemaType.FLOAT64,
    "BOOLEAN": SchemaType.BOOLEAN,
    "FLOAT": SchemaType.FLOAT32,
    "BINARY": SchemaType.BYTES,
    "OBJECT": SchemaType.MAP,
    "ARRAY": SchemaType.ARRAY,
}
_KINDS: Final = {source: kind for kind, source in _VARIANT_TYPES.items()}
_NO_DATA: Final = (
    "Cast transformation was passed a value of type class java.util.Date which is not supported"
    " by Connect's data API"
)


def cast_variant(value: Column, target: SchemaType) -> Outcome:
    """Data without a schema as a VARIANT of the target's type."""
    kind = variant_kind(value)
    # All kinds together are too much code for Java's compiler, so only the frequent one is
    # compiled; let() makes Spark interpret the others.
    quick = SchemaType.STRING if target is SchemaType.STRING else SchemaType.INT64
    found = F.when(kind == _KINDS[quick], _casted(value, _KINDS[quick], target)).otherwise(
        let(value, lambda each: let(variant_kind(each), lambda own: _by_kind(own, each, target)))
    )
    return Outcome(found, F.when(found.isNull(), _variant_fault(kind, value)))


def _by_kind(kind: Column, value: Column, target: SchemaType) -> Column:
    found = F.lit(None).cast("variant")
    # The last condition made is the first one evaluated.
    for name in reversed(_VARIANT_TYPES):
        found = F.when(kind == name, _casted(value, name, target)).otherwise(found)
    return found


def _casted(value: Column, kind: str, target: SchemaType) -> Column:
    source = _VARIANT_TYPES[kind]
    return cast(Schema(source), _typed(value, kind, source), target).value.cast("variant")


def _variant_fault(kind: Column, value: Column) -> Column:
    """Why data without a schema could not be cast; null for null."""
    text = F.try_variant_get(value, "$", "string")
    messages = {
        **{name: unsupported(source) for name, source in _VARIANT_TYPES.items()},
        "BINARY": _unexpected(Schema(SchemaType.BYTES)),
        **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_NTZ"), _NO_DATA),
    }
    entries = [F.lit(part) for pair in messages.items() if pair[1] is not None for part in pair]
    return F.when(kind == "STRING", _out_of_range(text)).otherwise(
        F.try_element_at(F.create_map(*entries), kind)
    )


def _typed(value: Column, kind: str, source: SchemaType) -> Column:
    if source in _NO_SOURCES:
        return value
    if kind == "DECIMAL":
        # Spark rounds twice from a decimal to a double.
        return F.try_variant_get(value, "$", "string").try_cast("double")
    return F.try_variant_get(value, "$", SPARK_TYPES[source].simpleString())
