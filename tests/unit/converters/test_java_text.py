"""How Java writes numbers and dates, from values whose text is known."""

from __future__ import annotations

from decimal import Decimal

import pytest

from penstock.kernel.java.numbers import double_text, float_text, to_float32
from penstock.kernel.java.to_string import civil_date, date_text, decimal_text, epoch_day


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (100.0, "100.0"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (0.001, "0.001"),
        (9.99e-4, "9.99E-4"),
        (123456789.125, "1.23456789125E8"),
        (5e-324, "4.9E-324"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_doubles(value: float, text: str) -> None:
    assert double_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.1"), (3.4028234663852886e38, "3.4028235E38"), (16777216.0, "1.6777216E7")],
)
def test_floats(value: float, text: str) -> None:
    assert float_text(to_float32(value)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0", "0"),
        ("-1.50", "-1.50"),
        ("0.000001", "0.000001"),
        ("0.0000001", "1E-7"),
        ("1.00E-8", "1.00E-8"),
        ("0E-10", "0E-10"),
        ("1E+3", "1E+3"),
        ("-12E+3", "-1.2E+4"),
    ],
)
def test_decimals(value: str, text: str) -> None:
    assert decimal_text(Decimal(value)) == text


def test_dates_and_the_change_of_calendar() -> None:
    assert date_text(0) == "Thu Jan 01 00:00:00 UTC 1970"
    assert date_text(1_566_570_894_346) == "Fri Aug 23 14:34:54 UTC 2019"
    assert civil_date(-141_427) == (1582, 10, 15)
    assert civil_date(-141_428) == (1582, 10, 4)


def test_days_and_dates_are_inverse() -> None:
    days = range(-800_000, 800_000, 9_973)

    assert [epoch_day(*civil_date(day)) for day in days] == list(days)
