"""Settings that are patterns of Java's SimpleDateFormat."""

from __future__ import annotations

from typing import Final

from penstock.kernel.config import invalid
from penstock.kernel.java.date_patterns import REFUSED_LETTERS, PatternError, refused_letter

_REFUSED: Final = f"{', '.join(REFUSED_LETTERS[:-1])} and {REFUSED_LETTERS[-1]}"
#: For the doc text of such a key.
PATTERN_DOC: Final = (
    "A pattern of Java's SimpleDateFormat, in UTC and with English names. Refused are the letters"
    f" {_REFUSED}, because the weeks they count depend on the country."
)


def java_pattern_error(pattern: str) -> str | None:
    """Java's error for the pattern; None if it is valid."""
    try:
        refused_letter(pattern)
    except PatternError as error:
        return str(error)
    return None


def check_letters(name: str, pattern: str) -> None:
    """Reject a pattern that Java supports and Penstock does not.

    Raises:
        ConfigError: the text names the letter.
    """
    letter = refused_letter(pattern)
    if letter is not None:
        words = f"The letter {letter} is not supported in patterns; refused are {_REFUSED}"
        raise invalid(name, pattern, words)
