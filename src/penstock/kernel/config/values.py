"""Kafka's rules for turning the text of a property into a value, and back into text.

One table, `PARSERS`, has a rule for each type. The texts of the errors are Kafka Connect's own:
clients read them in REST answers, so they are part of the contract.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final

from penstock.kernel.errors import ConfigError
from penstock.kernel.java.numbers import double_text

HIDDEN: Final = "[hidden]"

# Java's String.trim drops exactly the characters up to the space; str.strip drops more.
_TRIMMED: Final = "".join(map(chr, range(0x21)))
_COMMA: Final = re.compile(r"\s*,\s*", re.ASCII)
# More digits are out of every type's range, and Python refuses to read very many.
_WHOLE: Final = re.compile(r"[+-]?\d{1,1000}")
_DECIMAL: Final = re.compile(
    r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)", re.ASCII
)
_HEXADECIMAL: Final = re.compile(
    r"[+-]?0[xX](?:[\da-fA-F]+\.?|[\da-fA-F]*\.[\da-fA-F]+)[pP][+-]?\d+[fFdD]?", re.ASCII
)


class Type(StrEnum):
    """The types a key can have; the values are the names Kafka shows."""

    BOOLEAN = "BOOLEAN"
    STRING = "STRING"
    INT = "INT"
    SHORT = "SHORT"
    LONG = "LONG"
    DOUBLE = "DOUBLE"
    LIST = "LIST"
    CLASS = "CLASS"
    PASSWORD = "PASSWORD"  # noqa: S105 - the name of a type


class Password:
    """A secret: `str()` and `repr()` hide it, `value` has it."""

    __slots__ = ("value",)

    def __init__(self, value: str) -> None:
        self.value = value

    def __str__(self) -> str:
        return HIDDEN

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Password) and other.value == self.value

    def __hash__(self) -> int:
        return hash(self.value)


ClassResolver = Callable[[str], str]
"""Returns the full name of a class, or raises LookupError, with a text if it knows why the class
is missing. Callers with a plugin registry pass one."""


def invalid(name: str, value: object, rule: str | None = None) -> ConfigError:
    """The error of one wrong value, in Kafka's words: which value, which key, which rule."""
    text = f"Invalid value {java_text(value)} for configuration {name}"
    message = text if rule is None else f"{text}: {rule}"
    return ConfigError(message, {name: (message,)})


def trim(text: str) -> str:
    return text.strip(_TRIMMED)


def parse_value(name: str, value: object, type_: Type, classes: ClassResolver | None = None) -> Any:
    """Turn a property into a value of the key's type; None stays None.

    Raises:
        ConfigError: with the text that Kafka gives for this key and value.
    """
    if value is None:
        return None
    if type_ is Type.CLASS:
        return _class_name(name, value, classes)
    return PARSERS[type_](name, value)


def render(value: object, type_: Type) -> str | None:
    """The text a REST answer shows for a value; secrets are hidden."""
    if value is None:
        return None
    if type_ is Type.LIST and isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return java_text(value)


def java_text(value: object) -> str:
    """The text of Java's string conversion, so that error texts are the same."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return double_text(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(java_text, value)) + "]"
    return str(value)


def _boolean(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    found = {"true": True, "false": False}.get(
        trim(value).lower() if isinstance(value, str) else ""
    )
    if found is None:
        raise invalid(name, value, "Expected value to be either true or false")
    return found


def _string(name: str, value: object) -> str:
    if isinstance(value, str):
        return trim(value)
    raise invalid(name, value, f"Expected value to be a string, but it was a {_kind(value)}")


def _password(name: str, value: object) -> Password:
    return value if isinstance(value, Password) else Password(_string(name, value))


def _whole(type_: Type, bits: int, words: str) -> Callable[[str, object], int]:
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def parse(name: str, value: object) -> int:
        if isinstance(value, str):
            text = trim(value)
            number = int(text) if _WHOLE.fullmatch(text) else None
        elif isinstance(value, int) and not isinstance(value, bool):
            number = value
        else:
            raise invalid(name, value, f"Expected value to be {words}, but it was a {_kind(value)}")
        if number is None or not low <= number <= high:
            raise invalid(name, value, f"Not a number of type {type_}")
        return number

    return parse


def _double(name: str, value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        raise invalid(name, value, f"Expected value to be a double, but it was a {_kind(value)}")
    text = trim(value)
    if _DECIMAL.fullmatch(text):
        return float(text if text.endswith("y") else text.rstrip("fFdD"))
    if _HEXADECIMAL.fullmatch(text):
        return float.fromhex(text.rstrip("fFdD"))
    raise invalid(name, value, f"Not a number of type {Type.DOUBLE}")


def _list(name: str, value: object) -> list[str]:
    if isinstance(value, list | tuple):
        return list(value)
    if not isinstance(value, str):
        raise invalid(name, value, "Expected a comma separated list.")
    text = trim(value)
    return _COMMA.split(text) if text else []


def _class_name(name: str, value: object, classes: ClassResolver | None) -> str:
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if not isinstance(value, str):
        raise invalid(name, value, "Expected a Class instance or class name.")
    if classes is None:
        return trim(value)
    try:
        return classes(trim(value))
    except LookupError as error:
        reason = f" {error}" if type(error) is LookupError and error.args else ""
        raise invalid(name, value, f"Class {value} could not be found.{reason}") from error


def _kind(value: object) -> str:
    return type(value).__name__


PARSERS: Final[dict[Type, Callable[[str, object], Any]]] = {
    Type.BOOLEAN: _boolean,
    Type.STRING: _string,
    Type.INT: _whole(Type.INT, 32, "a 32-bit integer"),
    Type.SHORT: _whole(Type.SHORT, 16, "a 16-bit integer (short)"),
    Type.LONG: _whole(Type.LONG, 64, "a 64-bit integer (long)"),
    Type.DOUBLE: _double,
    Type.LIST: _list,
    Type.PASSWORD: _password,
}
