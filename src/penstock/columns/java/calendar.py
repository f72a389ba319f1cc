"""Days and dates of Java's calendar, Julian before 15 October 1582, as columns.

Right for every day a bigint of milliseconds can name; Spark's own dates end long before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from penstock.kernel.java.to_string import GREGORIAN_START

if TYPE_CHECKING:
    from pyspark.sql import Column

#: After so many days the Gregorian calendar repeats itself, days of the week included.
_GREGORIAN_CYCLE: Final = 146_097
_GREGORIAN_CYCLE_YEARS: Final = 400
_JULIAN_CYCLE: Final = 1461
_JULIAN_CYCLE_YEARS: Final = 4
#: Days from 1 March of year 0 to 1970.
_GREGORIAN_BEFORE_1970: Final = 719_468
_JULIAN_BEFORE_1970: Final = 719_470
#: 1 March 2000: four years of both calendars that begin then have the same days.
_COMMON_YEAR: Final = 2000
_COMMON_START: Final = 11_017
_CHANGE_YEAR: Final = 1582
_LOST_DAYS: Final = 10
_THURSDAY: Final = 3
#: A day has so many times two to the power of the shift milliseconds.
_DAY_FACTOR: Final = 84_375
_DAY_SHIFT: Final = 10


@dataclass(frozen=True, slots=True)
class CivilDate:
    """A day's date. Year 0 is 1 BC."""

    year: Column
    month: Column
    day: Column
    day_of_year: Column


def floor_div(value: Column, divisor: int) -> Column:
    """Division that rounds down, of a bigint between -2**62 and 2**62.

    Spark rounds towards zero, so the value is made positive before. It stands in the expression
    once: trees that double with each step take longer to plan than to run.
    """
    shift = 2**62 // divisor
    return truncated_div(value.cast("bigint") + F.lit(shift * divisor), divisor) - F.lit(shift)


def day_of(millis: Column) -> Column:
    """The day since 1970 of any bigint of milliseconds."""
    return floor_div(F.shiftright(millis, _DAY_SHIFT), _DAY_FACTOR)


def millis_of(days: Column, of_day: Column) -> Column:
    """Milliseconds since 1970; like Java's they begin anew where a bigint ends."""
    # Shifts are never checked, and what is added to their zeros can't carry over.
    above = days * _DAY_FACTOR + F.shiftright(of_day, _DAY_SHIFT)
    return F.shiftleft(above, _DAY_SHIFT) + of_day.bitwiseAND(F.lit(2**_DAY_SHIFT - 1))


def truncated_div(value: Column, divisor: int) -> Column:
    """Java's division of integers."""
    return F.call_function("div", value, F.lit(divisor))


def civil_date(days: Column) -> CivilDate:
    """The date of a day since 1970."""
    julian = days < GREGORIAN_START
    since_start = days + _JULIAN_BEFORE_1970
    alike = F.when(julian, F.pmod(since_start, F.lit(_JULIAN_CYCLE)) + _COMMON_START).otherwise(
        F.pmod(days, F.lit(_GREGORIAN_CYCLE))
    )
    years = F.when(
        julian, floor_div(since_start, _JULIAN_CYCLE) * _JULIAN_CYCLE_YEARS - _COMMON_YEAR
    ).otherwise(floor_div(days, _GREGORIAN_CYCLE) * _GREGORIAN_CYCLE_YEARS)
    found = F.date_from_unix_date(alike.cast("int"))
    year = F.year(found) + years
    lost = F.when((year == _CHANGE_YEAR) & ~julian, F.lit(_LOST_DAYS)).otherwise(F.lit(0))
    return CivilDate(year, F.month(found), F.dayofmonth(found), F.dayofyear(found) - lost)


def epoch_day(year: Column, month: Column, day: Column) -> Column:
    """The day since 1970 of a date; month and day may lie beyond their year and month."""
    from_january = month - 1
    place = F.pmod(from_january, F.lit(12))
    # Counted from March, so that a leap day is the last of its year.
    before_march = F.when(place < 2, F.lit(1)).otherwise(F.lit(0))
    march_year = year + floor_div(from_january, 12) - before_march
    of_year = truncated_div(F.pmod(place + 10, F.lit(12)) * 153 + 2, 5)
    start = march_year * 365 + floor_div(march_year, 4) + of_year + day - 1
    gregorian = (
        start - floor_div(march_year, 100) + floor_div(march_year, 400) - _GREGORIAN_BEFORE_1970
    )
    # The year decides too: days of an older one are counted on by its own calendar.
    modern = (year >= _CHANGE_YEAR) & (gregorian >= GREGORIAN_START)
    return F.when(modern, gregorian).otherwise(start - _JULIAN_BEFORE_1970)


def week_day(days: Column) -> Column:
    """0 for Monday to 6 for Sunday."""
    return F.pmod(days + _THURSDAY, F.lit(7))
