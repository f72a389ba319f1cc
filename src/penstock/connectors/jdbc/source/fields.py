"""How Spark reads a column, and how its values become Connect's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F
from pyspark.sql import types as T

from penstock.columns.types import spark_type
from penstock.connectors.jdbc.calendars import (
    DAY_MICROS,
    days_from_database,
    divided,
    micros_from_database,
)
from penstock.connectors.jdbc.dialects import Dialect, Received
from penstock.connectors.jdbc.source.config import Granularity
from penstock.connectors.jdbc.tables import ColumnFacts, SqlType
from penstock.kernel.data.schema import DATE, TIME, Schema

if TYPE_CHECKING:
    from pyspark.sql import Column

_ISO: Final = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
_TIMESTAMPS: Final = frozenset({SqlType.TIMESTAMP, SqlType.TIMESTAMP_WITH_TIMEZONE})


@dataclass(frozen=True, slots=True)
class ReadField:
    """One field of a record on its way from the database.

    Attributes:
        name: what the column to read is called in the result: its own name, or a new one if the
            database converts it, because conditions still need the column as it is.
        sql: how the database converts it; None if it does not.
        read_type: the type in which Spark asks the driver for it.
    """

    column: ColumnFacts
    schema: Schema
    name: str
    sql: str | None
    received: Received
    read_type: T.DataType


@dataclass(frozen=True, slots=True)
class TimeRules:
    """How times of the database become times of records."""

    zone: str = "UTC"
    granularity: Granularity = Granularity.CONNECT_LOGICAL
    legacy_calendar: bool = True


def read_field(number: int, column: ColumnFacts, schema: Schema, dialect: Dialect) -> ReadField:
    """How to read a column into a field of this schema; `number` is its place."""
    selected = dialect.reading.selected(column)
    converted = selected.sql != dialect.quote(column.name)
    kind: T.DataType
    if selected.received is not Received.AS_IS:
        kind = T.LongType()
    elif schema.name == DATE:
        kind = T.DateType()
    elif schema.name == TIME or column.type in _TIMESTAMPS:
        kind = T.TimestampNTZType()
    else:
        kind = spark_type(schema)
    return ReadField(
        column,
        schema,
        f"penstock_{number}" if converted else column.name,
        selected.sql if converted else None,
        selected.received,
        kind,
    )


def field_value(field: ReadField, rules: TimeRules, read: Column) -> Column:
    """The value of a field in Connect's form, from the column as it was read."""
    if field.schema.name == DATE:
        days = F.unix_date(read) if field.received is Received.AS_IS else read.cast("int")
        return _present(field, days_from_database(days) if rules.legacy_calendar else days)
    if field.schema.name == TIME:
        return _present(field, divided(_time(field, rules, read), 1000).cast("int"))
    if field.column.type in _TIMESTAMPS:
        micros = _micros_of(read) if field.received is Received.AS_IS else read
        return _timestamp(field, rules, micros)
    return read


def _time(field: ReadField, rules: TimeRules, read: Column) -> Column:
    """Microseconds of the day in UTC: those of the first day of 1970, as in Java."""
    micros = read if field.received is not Received.AS_IS else _of_day(_micros_of(read))
    if field.received is Received.UTC_TIME_MICROS or rules.zone == "UTC":
        return micros
    return _of_day(_in_utc(micros, rules.zone))


def _of_day(micros: Column) -> Column:
    return F.pmod(micros, F.lit(DAY_MICROS))


def _in_utc(micros: Column, zone: str) -> Column:
    return F.unix_micros(F.to_utc_timestamp(F.timestamp_micros(micros), F.lit(zone)))


def _timestamp(field: ReadField, rules: TimeRules, wall: Column) -> Column:
    micros = micros_from_database(wall) if rules.legacy_calendar else wall
    if field.received is not Received.UTC_MICROS and rules.zone != "UTC":
        micros = _in_utc(micros, rules.zone)
    match rules.granularity:
        case Granularity.MICROS_LONG:
            value = micros
        case Granularity.NANOS_LONG:
            value = F.try_multiply(micros, F.lit(1000).cast("long"))
        case Granularity.MICROS_STRING:
            value = micros.cast("string")
        case Granularity.NANOS_STRING:
            value = F.concat(micros.cast("string"), F.lit("000"))
        case Granularity.MICROS_ISO:
            value = F.date_format(F.timestamp_micros(micros), _ISO)
        case Granularity.NANOS_ISO:
            value = F.concat(F.date_format(F.timestamp_micros(micros), _ISO), F.lit("000"))
        case _:
            value = divided(micros, 1000)
    return _present(field, value)


def _present(field: ReadField, value: Column) -> Column:
    """A value where the schema wants one: a zero date in a NOT NULL column is 1970-01-01."""
    if field.schema.optional:
        return value
    zero = F.lit("1970-01-01T00:00:00.000000") if field.schema.type == "string" else F.lit(0)
    return F.coalesce(value, zero.cast(spark_type(field.schema)))


def _micros_of(read: Column) -> Column:
    # A wall clock, taken as if it were UTC: the session's time zone is.
    return F.unix_micros(read.cast("timestamp"))
