"""Which message of a file the data is: numbers between the schema's id and the data.

Each is a zigzag varint: how many places, then each place. One zero is short for the first message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from penstock.kernel.errors import DataError

_MOST: Final = 100
_MOST_BITS: Final = 35


def indexes_bytes(indexes: Sequence[int]) -> bytes:
    if list(indexes) == [0]:
        return b"\0"
    return b"".join(map(_varint, (len(indexes), *indexes)))


def read_indexes(payload: bytes) -> tuple[tuple[int, ...], int]:
    """The places, and how many bytes they take.

    Raises:
        DataError: there are none.
    """
    count, at = _number(payload, 0)
    if count == 0:
        return (0,), at
    if not 0 < count <= _MOST:
        raise DataError(f"A Protobuf message can't be {count} messages deep")
    indexes = []
    for _ in range(count):
        index, at = _number(payload, at)
        indexes.append(index)
    return tuple(indexes), at


def _varint(number: int) -> bytes:
    rest = number << 1  # no place is negative
    written = bytearray()
    while rest > 0x7F:
        written.append(rest & 0x7F | 0x80)
        rest >>= 7
    written.append(rest)
    return bytes(written)


def _number(payload: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(payload) or shift >= _MOST_BITS:
            raise DataError("The record does not say which message of its Protobuf schema it is")
        byte = payload[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
