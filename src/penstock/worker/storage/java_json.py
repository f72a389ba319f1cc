"""JSON in the same bytes that Connect's own converter writes.

Connect finds a stored offset by the bytes of its key, so each byte must be the same: no spaces,
UTF-8 with everything outside the basic plane as two escapes, Java's text for doubles, base64 for
bytes, and the fields in the given order.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from penstock.kernel.java.numbers import double_text

_SPECIAL: Final = re.compile(r'["\\\x00-\x1f\ud800-\udfff\U00010000-\U0010ffff]')
_SHORT: Final = {
    '"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r",
}  # fmt: skip


def encode(value: object) -> bytes:
    """Compact JSON of a schemaless value, as JsonConverter with schemas.enable=false writes it."""
    return _text(value).encode()


def decode(data: bytes) -> Any:
    """Parse JSON. Raises ValueError if it is not JSON."""
    return json.loads(data)


def canonical(value: object) -> str:
    """The same text for equal values in any order of fields: a key for dictionaries."""
    return json.dumps(json.loads(_text(value)), sort_keys=True)


def _text(value: object) -> str:  # noqa: PLR0911 - one line for each kind of value
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _string(value)
        case int():
            return str(value)
        case float():
            text = double_text(value)
            return text if math.isfinite(value) else f'"{text}"'
        case bytes() | bytearray() | memoryview():
            return f'"{base64.b64encode(value).decode()}"'
        case Mapping():
            return _mapping(value)
        case Sequence():
            return "[" + ",".join(map(_text, value)) + "]"
        case _:
            raise TypeError(f"{type(value).__name__} can't be stored as JSON: {value!r}")


def _mapping(value: Mapping[Any, object]) -> str:
    if all(isinstance(key, str) for key in value):
        return "{" + ",".join(f"{_string(key)}:{_text(item)}" for key, item in value.items()) + "}"
    # Connect writes a map with other keys as a list of pairs.
    return "[" + ",".join(f"[{_text(key)},{_text(item)}]" for key, item in value.items()) + "]"


def _string(value: str) -> str:
    return f'"{_SPECIAL.sub(_escape, value)}"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04X}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04X}\\u{0xDC00 + (code & 0x3FF):04X}"
