"""Spark expressions: a record's fields in the form that goes into a text file or a JDBC batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F

from penstock.connectors.jdbc.calendars import days_for_database, divided, micros_for_database
from penstock.connectors.jdbc.dialects.merging import SEQUENCE, TOMBSTONE
from penstock.connectors.jdbc.sink.fields import SinkField
from penstock.connectors.jdbc.sink.refusals import MARK
from penstock.connectors.jdbc.sink.value_rules import ValueRules, is_epoch
from penstock.kernel.data.schema import DATE, TIME, TIMESTAMP, Schema, SchemaType
from penstock.kernel.errors import UnfitError

if TYPE_CHECKING:
    from pyspark.sql import Column

#: The backslash first, as the others bring new ones.
_ESCAPES: Final = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))
_ESCAPED: Final = {SchemaType.STRING, SchemaType.BYTES, SchemaType.ARRAY}
_DAY_SECONDS: Final = 86_400


def columns_of(fields: Sequence[SinkField], rules: ValueRules, *, staged: bool) -> list[Column]:
    """A record's columns, with its place in the batch if it is to be staged.

    For a form of lines, all columns are one text, as bulk loaders read them.
    """
    columns = [_column(field, rules) for field in fields]
    names = [field.name for field in fields]
    escaped = [field.schema.type in _ESCAPED and not field.schema.is_decimal for field in fields]
    if staged:
        # Rows of a Kafka partition are in Spark partitions that follow one another.
        place = F.monotonically_increasing_id()
        columns += [place, F.col("value").isNull().cast("int")]
        names += [SEQUENCE, TOMBSTONE]
        escaped += [False, False]
    if rules.form.lines:
        return [line_of(zip(columns, escaped, strict=True))]
    return [column.alias(name) for column, name in zip(columns, names, strict=True)]


def line_of(columns: Iterable[tuple[Column, bool]]) -> Column:
    """Columns with tabs in between; True beside one says that it may need escapes."""
    texts = [_text(column, escaped=escaped) for column, escaped in columns]
    return F.concat_ws("\t", *texts).alias("value")


def _text(column: Column, *, escaped: bool) -> Column:
    text = column.cast("string")
    for plain, replacement in _ESCAPES if escaped else ():
        text = F.replace(text, F.lit(plain), F.lit(replacement))
    return F.coalesce(text, F.lit("\\N"))


def _column(field: SinkField, rules: ValueRules) -> Column:
    column = _at(field.path)
    if rules.replace_nulls and field.schema.default is not None:
        column = F.coalesce(column, F.lit(field.schema.default))
    if is_epoch(field, rules):
        # Down, also before 1970: the remainder of a whole division goes towards zero.
        micros = (column - F.pmod(column, F.lit(rules.epoch_unit))) / F.lit(rules.epoch_unit)
        return _moment(micros.cast("long"), rules)
    return _value(field.schema, column, rules)


def _at(path: Sequence[str]) -> Column:
    whole, *inner = path
    return reduce(lambda outer, name: outer.getField(name), inner, F.col(whole))


def _value(schema: Schema, column: Column, rules: ValueRules) -> Column:
    if schema.is_decimal:
        return column
    logical = _LOGICAL.get(schema.name or "")
    if logical is not None:
        return logical(column, rules)
    plain = _PLAIN.get(schema.type)
    if plain is not None:
        return plain(schema, column, rules)
    return column


def _date(days: Column, rules: ValueRules) -> Column:
    if rules.form.times_as_millis:
        return days.cast("long") * F.lit(_DAY_SECONDS * 1000).cast("long")
    if rules.date_zone != "UTC":
        midnight = F.timestamp_seconds(days.cast("long") * F.lit(_DAY_SECONDS).cast("long"))
        days = F.unix_date(F.from_utc_timestamp(midnight, rules.date_zone).cast("date"))
    return F.date_from_unix_date(days_for_database(days) if rules.legacy_calendar else days)


def _time(milliseconds: Column, rules: ValueRules) -> Column:
    if rules.form.times_as_millis:
        return milliseconds.cast("long")
    moment = F.from_utc_timestamp(F.timestamp_millis(milliseconds), rules.zone)
    return F.date_format(moment, "HH:mm:ss.SSS")


def _timestamp(milliseconds: Column, rules: ValueRules) -> Column:
    if rules.form.times_as_millis:
        return milliseconds
    return _moment(F.unix_micros(F.timestamp_millis(milliseconds)), rules)


def _moment(micros: Column, rules: ValueRules) -> Column:
    if rules.form.times_as_millis:
        return divided(micros, 1000)
    if rules.zone != "UTC":
        micros = F.unix_micros(F.from_utc_timestamp(F.timestamp_micros(micros), rules.zone))
    wall = micros_for_database(micros) if rules.legacy_calendar else micros
    return F.timestamp_micros(wall).cast("timestamp_ntz")


def _boolean(schema: Schema, column: Column, rules: ValueRules) -> Column:
    del schema, rules
    return column.cast("int")  # 1 and 0 are true and false to every database


def _bytes(schema: Schema, column: Column, rules: ValueRules) -> Column:
    del schema
    if not rules.form.lines:
        return column
    digits = F.hex(column)
    prefix = rules.form.hex_prefix
    return F.concat(F.lit(prefix), digits) if prefix else digits


def _array(schema: Schema, column: Column, rules: ValueRules) -> Column:
    items = schema.value_schema
    if not rules.form.arrays or items is None:
        raise UnfitError(
            "an ARRAY can't be written to this database; leave it out or make a text of it"
        )
    texts = F.transform(column, lambda item: _array_item(items, item, rules))
    return F.concat(F.lit("{"), F.array_join(texts, ","), F.lit("}"))


def _array_item(schema: Schema, item: Column, rules: ValueRules) -> Column:
    text = _value(schema, item, rules).cast("string")
    if schema.type is not SchemaType.ARRAY:
        # A backslash before each of them: quotes and backslashes mean something in there.
        text = F.concat(F.lit('"'), F.regexp_replace(text, r'(["\\])', r"\\$1"), F.lit('"'))
    return F.coalesce(text, F.lit("NULL"))


def _nested(schema: Schema, column: Column, rules: ValueRules) -> Column:
    del column, rules
    raise UnfitError(
        f"a {schema.type.name} can't be written to a column; flatten it (Flatten) or leave it out"
    )


_LOGICAL: Final[dict[str, Callable[[Any, ValueRules], Column]]] = {
    DATE: _date,
    TIME: _time,
    TIMESTAMP: _timestamp,
}
_PLAIN: Final[dict[SchemaType, Callable[[Schema, Any, ValueRules], Column]]] = {
    SchemaType.BOOLEAN: _boolean,
    SchemaType.BYTES: _bytes,
    SchemaType.ARRAY: _array,
    SchemaType.MAP: _nested,
    SchemaType.STRUCT: _nested,
}


def complete(fields: Sequence[SinkField], *, deletes: bool) -> Column | None:
    """A condition that is true; it fails the job at a record without a value or key it must have.

    None if there is nothing to ask.
    """
    asked: list[tuple[Column, str]] = []
    if not deletes:
        hint = "set delete.enabled=true (with pk.mode=record_key), or drop tombstones"
        asked.append((F.col("value").isNull(), f"its value is null; {hint}"))
    for field in fields:
        if field.key and field.path[0] in ("key", "value"):
            text = f"field {field.name} of the primary key is null; see pk.mode and pk.fields"
            asked.append((_at(field.path).isNull(), text))
    if not asked:
        return None
    why = F.coalesce(*(F.when(bad, F.lit(text)) for bad, text in asked))
    place = F.struct("topic", "partition", "offset", why.alias("why"))
    refused = F.raise_error(F.concat(F.lit(MARK), F.to_json(place))).cast("boolean")
    any_bad = reduce(or_, (bad for bad, _ in asked))
    return F.when(any_bad, refused).otherwise(F.lit(True))
