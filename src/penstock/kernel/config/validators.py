"""Rules for the value of one key. Calling a rule raises ConfigError; `str()` describes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from penstock.kernel.config.values import invalid, java_text
from penstock.kernel.java.regex import regex_error
from penstock.kernel.java.runaway_regex import runaway_error


class Validator(Protocol):
    """Checks a parsed value; raises ConfigError in Kafka's words if it does not fit."""

    def __call__(self, name: str, value: object) -> None: ...


@dataclass(frozen=True, slots=True)
class Range:
    """A number between two bounds, either of which may be open."""

    low: float | None = None
    high: float | None = None

    def __call__(self, name: str, value: object) -> None:
        if not isinstance(value, int | float):
            raise invalid(name, value, "Value must be non-null")
        if self.low is not None and value < self.low:
            raise invalid(name, value, f"Value must be at least {java_text(self.low)}")
        if self.high is not None and value > self.high:
            raise invalid(name, value, f"Value must be no more than {java_text(self.high)}")

    def __str__(self) -> str:
        bounds = (self.low, ..., self.high)
        shown = (
            "..." if bound is ... else java_text(bound) for bound in bounds if bound is not None
        )
        return f"[{','.join(shown)}]"


@dataclass(frozen=True, slots=True)
class OneOf:
    """A text from a fixed set; None is allowed only if it is listed."""

    allowed: tuple[str | None, ...]

    def __call__(self, name: str, value: object) -> None:
        if value not in self.allowed:
            raise invalid(name, value, f"String must be one of: {_joined(self.allowed)}")

    def __str__(self) -> str:
        return f"[{_joined(self.allowed)}]"


@dataclass(frozen=True, slots=True)
class OneOfIgnoringCase:
    """A text from a fixed set, in any mix of cases."""

    allowed: tuple[str, ...]

    def __call__(self, name: str, value: object) -> None:
        if not isinstance(value, str) or value.upper() not in self.allowed:
            words = _joined(self.allowed)
            raise invalid(name, value, f"String must be one of (case insensitive): {words}")

    def __str__(self) -> str:
        return f"(case insensitive) [{_joined(self.allowed)}]"


@dataclass(frozen=True, slots=True)
class EachOf:
    """A list whose items all come from a fixed set."""

    allowed: tuple[str, ...]

    def __call__(self, name: str, value: object) -> None:
        for item in value if isinstance(value, list) else ():
            OneOf(self.allowed)(name, item)

    def __str__(self) -> str:
        return f"[{_joined(self.allowed)}]"


@dataclass(frozen=True, slots=True)
class AtMostOfSize:
    """A list with a limited number of items."""

    size: int

    def __call__(self, name: str, value: object) -> None:
        if isinstance(value, list) and len(value) > self.size:
            raise invalid(name, value, f"exceeds maximum list size of [{self.size}].")

    def __str__(self) -> str:
        return f"List containing maximum of {self.size} elements"


@dataclass(frozen=True, slots=True)
class All:
    """Several rules in order; raises the error of the first that fails."""

    rules: tuple[Validator, ...]

    def __call__(self, name: str, value: object) -> None:
        for rule in self.rules:
            rule(name, value)

    def __str__(self) -> str:
        return ", ".join(map(str, self.rules))


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule given as a function, with the words that describe it."""

    check: Callable[[str, object], None]
    words: str

    def __call__(self, name: str, value: object) -> None:
        self.check(name, value)

    def __str__(self) -> str:
        return self.words


def between(low: float, high: float) -> Range:
    return Range(low, high)


def at_least(low: float) -> Range:
    return Range(low=low)


def one_of(*allowed: str | None) -> OneOf:
    return OneOf(allowed)


def one_of_ignoring_case(*allowed: str) -> OneOfIgnoringCase:
    return OneOfIgnoringCase(tuple(text.upper() for text in allowed))


def each_of(*allowed: str) -> EachOf:
    return EachOf(allowed)


def at_most_of_size(size: int) -> AtMostOfSize:
    return AtMostOfSize(size)


def all_of(*rules: Validator) -> All:
    return All(rules)


def optional(other: Validator) -> Rule:
    """Another rule, for values that may also be absent."""

    def check(name: str, value: object) -> None:
        if value is not None:
            other(name, value)

    return Rule(check, str(other))


def rule(check: Callable[[str, object], None], words: str) -> Rule:
    return Rule(check, words)


def matches(pattern: str, words: str | None = None) -> Rule:
    """A text that matches a regular expression as a whole; None passes."""
    compiled = re.compile(pattern)

    def check(name: str, value: object) -> None:
        if isinstance(value, str) and not compiled.fullmatch(value):
            raise invalid(name, value, words or f"String must match pattern {pattern}")

    return Rule(check, words or f"text that matches {pattern}")


def _non_empty(name: str, value: object) -> None:
    if value == "":
        raise invalid(name, value, "String must be non-empty")
    if value == []:
        raise invalid(name, value, "Empty list")


def _non_empty_list(name: str, value: object) -> None:
    if not value:
        raise invalid(name, value, "Empty list")


def _non_null(name: str, value: object) -> None:
    if value is None:
        raise invalid(name, value, "entry must be non null")


def _no_control_characters(name: str, value: object) -> None:
    if value == "":
        raise invalid(name, value, "String may not be empty")
    codes = [ord(char) for char in value if _is_control(char)] if isinstance(value, str) else []
    if codes:
        rule_ = "String may not contain control sequences but had the following ASCII chars: "
        raise invalid(name, value, rule_ + ", ".join(map(str, codes)))


def _no_duplicates(name: str, value: object) -> None:
    if value is None:
        raise invalid(name, value, "entry must be non null")
    if isinstance(value, list) and len(set(value)) != len(value):
        raise invalid(name, value, "Duplicate alias provided.")


def _java_regex(name: str, value: object) -> None:
    text = regex_error(value if isinstance(value, str) else None)
    if text is not None:
        raise invalid(name, value, f"Invalid regex: {text}")
    if text := runaway_error(str(value)):
        raise invalid(name, value, f"Matching it might never end: {text}")


def _is_control(char: str) -> bool:
    return ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0


def _joined(texts: Sequence[str | None]) -> str:
    return ", ".join(map(java_text, texts))


non_empty = Rule(_non_empty, "non-empty string")
non_empty_list = Rule(_non_empty_list, "non-empty list")
non_null = Rule(_non_null, "non-null string")
no_control_characters = Rule(
    _no_control_characters, "non-empty string without ISO control characters"
)
no_duplicates = Rule(_no_duplicates, "unique aliases")
java_regex = Rule(_java_regex, "valid regex")
