"""Connect's Date, Time, Timestamp and Decimal as the messages that stand for them in Protobuf.

Numbers of whole columns: the fields of the messages in, the integers in flight out, and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

Numbers = np.ndarray
Fields = Sequence[Numbers]

_DAY_MILLIS: Final = 86_400_000
_NANOS: Final = 1_000_000
#: The first and the last second that google.protobuf.Timestamp has.
_FIRST, _LAST = -62_135_596_800, 253_402_300_799
_FIRST_YEAR, _LAST_YEAR = 1, 9999

DATE_FIELDS: Final = ("year", "month", "day")
TIME_FIELDS: Final = ("hours", "minutes", "seconds", "nanos")
TIMESTAMP_FIELDS: Final = ("seconds", "nanos")


def days_of(fields: Fields) -> tuple[Numbers, Numbers]:
    """The days since 1970 of dates, and which of the dates there are."""
    year, month, day = fields
    good = (year >= _FIRST_YEAR) & (year <= _LAST_YEAR) & (month >= 1) & (month <= 12) & (day >= 1)
    months = np.where(good, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + np.where(good, day - 1, 0)
    good &= days.astype("datetime64[M]") == months  # a day too many is one of the next month
    return days.astype("int64").astype("int32"), good


def dates_of(days: Numbers) -> tuple[Fields, Numbers]:
    """The year, month and day of days since 1970, and which of them Protobuf has."""
    dates = days.astype("int64").astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    number = months.astype("int64")
    year = number // 12 + 1970
    good = (year >= _FIRST_YEAR) & (year <= _LAST_YEAR)
    day = (dates - months).astype("int64") + 1
    return (year, number % 12 + 1, day), good


def millis_of_day(fields: Fields) -> tuple[Numbers, Numbers]:
    hours, minutes, seconds, nanos = fields
    good = (hours >= 0) & (hours < 24) & (minutes >= 0) & (minutes < 60)
    good &= (seconds >= 0) & (seconds < 60) & (nanos >= 0) & (nanos < 1_000_000_000)
    millis = ((hours * 60 + minutes) * 60 + seconds) * 1000 + nanos // _NANOS
    return np.where(good, millis, 0).astype("int32"), good


def times_of(millis: Numbers) -> tuple[Fields, Numbers]:
    millis = millis.astype("int64")
    good = (millis >= 0) & (millis <= _DAY_MILLIS)
    seconds = millis // 1000 % 86_400
    fields = (seconds // 3600, seconds // 60 % 60, seconds % 60, millis % 1000 * _NANOS)
    return fields, good


def millis_since_1970(fields: Fields) -> tuple[Numbers, Numbers]:
    seconds, nanos = fields
    good = (seconds >= _FIRST) & (seconds <= _LAST) & (nanos >= 0) & (nanos < 1_000_000_000)
    return np.where(good, seconds, 0) * 1000 + nanos // _NANOS, good


def timestamps_of(millis: Numbers) -> tuple[Fields, Numbers]:
    seconds = millis // 1000
    return (seconds, millis % 1000 * _NANOS), (seconds >= _FIRST) & (seconds <= _LAST)
