r"""Format strings of kcat: `%k %s\n` for the key and the value of each record."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from penstock.kafka.clients import RawRecord
from penstock.kernel.errors import BadRequestError

Part = Callable[[RawRecord], bytes]
Render = Callable[[RawRecord], bytes]
Text = Callable[[bytes | None], bytes]

_PIECE: Final = re.compile(
    r"%(?P<field>.)|\\x(?P<hex>[0-9A-Fa-f]{1,2})|\\(?P<escape>.)|(?P<plain>[^%\\]+)|(?P<rest>.)",
    re.DOTALL,
)
_ESCAPE: Final = re.compile(
    r"\\x(?P<hex>[0-9A-Fa-f]{1,2})|\\(?P<escape>.)|(?P<plain>[^\\]+)|(?P<rest>.)", re.DOTALL
)
_ESCAPES: Final = {"n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "\\": b"\\"}


def compile_format(text: str, key: Text, value: Text, null: bytes = b"") -> Render:
    """A function that renders a record.

    Args:
        text: %k key, %s value, %K and %S their sizes, %t topic, %p partition, %o offset,
            %T time in ms, %h headers, %R the size of the value in four bytes, and %%.
        key: renders keys that are not null.
        value: renders values that are not null.
        null: printed for null keys and values.

    Raises:
        BadRequestError: the text has something else after a %.
    """
    fields = _fields(key, value, null)
    parts: list[Part] = []
    for piece in _PIECE.finditer(text):
        if name := piece["field"]:
            if name not in fields:
                known = " ".join(f"%{each}" for each in fields)
                raise BadRequestError(f"%{name} is unknown in a format; there are {known}")
            parts.append(fields[name])
        else:
            parts.append(_fixed(_literal(piece)))
    return lambda record: b"".join(part(record) for part in parts)


def unescaped(text: str) -> str:
    r"""A separator as people write it: `\t`, `\n` and `\x1f` are those characters."""
    return _ESCAPE.sub(lambda piece: _literal(piece).decode("utf-8", "surrogateescape"), text)


def _fields(key: Text, value: Text, null: bytes) -> Mapping[str, Part]:
    return {
        "k": lambda record: null if record.key is None else key(record.key),
        "s": lambda record: null if record.value is None else value(record.value),
        "K": lambda record: _size(record.key),
        "S": lambda record: _size(record.value),
        "R": lambda record: (-1 if record.value is None else len(record.value)).to_bytes(
            4, "big", signed=True
        ),
        "t": lambda record: record.topic.encode(),
        "p": lambda record: b"%d" % record.partition,
        "o": lambda record: b"%d" % record.offset,
        "T": lambda record: b"%d" % record.timestamp,
        "h": _headers,
        "%": lambda _: b"%",
    }


def _size(raw: bytes | None) -> bytes:
    return b"-1" if raw is None else b"%d" % len(raw)


def _headers(record: RawRecord) -> bytes:
    return b",".join(
        name.encode() + b"=" + (b"NULL" if value is None else value)
        for name, value in record.headers or ()
    )


def _literal(piece: re.Match[str]) -> bytes:
    if piece["hex"]:
        return bytes([int(piece["hex"], 16)])
    if piece["escape"]:
        return _ESCAPES.get(piece["escape"], piece["escape"].encode())
    return (piece["plain"] or piece["rest"] or "").encode()


def _fixed(literal: bytes) -> Part:
    return lambda _: literal
