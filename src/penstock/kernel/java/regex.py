"""Checks regular expressions in Java's syntax without a JVM.

Users write Java's expressions and Spark evaluates them; the worker must refuse a broken one
before Spark has started. This checks the structure (groups, classes, repetitions, escapes), where
most mistakes are, and accepts everything else. The error texts are Java's.
"""

from __future__ import annotations

import re
from typing import Final

_NULL: Final = 'Cannot invoke "String.isEmpty()" because "this.pattern" is null'
_REPETITION: Final = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")
_BRACED: Final = re.compile(r"\\(?:[pPxN]\{[^}]*\}|k<\w+>)")
_NAMED: Final = re.compile(r"\(\?<([a-zA-Z][a-zA-Z0-9]*)?(>)?")


class _Broken(Exception):  # noqa: N818 - it carries a finding, and never leaves this module
    def __init__(self, text: str, at: int) -> None:
        super().__init__(text)
        self.at = at


def regex_error(pattern: str | None) -> str | None:
    """Java's error for an expression; None if it seems to be valid."""
    if pattern is None:
        return _NULL
    try:
        _Scan(pattern).run()
    except _Broken as error:
        return _described(str(error), error.at, pattern)
    return None


def _described(text: str, at: int, pattern: str) -> str:
    where = f" near index {at}" if at >= 0 else ""
    pointer = "\n" + " " * at + "^" if 0 <= at < len(pattern) else ""
    return f"{text}{where}\n{pattern}{pointer}"


class _Scan:
    """One pass over the expression with a count of open groups."""

    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.at = 0
        self.open = 0
        self.repeatable = False

    def run(self) -> None:
        while self.at < len(self.text):
            self._step(self.text[self.at])
        if self.open:
            raise _Broken("Unclosed group", len(self.text))

    def _step(self, char: str) -> None:
        match char:
            case "\\":
                self._escape()
            case "[":
                self._class()
            case "(":
                self._group()
            case ")":
                self._close()
            case "*" | "+" | "?":
                self._quantifier(char)
            case "{":
                self._repetition()
            case _:
                self.at += 1
                self.repeatable = char != "|"

    def _escape(self) -> None:
        if self.at + 1 >= len(self.text):
            raise _Broken("Unexpected internal error", len(self.text))
        if self.text.startswith("\\Q", self.at):
            end = self.text.find("\\E", self.at + 2)
            self.at = len(self.text) if end < 0 else end + 2
        else:
            self.at = self._past_escape(self.at)
        self.repeatable = True

    def _past_escape(self, at: int) -> int:
        braced = _BRACED.match(self.text, at)
        return braced.end() if braced else at + 2

    def _class(self) -> None:
        depth, first = 0, True
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\\":
                self.at = self._past_escape(self.at) - 1
            elif char == "[":
                depth += 1
                self.at += self.text.startswith("[^", self.at)
                first = True
                self.at += 1
                continue
            elif char == "]" and not first:
                depth -= 1
            first = False
            self.at += 1
            if depth == 0:
                self.repeatable = True
                return
        raise _Broken("Unclosed character class", len(self.text) - 1)

    def _group(self) -> None:
        self.open += 1
        named = _NAMED.match(self.text, self.at)
        lookbehind = self.text.startswith(("(?<=", "(?<!"), self.at)
        if named and not lookbehind:
            self._named(named)
        elif self.text.startswith("(?", self.at):
            self._flags()
        else:
            self.at += 1
        self.repeatable = False

    def _named(self, named: re.Match[str]) -> None:
        if not named[1]:
            raise _Broken("capturing group name does not start with a Latin letter", named.end())
        if not named[2]:
            raise _Broken("named capturing group is missing trailing '>'", named.end())
        self.at = named.end()

    def _flags(self) -> None:
        rest = re.compile(r"\(\?(?:[:=!>]|<[=!]|[idmsuxU]*(?:-[idmsuxU]*)?(:|\)))").match(
            self.text, self.at
        )
        if rest is None:
            raise _Broken("Unknown inline modifier", self.at + 2)
        if rest[1] == ")":
            self.open -= 1
        self.at = rest.end()

    def _close(self) -> None:
        if not self.open:
            raise _Broken("Unmatched closing ')'", self.at - 1)
        self.open -= 1
        self.at += 1
        self.repeatable = True

    def _quantifier(self, char: str) -> None:
        if not self.repeatable:
            raise _Broken(f"Dangling meta character '{char}'", self.at)
        self.at += 1
        self._lazy_or_possessive()

    def _repetition(self) -> None:
        found = _REPETITION.match(self.text, self.at)
        if found is None:
            counted = re.compile(r"\{\d+(,\d*)?").match(self.text, self.at)
            if counted:
                raise _Broken("Unclosed counted closure", counted.end())
            raise _Broken("Illegal repetition", self.at + 1)
        if found[3] and int(found[3]) < int(found[1]):
            raise _Broken("Illegal repetition range", found.end() - 1)
        self.at = found.end()
        self._lazy_or_possessive()

    def _lazy_or_possessive(self) -> None:
        if self.text[self.at : self.at + 1] in ("?", "+"):
            self.at += 1
        self.repeatable = False
