"""Java regular expressions on topic names, matched against whole names as Kafka does."""

from __future__ import annotations

import re
from typing import Final

from penstock.kernel.config.values import invalid
from penstock.kernel.java.runaway_regex import runaway_error

# POSIX classes of Java; topic names are ASCII.
_CLASSES: Final = {
    "Alpha": "a-zA-Z", "Digit": "0-9", "Alnum": "a-zA-Z0-9", "Upper": "A-Z", "Lower": "a-z",
    "L": "a-zA-Z", "Lu": "A-Z", "Ll": "a-z", "N": "0-9", "Nd": "0-9",
    "Punct": r"!-/:-@\[-`{-~", "ASCII": r"\x00-\x7f", "XDigit": "0-9a-fA-F",
}  # fmt: skip
_PIECE: Final = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|$)"
    r"|\\(?P<not>[pP])(?:\{(?:Is)?(?P<long>\w+)\}|(?P<short>[LN]))"
    r"|(?P<set>\[\^?\]?)|(?P<close>\])"
    r"|\\(?P<end>[zZ])"
    r"|\(\?<(?P<name>[a-zA-Z]\w*)>"
    r"|\\k<(?P<again>\w+)>"
    r"|(?P<other>\\?.)",
    re.DOTALL,
)


def java_pattern(text: str, key: str) -> re.Pattern[str]:
    """Compile for `fullmatch`; `key` names the property in the error."""
    if "&&" in text:
        raise invalid(key, text, "intersections of classes (&&) are not supported")
    if wrong := runaway_error(text):
        raise invalid(key, text, f"matching it might never end: {wrong}")
    try:
        return re.compile(_translated(text, key), re.ASCII)
    except re.error as error:
        raise invalid(key, text, f"not a regular expression: {error}") from error


def _translated(text: str, key: str) -> str:
    pieces = []
    inside = False
    for match in _PIECE.finditer(text):
        kind = match.lastgroup
        if kind in ("set", "close") and (kind == "close") == inside:
            inside = kind == "set"
            pieces.append(match.group())
        else:
            pieces.append(_piece(match, text, key, inside=inside))
    return "".join(pieces)


def _piece(match: re.Match[str], text: str, key: str, *, inside: bool) -> str:
    if match.group("quoted") is not None:
        return re.escape(match.group("quoted"))
    if match.group("not"):
        return _class(match, text, key, inside=inside)
    if match.group("name"):
        return f"(?P<{match.group('name')}>"
    if match.group("again"):
        return f"(?P={match.group('again')})"
    return r"\Z" if match.group("end") else match.group()


def _class(match: re.Match[str], text: str, key: str, *, inside: bool) -> str:
    name = match.group("long") or match.group("short")
    negated = match.group("not") == "P"
    if name not in _CLASSES or (negated and inside):
        raise invalid(key, text, f"the class {match.group()} is not supported")
    if inside:
        return _CLASSES[name]
    return f"[{'^' if negated else ''}{_CLASSES[name]}]"
