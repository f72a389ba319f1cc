"""Parses times and durations, in the formats of Kafka's own tools and some more."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from penstock.kernel.errors import ConfigError

_NUMBER: Final = r"([+-]?\d+(?:\.\d+)?)"
#: Java's Duration.parse: days, hours, minutes and seconds, a sign in front of all or of each.
_ISO: Final = re.compile(
    r"(?P<sign>[+-]?)P(?:(?P<days>[+-]?\d+)D)?"
    r"(?:T(?=[\d+-])(?:(?P<hours>[+-]?\d+)H)?(?:(?P<minutes>[+-]?\d+)M)?"
    rf"(?:(?P<seconds>{_NUMBER[1:-1]})S)?)?",
    re.IGNORECASE,
)
_SHORT: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)")
_UNITS_MS: Final = {
    "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000,
}  # fmt: skip
_PARTS_MS: Final = {"days": 86_400_000, "hours": 3_600_000, "minutes": 60_000, "seconds": 1000}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_ZONE_OF_HOURS: Final = re.compile(r"[+-]\d\d$")


def duration_ms(text: str) -> int:
    """A duration in milliseconds: `P1DT2H`, or short, `90s`, `2h`, `1d12h`.

    Raises:
        ConfigError: it is neither.
    """
    if (found := _ISO.fullmatch(text.strip())) and any(found.group(part) for part in _PARTS_MS):
        total = sum(float(found.group(part) or 0) * factor for part, factor in _PARTS_MS.items())
        return round(-total if found.group("sign") == "-" else total)
    pieces = _SHORT.findall(text.strip())
    if pieces and "".join(number + unit for number, unit in pieces) == text.strip():
        return round(sum(float(number) * _UNITS_MS[unit] for number, unit in pieces))
    raise ConfigError(
        f"{text!r} is not a duration; write it as PnDTnHnMnS (P1DT12H) or short (90s, 2h, 1d12h)"
    )


def moment_ms(text: str) -> int:
    """A time in milliseconds since 1970, from that number or from ISO 8601 (default zone: UTC).

    Raises:
        ConfigError: it is neither.
    """
    plain = text.strip()
    if re.fullmatch(r"\d{9,}", plain):
        return int(plain)
    try:
        # A date alone has hyphens too, but no T.
        if "T" in plain and _ZONE_OF_HOURS.search(plain):
            plain += ":00"
        found = datetime.fromisoformat(plain)
    except ValueError as error:
        raise ConfigError(
            f"{text!r} is not a time; write it as YYYY-MM-DDTHH:mm:SS.sss (UTC, or with a zone"
            " such as Z or +02:00), or in milliseconds since 1970"
        ) from error
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    # Rounding up would skip records of the same millisecond.
    return (found - _EPOCH) // _MILLISECOND


def shown_moment(millis: int | None) -> str:
    """A readable time; empty for a record without one."""
    if millis is None or millis < 0:
        return ""
    try:
        moment = datetime.fromtimestamp(millis / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return str(millis)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{millis % 1000:03d}Z"
