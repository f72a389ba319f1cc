"""The text that Connect's Values class gives for a value, as a column expression.

It is what SimpleHeaderConverter writes, and what penstock.data.values_text gives for one
value. The entries of a map come in the order they have (Java: the order of their hashes).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from penstock.columns.java_text import java_text, variant_text
from penstock.columns.literals import literal
from penstock.data.java_text import MILLIS_OF_DAY
from penstock.data.schema import DATE, TIME, TIMESTAMP, Field, Schema, SchemaType

if TYPE_CHECKING:
    from pyspark.sql import Column

# After so many days the calendar repeats itself; Spark's dates end long before Connect's do.
_CALENDAR_DAYS: Final = 146_097
_CALENDAR_YEARS: Final = 400


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
        return F.base64(value)
    if schema.name == DATE and schema.type is SchemaType.INT32:
        return _moment_text(value.cast("bigint") * MILLIS_OF_DAY)
    if schema.name in (TIME, TIMESTAMP):
        return _moment_text(value.cast("bigint"))
    return F.when(value.isNotNull(), java_text(schema, value))


def _moment_text(millis: Column) -> Column:
    """Java looks at the value, not at its type: early is a time, midnight is a date."""
    of_day = F.pmod(millis, F.lit(MILLIS_OF_DAY))
    clock = F.format_string(
        "%02d:%02d:%02d.%03dZ",
        _part(of_day, 3_600_000),
        _part(of_day, 60_000) % 60,
        _part(of_day, 1000) % 60,
        of_day % 1000,
    )
    date = _date_text(_part(millis - of_day, MILLIS_OF_DAY))
    text = (
        F.when(millis < MILLIS_OF_DAY, clock)
        .when(of_day == 0, date)
        .otherwise(F.concat(date, F.lit("T"), clock))
    )
    return F.when(millis.isNotNull(), text)


def _date_text(days: Column) -> Column:
    of_cycle = F.pmod(days, F.lit(_CALENDAR_DAYS))
    cycles = _part(days - of_cycle, _CALENDAR_DAYS)
    date = F.date_add(F.to_date(F.lit("1970-01-01")), of_cycle.cast("int"))
    year = F.year(date) + cycles * _CALENDAR_YEARS
    return F.format_string("%04d-%02d-%02d", year, F.month(date), F.dayofmonth(date))


def _part(number: Column, size: int) -> Column:
    """How often a size goes into a whole number."""
    return F.floor(number / size).cast("bigint")


def _bare_text(value: Column) -> Column:
    """The text of data without a schema."""
    inside = variant_text(
        value, name=lambda name: F.concat(_quoted(name), F.lit(":")), text=_quoted, comma=","
    )
    is_text = F.schema_of_variant(value) == "STRING"
    text = F.when(is_text, F.try_variant_get(value, "$", "string")).otherwise(inside)
    return F.when(~F.is_variant_null(value), text)
