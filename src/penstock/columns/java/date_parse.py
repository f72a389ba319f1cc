"""Parses as SimpleDateFormat, in UTC and with English names, as columns.

As lenient as Java's: text after the match is left alone, months and days beyond their end count
on. Names of zones other than UTC and GMT are not read, nor are days that only a week tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from penstock.columns.java.calendar import day_of, epoch_day, millis_of, truncated_div
from penstock.columns.java.casts import int_value
from penstock.columns.let import let
from penstock.kernel.java.date_patterns import (
    ERAS,
    MONTHS,
    SHORT_NAME,
    WEEK_DAYS,
    Fixed,
    Letters,
    Piece,
)
from penstock.kernel.java.to_string import MILLIS_OF_DAY

if TYPE_CHECKING:
    from pyspark.sql import Column

_SHORT_YEAR: Final = 2
_MINUTE: Final = 60_000
_NUMBERS: Final = frozenset("ydDuHkKhmsS")
_HOURS: Final = "(?:2[0-3]|[01][0-9])"
_MINUTES: Final = "[0-5][0-9]"
_ISO_ZONES: Final = (f"{_HOURS}", f"{_HOURS}{_MINUTES}", f"{_HOURS}:{_MINUTES}")
_ZONE: Final = (
    rf"(?i:GMT)(?:(?![+-])|[+-](?:2[0-3]|[01]?[0-9]):{_MINUTES})"
    rf"|(?i:UTC|Coordinated Universal Time)|[+-]{_HOURS}{_MINUTES}"
)


def matches(text: Column, pieces: Sequence[Piece]) -> Column:
    """Whether a text is of this form; null for null."""
    if _needs_weeks(_fields(pieces)):
        return F.when(text.isNotNull(), F.lit(False))
    return text.rlike(_expression(pieces))


def parsed(text: Column, pieces: Sequence[Piece]) -> Column:
    """The moment in a text, in milliseconds since 1970; null if the text is not of this form."""
    fields = _fields(pieces)
    # One match for all fields: their texts never have the bar that is put between them.
    marks = "|".join(f"${number}" for number in range(1, len(fields) + 1))
    texts = F.split(F.regexp_replace(text, _expression(pieces) + r"[\s\S]*", marks), r"\|")
    numbers = let(texts, lambda found: _numbers(found, fields))
    moment = let(numbers, lambda found: _millis(_calendar(found, fields)))
    return F.when(matches(text, pieces), moment)


def _fields(pieces: Sequence[Piece]) -> list[Letters]:
    return [piece for piece in pieces if isinstance(piece, Letters)]


def _numbers(texts: Column, fields: Sequence[Letters]) -> Column:
    """A number for each field and, last, whether the year is one of two digits."""
    found = [F.get(texts, F.lit(place)) for place in range(len(fields))]
    short_years = [
        F.trim(text).rlike(r"\A\p{Nd}{2}\z")
        for text, piece in zip(found, fields, strict=True)
        if piece.letter == "y" and piece.count <= _SHORT_YEAR
    ]
    numbers = [_read(text, piece) for text, piece in zip(found, fields, strict=True)]
    return F.array(*numbers, *[short.cast("bigint") for short in short_years[-1:]])


def _calendar(numbers: Column, fields: Sequence[Letters]) -> dict[str, Column]:
    """The numbers by their meaning, in the order they are set; the last one counts."""
    calendar: dict[str, Column] = {}
    for place, piece in enumerate(fields):
        name = _CALENDAR_FIELDS[piece.letter]
        calendar.pop(name, None)
        calendar[name] = F.get(numbers, F.lit(place))
    if any(piece.letter == "y" and piece.count <= _SHORT_YEAR for piece in fields):
        calendar["short year"] = F.get(numbers, F.lit(len(fields)))
    return calendar


def _needs_weeks(fields: Sequence[Letters]) -> bool:
    letters = {piece.letter for piece in fields}
    return bool(letters & set("Eu")) and not letters & set("dD")


_CALENDAR_FIELDS: Final = {
    "G": "era",
    "y": "year",
    "M": "month",
    "L": "month",
    "d": "day",
    "D": "day of year",
    "E": "week day",
    "u": "week day",
    "a": "half",
    "H": "hour",
    "k": "hour",
    "K": "hour of half",
    "h": "hour of half",
    "m": "minute",
    "s": "second",
    "S": "milli",
    "z": "zone",
    "Z": "zone",
    "X": "zone",
}


def _expression(pieces: Sequence[Piece]) -> str:
    """A regular expression with a group for each field; none of it ever looks back."""
    parts = []
    for place, piece in enumerate(pieces):
        if isinstance(piece, Fixed):
            parts.append(re.escape(piece.text))
        else:
            following = pieces[place + 1] if place + 1 < len(pieces) else None
            parts.append(_field_expression(piece, abutting=_is_number(following)))
    return rf"\A{''.join(parts)}"


def _is_number(piece: Piece | None) -> bool:
    if not isinstance(piece, Letters):
        return False
    if piece.letter in "ML":
        return piece.count < SHORT_NAME
    return piece.letter in _NUMBERS


def _field_expression(piece: Letters, *, abutting: bool) -> str:
    if _is_number(piece):
        return _window(piece.count) if abutting else r"[ \t]*+(-?\p{Nd}++)"
    if names := _NAMES.get(piece.letter):
        return f"((?>(?i:{'|'.join(names)})))"
    zone = f"Z|[+-]{_ISO_ZONES[piece.count - 1]}" if piece.letter == "X" else _ZONE
    return rf"[ \t]*+((?>{zone}))"


def _both_forms(names: Iterable[str]) -> tuple[str, ...]:
    """Long ones first, since the first that fits is taken."""
    return tuple(form for name in names for form in (name, name[:SHORT_NAME]))


_NAMES: Final = {
    "M": _both_forms(MONTHS),
    "L": _both_forms(MONTHS),
    "E": _both_forms(WEEK_DAYS),
    "G": tuple(name for names in ERAS for name in names),
    "a": ("AM", "PM"),
}


def _window(count: int) -> str:
    """A number that ends before the next one begins: space, sign and digits share the places."""
    choices = []
    for spaces in range(count):
        left = count - spaces
        signed = rf"|-\p{{Nd}}{{1,{left - 1}}}" if left > 1 else ""
        choices.append(rf"[ \t]{{{spaces}}}(?:\p{{Nd}}{{1,{left}}}{signed})")
    return rf"(?=[\s\S]{{{count}}})((?>{'|'.join(choices)}))"


def _read(text: Column, piece: Letters) -> Column:
    """The text of a field as a bigint."""
    if _is_number(piece):
        return _number_of(text, piece.letter)
    match piece.letter:
        case "M" | "L":
            return _place(text, MONTHS)
        case "E":
            return _place(text, WEEK_DAYS)
        case "G":
            return F.lower(text).startswith("a").cast("bigint")
        case "a":
            return (F.lower(text) == "pm").cast("bigint")
    return _zone_millis(text)


def _number_of(text: Column, letter: str) -> Column:
    number = int_value(F.trim(text)).cast("bigint")
    full_round = {"k": 24, "h": 12}.get(letter)
    if full_round is None:
        return number
    return F.when(number == full_round, F.lit(0)).otherwise(number)


def _place(text: Column, names: Sequence[str]) -> Column:
    short = F.array(*[F.lit(name[:SHORT_NAME].lower()) for name in names])
    return F.array_position(short, F.lower(F.substring(text, 1, SHORT_NAME)))


def _zone_millis(text: Column) -> Column:
    digits = F.regexp_replace(text, "[^0-9+-]", "")
    # Hours alone are those of the pattern X.
    full = F.when(F.length(digits) == 3, F.concat(digits, F.lit("00"))).otherwise(digits)
    number = full.try_cast("bigint")
    offset = (truncated_div(number, 100) * 60 + number % 100) * _MINUTE
    return F.when(digits == "", F.lit(0).cast("bigint")).otherwise(offset)


def _millis(calendar: Mapping[str, Column]) -> Column:
    year = calendar.get("year", F.lit(1970))
    if "short year" not in calendar:
        return _moment(calendar, year)
    # Two digits mean a year of the hundred that began 80 years ago, to the very moment.
    start = F.current_timestamp() - F.expr("INTERVAL 80 YEARS")
    first_year = F.year(start).cast("bigint")
    century = first_year - first_year % 100
    later = F.when(year < first_year % 100, F.lit(100)).otherwise(F.lit(0))
    is_short = calendar["short year"] == 1
    full_year = F.when(is_short, year + century + later).otherwise(year)
    moment = _moment(calendar, full_year)
    too_early = is_short & (full_year == first_year) & (moment < F.unix_millis(start))
    return F.when(too_early, _moment(calendar, full_year + 100)).otherwise(moment)


def _moment(calendar: Mapping[str, Column], year: Column) -> Column:
    def value(name: str, default: int = 0) -> Column:
        return calendar.get(name, F.lit(default).cast("bigint"))

    if "era" in calendar:
        year = F.when(calendar["era"] == 1, year).otherwise(1 - year)
    time = (
        (_hour(calendar) * 60 + value("minute")) * _MINUTE + value("second") * 1000 + value("milli")
    )
    # Hours beyond the day count before it is decided which calendar the day belongs to.
    further_days = day_of(time)
    order = list(calendar)
    if "day of year" in order and order.index("day of year") > _last(order, "day"):
        days = epoch_day(year, F.lit(1), value("day of year") + further_days)
    else:
        days = epoch_day(year, value("month", 1), value("day", 1) + further_days)
    return millis_of(days, F.pmod(time, F.lit(MILLIS_OF_DAY)) - value("zone"))


def _hour(calendar: Mapping[str, Column]) -> Column:
    """The hour of the day that was set last; half days count only together with their hour."""
    order = list(calendar)
    halves = {"half", "hour of half"} & calendar.keys()
    latest_half = max((order.index(name) for name in halves), default=-1)
    if "hour" in calendar and (len(halves) < 2 or latest_half < order.index("hour")):
        return calendar["hour"]
    none = F.lit(0).cast("bigint")
    return calendar.get("hour of half", none) + calendar.get("half", none) * 12


def _last(order: Sequence[str], name: str) -> int:
    return order.index(name) if name in order else -1
