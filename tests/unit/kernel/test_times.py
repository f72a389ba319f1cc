from __future__ import annotations

import pytest

from penstock.kernel.errors import ConfigError
from penstock.kernel.times import duration_ms, moment_ms, shown_moment


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("P1D", 86_400_000),
        ("P1DT2H3M4.5S", 93_784_500),
        ("PT0S", 0),
        ("-PT1H", -3_600_000),
        ("PT-1H30M", -1_800_000),
        ("pt90s", 90_000),
        ("P7DT0H0M0S", 604_800_000),
        ("90s", 90_000),
        ("2h", 7_200_000),
        ("1d12h", 129_600_000),
        ("1.5h", 5_400_000),
        ("250ms", 250),
    ],
)
def test_durations(text: str, millis: int) -> None:
    assert duration_ms(text) == millis


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "P1Y", "2", "2 hours", "h", "1h x", "P1H"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="not a duration"):
        duration_ms(text)


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("2023-11-14T22:13:20.000", 1_700_000_000_000),
        ("2023-11-14T22:13:20.123Z", 1_700_000_000_123),
        ("2023-11-14T22:13:20.123999Z", 1_700_000_000_123),
        ("1969-12-31T23:59:59.999Z", -1),
        ("2023-11-15T00:13:20.000+02:00", 1_700_000_000_000),
        ("2023-11-15T00:13:20.000+0200", 1_700_000_000_000),
        ("2023-11-15T00:13:20.000+02", 1_700_000_000_000),
        ("2023-11-14T22:13:20", 1_700_000_000_000),
        ("2023-11-14", 1_699_920_000_000),
        ("1700000000000", 1_700_000_000_000),
    ],
)
def test_moments(text: str, millis: int) -> None:
    assert moment_ms(text) == millis


@pytest.mark.parametrize("text", ["", "yesterday", "2023-13-01", "2023-11-14T25:00:00", "12"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="not a time"):
        moment_ms(text)


def test_moments_are_shown_in_utc() -> None:
    assert shown_moment(1_700_000_000_005) == "2023-11-14T22:13:20.005Z"
    assert shown_moment(-1) == ""
    assert shown_moment(None) == ""
    assert shown_moment(10**18) == str(10**18)
