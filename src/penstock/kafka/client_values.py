"""Converts values of Java's client settings for the Python clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from penstock.kernel.config.values import Type, invalid, parse_value

#: Takes the name of the setting, for errors, and its text.
Translate = Callable[[str, str], Any]


def text(_: str, value: str) -> str:
    return str(value).strip()


def integer(name: str, value: str) -> int:
    return int(parse_value(name, value, Type.INT))


def boolean(name: str, value: str) -> bool:
    return bool(parse_value(name, value, Type.BOOLEAN))


#: For settings without a rule of their own. Java's LONG is an int in both libraries.
OF_TYPE: Final[Mapping[Type, Translate]] = {
    Type.STRING: text,
    Type.LIST: text,
    Type.INT: integer,
    Type.LONG: integer,
    Type.BOOLEAN: boolean,
}


def server_list(_: str, value: str) -> list[str]:
    return [server.strip() for server in value.split(",") if server.strip()]


def buffer_size(name: str, value: str) -> int:
    """Java's -1, the system's own buffer size, is 0 in librdkafka."""
    return max(0, integer(name, value))


def optional_buffer_size(name: str, value: str) -> int | None:
    size = integer(name, value)
    return None if size < 0 else size


def kilobytes(name: str, value: str) -> int:
    return max(1, int(parse_value(name, value, Type.LONG)) // 1024)


def one_word(**words: str) -> Translate:
    def translate(name: str, value: str) -> str:
        word = str(value).strip().lower()
        if word not in words:
            raise invalid(name, value, f"String must be one of: {', '.join(words)}")
        return words[word]

    return translate


def acks(name: str, value: str) -> str:
    word = str(value).strip().lower()
    if word not in ("all", "-1", "0", "1"):
        raise invalid(name, value, "String must be one of: all, -1, 0, 1")
    return "all" if word in ("all", "-1") else word


_ASSIGNORS: Final = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "CooperativeStickyAssignor": "cooperative-sticky",
}


def assignors(name: str, value: str) -> str:
    """From Java's or librdkafka's names. Java's default pair acts as its first, range."""
    names = [entry.strip().rpartition(".")[2] for entry in value.split(",") if entry.strip()]
    known = [_ASSIGNORS.get(entry, entry) for entry in names]
    wrong = [entry for entry in known if entry not in _ASSIGNORS.values()]
    if wrong:
        raise invalid(
            name, value, f"{', '.join(wrong)} exists only in Java; use one of {list(_ASSIGNORS)}"
        )
    # librdkafka refuses to mix eager and cooperative ones; Java runs such a mix eagerly.
    eager = [entry for entry in known if entry != "cooperative-sticky"]
    return ",".join(eager or known)
