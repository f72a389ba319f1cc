"""Versions of plugins: which of them a requirement like `[4.0,5.0)` allows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from penstock.kernel.errors import BadRequestError

LATEST: Final = "latest"
_PARTS: Final = re.compile(r"\d+|[a-zA-Z]+")


@dataclass(frozen=True, slots=True)
class VersionRange:
    """An interval of versions; an empty bound is open."""

    text: str
    low: str
    high: str
    with_low: bool
    with_high: bool

    def allows(self, version: str) -> bool:
        return self._above(version) and self._below(version)

    def _above(self, version: str) -> bool:
        if not self.low:
            return not self.with_low
        order = _compared(version, self.low)
        return order > 0 or (order == 0 and self.with_low)

    def _below(self, version: str) -> bool:
        if not self.high:
            return not self.with_high
        order = _compared(version, self.high)
        return order < 0 or (order == 0 and self.with_high)


def version_range(text: str | None) -> VersionRange | None:
    """Read a requirement: a version alone is that version, None and `latest` allow all.

    Raises:
        BadRequestError: the interval has no end.
    """
    if text is None or text.strip().lower() == LATEST:
        return None
    spec = text.strip()
    if not spec.startswith(("[", "(")):
        return VersionRange(f"[{spec},{spec}]", spec, spec, with_low=True, with_high=True)
    if not spec.endswith(("]", ")")):
        raise BadRequestError(f"Unbounded range: {text}")
    low, comma, high = spec[1:-1].partition(",")
    high = high if comma else low
    return VersionRange(
        spec if comma else f"[{low},{low}]",
        low.strip(),
        high.strip(),
        with_low=spec[0] == "[",
        with_high=spec[-1] == "]",
    )


def mismatch(name: str, requirement: str | None, available: Sequence[str]) -> str | None:
    """The error if no available version fits the required one; else None.

    Raises:
        BadRequestError: the requirement can't be read.
    """
    wanted = version_range(requirement)
    if wanted is None or any(wanted.allows(version) for version in available):
        return None
    known = ", ".join(available)
    return (
        f"Plugin {name} not found that matches the version range {wanted.text}, "
        f"available versions: [{known}]"
    )


def _compared(one: str, other: str) -> int:
    left, right = _ordinal(one), _ordinal(other)
    size = max(len(left), len(right))
    # 4.1 and 4.1.0 are the same version; a word such as "rc" comes before any number.
    left += ((1, 0, ""),) * (size - len(left))
    right += ((1, 0, ""),) * (size - len(right))
    return (left > right) - (left < right)


def _ordinal(version: str) -> tuple[tuple[int, int, str], ...]:
    return tuple(
        # The longer number is the larger one; Python refuses to read very long ones.
        (1, len(part.lstrip("0")), part.lstrip("0")) if part.isdigit() else (0, 0, part.lower())
        for part in _PARTS.findall(version)
    )
