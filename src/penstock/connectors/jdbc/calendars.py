"""Days before October 1582: Java's old calendar is the Julian one there, a database's is not.

A database says which year, month and day it was, by the calendar of today extended backwards. A
record says how many days ago. The old calendar of Java stands between them, unless
`date.calendar.system` says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column

DAY_MICROS: Final = 86_400_000_000

# 1582-10-15, the first day of the calendar of today, in days since 1970.
_GREGORIAN: Final = -141_427
# What is much older than year 0 is PostgreSQL's infinity.
_OLDEST: Final = -1_000_000
# From the first day of March in the year 0 of the Julian calendar to 1970.
_JULIAN_DAYS: Final = 719_470
_FOUR_YEARS: Final = 1461
# In the unit of what is divided: some centuries before year 0.
_LONG_AGO: Final = 10**17


def divided(number: Column, by: int) -> Column:
    """Division downwards, also of what is before 1970.

    Spark divides towards zero, so the number is made positive before. The number stands in the
    expression once: trees that double with each step take longer to plan than to run.
    """
    shift = _LONG_AGO // by
    whole = F.call_function("div", number.cast("long") + F.lit(shift * by), F.lit(by))
    return whole - F.lit(shift)


def days_from_database(days: Column) -> Column:
    """A database's day as the old calendar counts it."""
    return _if_old(days, 1, days + _apart(_year(days))).cast("int")


def micros_from_database(micros: Column) -> Column:
    """The same for a date and time."""
    year = _year(divided(micros, DAY_MICROS))
    return _if_old(micros, DAY_MICROS, micros + _apart(year) * F.lit(DAY_MICROS))


def days_for_database(days: Column) -> Column:
    """The day that a database calls as the old calendar calls this one."""
    return _if_old(days, 1, days - _apart(_julian_year(days))).cast("int")


def micros_for_database(micros: Column) -> Column:
    """The same for a date and time."""
    year = _julian_year(divided(micros, DAY_MICROS))
    return _if_old(micros, DAY_MICROS, micros - _apart(year) * F.lit(DAY_MICROS))


def _if_old(value: Column, unit: int, changed: Column) -> Column:
    old = (value < F.lit(_GREGORIAN * unit)) & (value > F.lit(_OLDEST * unit))
    return F.when(old, changed).otherwise(value)


# A year begins in March here, so that its leap day is the last.


def _year(days: Column) -> Column:
    return F.year(F.add_months(F.date_from_unix_date(days.cast("int")), -2))


def _julian_year(days: Column) -> Column:
    return divided((days + F.lit(_JULIAN_DAYS)) * F.lit(4) + F.lit(3), _FOUR_YEARS)


def _apart(year: Column) -> Column:
    """How many days later the same month and day of a year come in the Julian calendar."""
    centuries, skipped = (F.call_function("div", year, F.lit(by)) for by in (100, 400))
    return centuries - skipped - 2
