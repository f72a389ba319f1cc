"""How Spark reads a column, and how what it read becomes Connect's form of the value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F
from pyspark.sql import types as T

from penstock.columns.types import spark_type
from penstock.connectors.jdbc.dialects import Dialect, Received
from penstock.connectors.jdbc.source_config import Granularity
from penstock.connectors.jdbc.tables import ColumnFacts
from penstock.data.schema import DATE, TIME, Schema

if TYPE_CHECKING:
    from pyspark.sql import Column

# 1582-10-15 in days: Java's old calendar is the Julian one before it.
_GREGORIAN: Final = -141_427
# What is much older than year 0 is PostgreSQL's infinity.
_OLDEST: Final = -1_000_000
_DAY_MICROS: Final = 86_400_000_000
# In microseconds, some centuries before year 0.
_LONG_AGO: Final = 10**17
_ISO: Final = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"


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
    selected = dialect.selected(column)
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


_TIMESTAMPS: Final = frozenset({93, 2014})


def field_value(field: ReadField, rules: TimeRules, read: Column) -> Column:
    """The value of a field in Connect's form, from the column as it was read."""
    if field.schema.name == DATE:
        days = F.unix_date(read) if field.received is Received.AS_IS else read.cast("int")
        return _present(field, _calendar_days(days) if rules.legacy_calendar else days)
    if field.schema.name == TIME:
        micros = read
        if field.received is Received.AS_IS:
            micros = F.pmod(_micros_of(read), F.lit(_DAY_MICROS))
        return _present(field, _divided(micros, 1000).cast("int"))
    if field.column.type in _TIMESTAMPS:
        micros = _micros_of(read) if field.received is Received.AS_IS else read
        return _timestamp(field, rules, micros)
    return read


def _timestamp(field: ReadField, rules: TimeRules, wall: Column) -> Column:
    micros = _calendar_micros(wall) if rules.legacy_calendar else wall
    if field.received is not Received.UTC_MICROS and rules.zone != "UTC":
        shifted = F.to_utc_timestamp(F.timestamp_micros(micros), F.lit(rules.zone))
        micros = F.unix_micros(shifted)
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
            value = _divided(micros, 1000)
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


def _divided(number: Column, by: int) -> Column:
    """Division downwards, also of what is before 1970.

    Spark divides towards zero, so the number is made positive before. The number stands in the
    expression once: trees that double with each step take longer to plan than to run.
    """
    shift = _LONG_AGO // by
    whole = F.call_function("div", number.cast("long") + F.lit(shift * by), F.lit(by))
    return whole - F.lit(shift)


def _calendar_days(days: Column) -> Column:
    """Days as Java's old calendar counts them: before 1582-10-15 it is the Julian one."""
    old = (days < _GREGORIAN) & (days > _OLDEST)
    return F.when(old, days + _julian_days(days)).otherwise(days).cast("int")


def _calendar_micros(micros: Column) -> Column:
    old = (micros < _GREGORIAN * _DAY_MICROS) & (micros > _OLDEST * _DAY_MICROS)
    later = _julian_days(_divided(micros, _DAY_MICROS)) * F.lit(_DAY_MICROS)
    return F.when(old, micros + later).otherwise(micros)


def _julian_days(days: Column) -> Column:
    """How many days later the same year, month and day come in the Julian calendar."""
    # A year begins in March here, so that its leap day is the last.
    year = F.year(F.add_months(F.date_from_unix_date(days.cast("int")), -2))
    centuries, skipped = (F.call_function("div", year, F.lit(by)) for by in (100, 400))
    return centuries - skipped - 2
