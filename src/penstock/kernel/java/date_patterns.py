"""Parses the patterns of Java's SimpleDateFormat."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

#: Letters that Java supports and Penstock does not: they depend on the locale's weeks.
REFUSED_LETTERS: Final = "YwWF"
SUPPORTED_LETTERS: Final = "GyMLdDEuaHkKhmsSzZX"

#: Java's English names; the first three letters of each are its short form.
MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
WEEK_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SHORT_NAME: Final = 3
#: Short and long.
ERAS: Final = (("BC", "Before Christ"), ("AD", "Anno Domini"))

_LONGEST_ISO_ZONE: Final = 3
_PIECE: Final = re.compile(
    r"''|'(?P<quoted>(?:[^']|'')+)'|(?P<letter>[A-Za-z])(?P=letter)*|[^A-Za-z']+"
)


class PatternError(ValueError):
    """Java's SimpleDateFormat refuses the pattern; the text is that of its exception."""


@dataclass(frozen=True, slots=True)
class Letters:
    """A letter and how often it is repeated."""

    letter: str
    count: int


@dataclass(frozen=True, slots=True)
class Fixed:
    """Literal text."""

    text: str


Piece = Letters | Fixed


def pieces_of(pattern: str) -> tuple[Piece, ...]:
    """The pattern's letters and texts in order.

    Raises:
        PatternError: Java refuses it too.
    """
    found: list[Piece] = []
    at = 0
    while at < len(pattern):
        match = _PIECE.match(pattern, at)
        if match is None:
            raise PatternError("Unterminated quote")
        found.append(_piece(match))
        at = match.end()
    return tuple(found)


def refused_letter(pattern: str) -> str | None:
    """The first letter of the pattern that Java supports and Penstock does not."""
    for piece in pieces_of(pattern):
        if isinstance(piece, Letters) and piece.letter in REFUSED_LETTERS:
            return piece.letter
    return None


def _piece(match: re.Match[str]) -> Piece:
    letter = match["letter"]
    if letter is None:
        text = match["quoted"] or match[0]
        return Fixed(text.replace("''", "'"))
    if letter not in SUPPORTED_LETTERS + REFUSED_LETTERS:
        raise PatternError(f"Illegal pattern character '{letter}'")
    if letter == "X" and len(match[0]) > _LONGEST_ISO_ZONE:
        raise PatternError(f"invalid ISO 8601 format: length={len(match[0])}")
    return Letters(letter, len(match[0]))
