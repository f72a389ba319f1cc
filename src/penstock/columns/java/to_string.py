"""The text that Java's String.valueOf() gives for a Connect value, as a column expression.

Where Java's own text says nothing, or not the same twice, this differs on purpose:
bytes are shown as hexadecimal digits (Java shows the identity of the array), the entries of a
map come in the order they have, those that transformations changed last (Java: the order of their
hashes), dates are shown in UTC (Java: the worker's zone).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from penstock.kernel.data.schema import DATE, TIME, TIMESTAMP, Schema, SchemaType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import Column

    from penstock.api.envelope import Opened

_DATE_PATTERN: Final = "EEE MMM dd HH:mm:ss 'UTC' yyyy"
# Years 1 to 9999; outside of them the number itself is shown rather than an error.
_FIRST_MILLIS: Final = -62_135_596_800_000
_LAST_MILLIS: Final = 253_402_300_799_999
_DAY_MILLIS: Final = 86_400_000
# BigDecimal shows an exponent when the first digit stands further right than this.
_LEAST_PLAIN_EXPONENT: Final = -6
_JSON_PIECE: Final = r'"(?:[^"\\]|\\.)*":?|-?[0-9][0-9.eE+-]*|[a-z]+|[^\s]'


def java_text(schema: Schema | None, value: Column) -> Column:
    """The text of a column of this schema; null is the text "null". Never null, never throws."""
    return F.coalesce(_text(schema, value), F.lit("null"))


def _text(schema: Schema | None, value: Column) -> Column:
    """As java_text(), but null for null."""
    if schema is None:
        return _variant_text(value)
    match schema.type:
        case SchemaType.STRING:
            return value
        case SchemaType.STRUCT:
            return _struct_text(schema, value)
        case SchemaType.ARRAY:
            items = F.transform(value, lambda item: java_text(schema.value_schema, item))
            return F.concat(F.lit("["), F.array_join(items, ", "), F.lit("]"))
        case SchemaType.MAP:
            return _map_text(schema, value)
    return _simple_text(schema, value)


def _simple_text(schema: Schema, value: Column) -> Column:
    if schema.is_decimal:
        return _decimal_text(schema.scale, value)
    if schema.type is SchemaType.BYTES:
        return F.lower(F.hex(value))
    if schema.name == DATE and schema.type is SchemaType.INT32:
        return _date_text(value.cast("bigint") * _DAY_MILLIS, value)
    if schema.name == TIME and schema.type is SchemaType.INT32:
        return _date_text(value.cast("bigint"), value)
    if schema.name == TIMESTAMP and schema.type is SchemaType.INT64:
        return _date_text(value, value)
    return value.cast("string")


def _struct_text(schema: Schema, value: Column) -> Column:
    # concat_ws leaves out nulls, as Struct does.
    fields = [
        F.concat(F.lit(f"{field.name}="), _text(field.schema, value.getField(field.name)))
        for field in schema.fields
    ]
    text = F.concat(F.lit("Struct{"), F.concat_ws(",", *fields), F.lit("}"))
    return F.when(value.isNotNull(), text)


def _map_text(schema: Schema, value: Column) -> Column:
    entries = F.transform(
        F.map_entries(value),
        lambda entry: F.concat(
            java_text(schema.key_schema, entry.getField("key")),
            F.lit("="),
            java_text(schema.value_schema, entry.getField("value")),
        ),
    )
    return F.concat(F.lit("{"), F.array_join(entries, ", "), F.lit("}"))


def _date_text(millis: Column, raw: Column) -> Column:
    in_range = millis.between(_FIRST_MILLIS, _LAST_MILLIS)
    seconds = F.floor(F.when(in_range, millis) / 1000).cast("bigint")
    # date_format shows the session's zone; moved by its distance from UTC it shows UTC.
    shown = F.to_utc_timestamp(F.timestamp_seconds(seconds), F.current_timezone())
    return F.when(in_range, F.date_format(shown, _DATE_PATTERN)).otherwise(raw.cast("string"))


def _decimal_text(scale: int, value: Column) -> Column:
    plain = value.cast("string")
    if -scale >= _LEAST_PLAIN_EXPONENT:
        return plain
    stripped = F.ltrim(F.regexp_replace(plain, "[-.]", ""), F.lit("0"))
    digits = F.when(stripped == "", F.lit("0")).otherwise(stripped)
    exponent = F.length(digits) - 1 - scale
    sign = F.when(plain.startswith("-"), F.lit("-")).otherwise(F.lit(""))
    fraction = F.when(F.length(digits) > 1, F.concat(F.lit("."), F.substring(digits, 2, 38)))
    shown = F.concat(
        sign,
        F.substring(digits, 1, 1),
        F.coalesce(fraction, F.lit("")),
        F.lit("E"),
        exponent.cast("string"),
    )
    return F.when(exponent < _LEAST_PLAIN_EXPONENT, shown).otherwise(plain)


def _variant_text(value: Column) -> Column:
    """HashMap's and ArrayList's text of data without a schema."""
    # Most data are maps of texts and numbers, for which the way over JSON takes twice as long.
    return F.coalesce(_members_text(_entry_texts(value)), _text_by_json(value))


def opened_text(value: Column, opened: Opened) -> Column:
    """As java_text(), of an opened map; what is changed in it comes last."""
    known = opened.members
    others = _entry_texts(value, sorted(known))
    changed = [
        F.concat(F.lit(f"{name}="), F.when(member.column.isNotNull(), _member_text(member.column)))
        for name, member in known.items()
        if member is not None
    ]
    entries = F.concat(others, F.array(*changed)) if changed else others
    return F.coalesce(_members_text(entries), F.lit("null"))


def _members_text(entries: Column) -> Column:
    # Passes over entries that are null.
    return F.concat(F.lit("{"), F.array_join(entries, ", "), F.lit("}"))


def _entry_texts(value: Column, hidden: Sequence[str] = ()) -> Column:
    """The texts of all members of a map but the hidden ones, which are null; null if it is none."""

    def text(entry: Column) -> Column:
        name = entry.getField("key")
        shown = F.concat(name, F.lit("="), _member_text(entry.getField("value")))
        return F.when(~name.isin(list(hidden)), shown) if hidden else shown

    members = F.try_variant_get(value, "$", "map<string,variant>")
    return F.transform(F.map_entries(members), text)


def _member_text(value: Column) -> Column:
    plain = F.schema_of_variant(value).isin("STRING", "BIGINT", "BOOLEAN")
    text = F.when(plain, F.try_variant_get(value, "$", "string")).otherwise(_text_by_json(value))
    return F.coalesce(text, F.lit("null"))


def _text_by_json(value: Column) -> Column:
    return variant_text(
        value, name=lambda name: F.concat(name, F.lit("=")), text=lambda text: text, comma=", "
    )


def variant_text(
    value: Column,
    *,
    name: Callable[[Column], Column],
    text: Callable[[Column], Column],
    comma: str,
) -> Column:
    """The text of data without a schema, made from the pieces of its JSON.

    `name` and `text` write the names of entries and texts, `comma` stands between items.
    """

    def written(piece: Column) -> Column:
        named = F.substring(piece, 2, F.length(piece) - 3)
        quoted = F.substring(piece, 2, F.length(piece) - 2)
        return (
            F.when(piece.endswith('":'), name(_unescaped(named)))
            .when(piece.startswith('"'), text(_unescaped(quoted)))
            .when(piece == ",", F.lit(comma))
            .when(piece.rlike("^-?[0-9].*[.eE]"), piece.try_cast("double").cast("string"))
            .otherwise(piece)
        )

    pieces = F.regexp_extract_all(F.to_json(value), F.lit(_JSON_PIECE), F.lit(0))
    return F.array_join(F.transform(pieces, written), "")


def _unescaped(text: Column) -> Column:
    quoted = F.concat(F.lit('"'), text, F.lit('"'))
    plain = F.try_variant_get(F.try_parse_json(quoted), "$", "string")
    return F.when(text.contains("\\"), plain).otherwise(text)
