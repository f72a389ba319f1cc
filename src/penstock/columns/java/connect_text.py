"""The text that Connect's Values class gives for a value, as a column expression.

It is what SimpleHeaderConverter writes, and what penstock.kernel.java.connect_text gives for one
value. The entries of a map come in the order they have (Java: the order of their hashes).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from penstock.columns.java.date_format import formatted
from penstock.columns.java.to_string import java_text, variant_text
from penstock.columns.literals import literal
from penstock.kernel.data.schema import DATE, Field, Schema, SchemaType
from penstock.kernel.java.date_patterns import pieces_of
from penstock.kernel.java.to_string import MILLIS_OF_DAY

if TYPE_CHECKING:
    from pyspark.sql import Column

_TIME: Final = pieces_of("HH:mm:ss.SSS'Z'")
_DAY: Final = pieces_of("yyyy-MM-dd")
_MOMENT: Final = pieces_of("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")


def values_text(schema: Schema | None, value: Column) -> Column:
    """The text of a column of this schema; null for null. Never throws."""
    if schema is None:
        return _bare_text(value)
    match schema.type:
        case SchemaType.STRING:
            return value
        case SchemaType.STRUCT:
            return _struct_text(schema, value)
        case SchemaType.ARRAY:
            items = F.transform(value, lambda item: _embedded(schema.value_schema, item))
            return F.concat(F.lit("["), F.array_join(items, ","), F.lit("]"))
        case SchemaType.MAP:
            return _map_text(schema, value)
    return _scalar_text(schema, value)


def _embedded(schema: Schema | None, value: Column) -> Column:
    """The text inside of an array, map or struct, where null is a word and texts are quoted."""
    text = values_text(schema, value)
    if schema is not None and _is_text(schema):
        text = _quoted(text)
    return F.coalesce(text, F.lit("null"))


def _is_text(schema: Schema) -> bool:
    is_bytes = schema.type is SchemaType.BYTES and not schema.is_decimal
    return is_bytes or schema.type is SchemaType.STRING


def _quoted(text: Column) -> Column:
    escaped = F.replace(F.replace(text, F.lit("\\"), F.lit("\\\\")), F.lit('"'), F.lit('\\"'))
    return F.concat(F.lit('"'), escaped, F.lit('"'))


def _struct_text(schema: Schema, value: Column) -> Column:
    def member(field: Field) -> Column:
        found = value.getField(field.name)
        if field.schema.default is not None:
            found = F.coalesce(found, literal(field.schema, field.schema.default))
        return F.concat(_quoted(F.lit(field.name)), F.lit(":"), _embedded(field.schema, found))

    members = F.concat_ws(",", *map(member, schema.fields))
    return F.when(value.isNotNull(), F.concat(F.lit("{"), members, F.lit("}")))


def _map_text(schema: Schema, value: Column) -> Column:
    entries = F.transform(
        F.map_entries(value),
        lambda entry: F.concat(
            _embedded(schema.key_schema, entry.getField("key")),
            F.lit(":"),
            _embedded(schema.value_schema, entry.getField("value")),
        ),
    )
    return F.concat(F.lit("{"), F.array_join(entries, ","), F.lit("}"))


def _scalar_text(schema: Schema, value: Column) -> Column:
    if schema.type is SchemaType.BYTES and not schema.is_decimal:
        return base64_text(value)
    if schema.is_moment:
        millis = value.cast("bigint")
        return moment_text(millis * MILLIS_OF_DAY if schema.name == DATE else millis)
    return F.when(value.isNotNull(), java_text(schema, value))


def moment_text(millis: Column) -> Column:
    """Java looks at the value, not at its type: early is a time, midnight is a date."""
    return (
        F.when(millis < MILLIS_OF_DAY, formatted(millis, _TIME))
        .when(millis % MILLIS_OF_DAY == 0, formatted(millis, _DAY))
        .otherwise(formatted(millis, _MOMENT))
    )


def base64_text(raw: Column) -> Column:
    # Spark breaks the text into lines, Java does not.
    return F.translate(F.base64(raw), "\r\n", "")


def _bare_text(value: Column) -> Column:
    """The text of data without a schema."""
    inside = variant_text(
        value, name=lambda name: F.concat(_quoted(name), F.lit(":")), text=_quoted, comma=","
    )
    is_text = F.schema_of_variant(value) == "STRING"
    text = F.when(is_text, F.try_variant_get(value, "$", "string")).otherwise(inside)
    return F.when(~F.is_variant_null(value), text)
