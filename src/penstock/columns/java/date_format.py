"""Formats as SimpleDateFormat, in UTC and with English names, as columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from penstock.columns.java.calendar import (
    CivilDate,
    civil_date,
    day_of,
    truncated_div,
    week_day,
)
from penstock.kernel.java.date_patterns import ERAS, MONTHS, SHORT_NAME, WEEK_DAYS, Fixed, Piece
from penstock.kernel.java.to_string import MILLIS_OF_DAY

if TYPE_CHECKING:
    from pyspark.sql import Column

_LONG_NAMES: Final = 4
_SHORT_YEAR: Final = 2
_MINUTE: Final = 60_000
_HOUR: Final = 3_600_000


def formatted(millis: Column, pieces: Sequence[Piece]) -> Column:
    """The text of a moment; null for null."""
    moment = _Moment.of(millis)
    parts = [
        F.lit(piece.text)
        if isinstance(piece, Fixed)
        else _WRITERS[piece.letter](moment, piece.count)
        for piece in pieces
    ]
    return F.when(millis.isNotNull(), F.concat(F.lit(""), *parts))


@dataclass(frozen=True, slots=True)
class _Moment:
    days: Column
    of_day: Column
    date: CivilDate

    @classmethod
    def of(cls, millis: Column) -> _Moment:
        days = day_of(millis)
        return cls(days, F.pmod(millis, F.lit(MILLIS_OF_DAY)), civil_date(days))

    @property
    def hour(self) -> Column:
        return truncated_div(self.of_day, _HOUR)

    @property
    def is_ad(self) -> Column:
        return self.date.year > 0


_Writer = Callable[[_Moment, int], "Column"]


def _number(value: Callable[[_Moment], Column]) -> _Writer:
    def write(moment: _Moment, count: int) -> Column:
        return _padded(value(moment), count)

    return write


def _padded(number: Column, count: int) -> Column:
    text = number.cast("string")
    if count == 1:
        return text
    return F.lpad(text, F.greatest(F.length(text), F.lit(count)), F.lit("0"))


def _year(moment: _Moment, count: int) -> Column:
    of_era = F.when(moment.is_ad, moment.date.year).otherwise(1 - moment.date.year)
    return _padded(of_era % 100 if count == _SHORT_YEAR else of_era, count)


def _month(moment: _Moment, count: int) -> Column:
    if count < SHORT_NAME:
        return _padded(moment.date.month, count)
    return _named(MONTHS, moment.date.month, count)


def _week_day(moment: _Moment, count: int) -> Column:
    return _named(WEEK_DAYS, week_day(moment.days) + 1, count)


def _named(names: Sequence[str], place: Column, count: int) -> Column:
    shown = names if count >= _LONG_NAMES else [name[:SHORT_NAME] for name in names]
    return F.get(F.array(*map(F.lit, shown)), place.cast("int") - 1)


def _era(moment: _Moment, count: int) -> Column:  # noqa: ARG001 - one of _WRITERS
    (bc, _), (ad, _) = ERAS
    return F.when(moment.is_ad, F.lit(ad)).otherwise(F.lit(bc))


def _half_day(moment: _Moment, count: int) -> Column:  # noqa: ARG001 - one of _WRITERS
    return F.when(moment.hour < 12, F.lit("AM")).otherwise(F.lit("PM"))


def _zone_name(moment: _Moment, count: int) -> Column:  # noqa: ARG001 - one of _WRITERS
    return F.lit("Coordinated Universal Time" if count >= _LONG_NAMES else "UTC")


def _twelve_if_zero(hour: Column) -> Column:
    return F.pmod(hour + 11, F.lit(12)) + 1


_WRITERS: Final[Mapping[str, _Writer]] = {
    "G": _era,
    "y": _year,
    "M": _month,
    "L": _month,
    "E": _week_day,
    "a": _half_day,
    "z": _zone_name,
    "Z": lambda moment, count: F.lit("+0000"),  # noqa: ARG005 - one of _WRITERS
    "X": lambda moment, count: F.lit("Z"),  # noqa: ARG005 - one of _WRITERS
    "d": _number(lambda moment: moment.date.day),
    "D": _number(lambda moment: moment.date.day_of_year),
    "u": _number(lambda moment: week_day(moment.days) + 1),
    "H": _number(lambda moment: moment.hour),
    "k": _number(lambda moment: F.pmod(moment.hour + 23, F.lit(24)) + 1),
    "K": _number(lambda moment: moment.hour % 12),
    "h": _number(lambda moment: _twelve_if_zero(moment.hour)),
    "m": _number(lambda moment: truncated_div(moment.of_day, _MINUTE) % 60),
    "s": _number(lambda moment: truncated_div(moment.of_day, 1000) % 60),
    "S": _number(lambda moment: moment.of_day % 1000),
}
