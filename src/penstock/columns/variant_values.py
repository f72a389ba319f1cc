"""Data without a schema as Python values: the bytes of a VARIANT read and written.

The layout is that of Spark's VARIANT: one byte tells the type, containers have the places of their
items before the items, and the names of all fields are apart from the data, in the metadata.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa

from penstock.kernel.data.schema import Struct
from penstock.kernel.errors import DataError

#: How an Arrow batch of Spark's has a VARIANT.
VARIANT_TYPE: Final = pa.struct(
    [
        pa.field("value", pa.binary(), nullable=False),
        pa.field("metadata", pa.binary(), nullable=False, metadata={b"variant": b"true"}),
    ]
)

_PRIMITIVE, _SHORT_TEXT, _OBJECT, _ARRAY = range(4)
_NULL, _TRUE, _FALSE = 0, 1, 2
_INTEGERS: Final = {3: 1, 4: 2, 5: 4, 6: 8}
_DOUBLE, _DATE, _TIMESTAMP, _LOCAL_TIMESTAMP, _FLOAT, _BYTES, _TEXT = 7, 11, 12, 13, 14, 15, 16
_DECIMALS: Final = {8: 4, 9: 8, 10: 16}
_DECIMAL_DIGITS: Final = {8: 9, 9: 18, 10: 38}
_LONGEST_SHORT_TEXT: Final = 63
_MOST_BYTES: Final = 16 * 1024 * 1024
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def read_variant(value: bytes, metadata: bytes) -> Any:
    """The Python value of a VARIANT. Its numbers with a fraction are floats, as those of JSON."""
    return _read(value, 0, _names(metadata))


@lru_cache(maxsize=256)
def _names(metadata: bytes) -> tuple[str, ...]:
    size = (metadata[0] >> 6) + 1
    count = int.from_bytes(metadata[1 : 1 + size], "little")
    places = _numbers(metadata, 1 + size, count + 1, size)
    start = 1 + size * (count + 2)
    return tuple(
        metadata[start + places[each] : start + places[each + 1]].decode() for each in range(count)
    )


def _numbers(data: bytes, at: int, count: int, size: int) -> list[int]:
    return [
        int.from_bytes(data[place : place + size], "little")
        for place in range(at, at + count * size, size)
    ]


def _read(data: bytes, at: int, names: Sequence[str]) -> Any:
    basic, info = data[at] & 3, data[at] >> 2
    if basic == _SHORT_TEXT:
        return data[at + 1 : at + 1 + info].decode()
    if basic == _OBJECT:
        return _read_object(data, at, info, names)
    if basic == _ARRAY:
        return _read_array(data, at, info, names)
    return _read_primitive(data, at + 1, info)


def _read_object(data: bytes, at: int, info: int, names: Sequence[str]) -> dict[str, Any]:
    size = 4 if info & 16 else 1
    count = int.from_bytes(data[at + 1 : at + 1 + size], "little")
    id_size, place_size = (info >> 2 & 3) + 1, (info & 3) + 1
    ids_at = at + 1 + size
    places_at = ids_at + count * id_size
    start = places_at + (count + 1) * place_size
    ids = _numbers(data, ids_at, count, id_size)
    places = _numbers(data, places_at, count, place_size)
    return {
        names[number]: _read(data, start + place, names)
        for number, place in zip(ids, places, strict=True)
    }


def _read_array(data: bytes, at: int, info: int, names: Sequence[str]) -> list[Any]:
    size = 4 if info & 4 else 1
    count = int.from_bytes(data[at + 1 : at + 1 + size], "little")
    place_size = (info & 3) + 1
    places_at = at + 1 + size
    start = places_at + (count + 1) * place_size
    return [
        _read(data, start + place, names) for place in _numbers(data, places_at, count, place_size)
    ]


def _read_primitive(data: bytes, at: int, kind: int) -> Any:
    if kind in _CONSTANTS:
        return _CONSTANTS[kind]
    if kind in _INTEGERS:
        return int.from_bytes(data[at : at + _INTEGERS[kind]], "little", signed=True)
    if kind in _DECIMALS:
        return _read_decimal(data, at, _DECIMALS[kind])
    read = _READERS.get(kind)
    if read is None:
        raise DataError(f"Data without a schema has a value of an unknown type: {kind}")
    return read(data, at)


def _read_decimal(data: bytes, at: int, size: int) -> int | float:
    scale = data[at]
    digits = int.from_bytes(data[at + 1 : at + 1 + size], "little", signed=True)
    return float(f"{digits}e-{scale}") if scale else digits


def _read_sized(data: bytes, at: int) -> bytes:
    size = int.from_bytes(data[at : at + 4], "little")
    return data[at + 4 : at + 4 + size]


def _read_timestamp(data: bytes, at: int) -> datetime:
    micros = int.from_bytes(data[at : at + 8], "little", signed=True)
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        raise DataError(f"A timestamp is beyond Python's years 1 to 9999: {micros} us") from None


def _read_date(data: bytes, at: int) -> datetime:
    days = int.from_bytes(data[at : at + 4], "little", signed=True)
    return _EPOCH + timedelta(days=days)


_CONSTANTS: Final = {_NULL: None, _TRUE: True, _FALSE: False}
_READERS: Final[dict[int, Callable[[bytes, int], Any]]] = {
    _DOUBLE: lambda data, at: struct.unpack_from("<d", data, at)[0],
    _FLOAT: lambda data, at: struct.unpack_from("<f", data, at)[0],
    _TEXT: lambda data, at: _read_sized(data, at).decode(),
    _BYTES: _read_sized,
    _TIMESTAMP: _read_timestamp,
    _LOCAL_TIMESTAMP: _read_timestamp,
    _DATE: _read_date,
}


def write_variant(value: Any, place: str) -> dict[str, bytes]:
    """A Python value as a VARIANT, in the form that pyarrow takes for VARIANT_TYPE.

    Args:
        value: None, bool, int, float, Decimal, str, bytes, datetime, or a mapping or sequence.
        place: what the value is, for errors.

    Raises:
        DataError: something in it is of another type, or it is too big.
    """
    names: dict[str, int] = {}
    data = _Writer(names).write(value, place)
    if len(data) > _MOST_BYTES:
        raise DataError(f"{place}: more than 16 MiB of data without a schema")
    return {"value": data, "metadata": _metadata(tuple(names))}


@lru_cache(maxsize=256)
def _metadata(names: tuple[str, ...]) -> bytes:
    texts = [name.encode() for name in names]
    places = _places(texts)
    size = _size_of(max(places[-1], len(texts)))
    head = bytes([1 | (size - 1) << 6])
    return b"".join([head, len(texts).to_bytes(size, "little"), _packed(places, size), *texts])


class _Writer:
    """Writes one value; the names of fields get their numbers on the way."""

    def __init__(self, names: dict[str, int]) -> None:
        self._names = names

    def write(self, value: Any, place: str) -> bytes:
        if isinstance(value, str):
            return _text(value, place)
        if isinstance(value, Mapping | Struct):
            return self._object(value, place)
        if isinstance(value, list | tuple):
            return self._array(value, place)
        return _primitive(value, place)

    def _object(self, value: Mapping[str, Any] | Struct, place: str) -> bytes:
        keys = list(value)
        if not all(isinstance(key, str) for key in keys):
            raise DataError(f"{place}: without a schema, the keys of a map are texts")
        # Readers search by this order, which is Java's: it compares the halves of rare characters.
        keys.sort(key=None if all(map(str.isascii, keys)) else lambda key: key.encode("utf-16-be"))
        parts = [self.write(value[key], f"{place}.{key}") for key in keys]
        ids = [self._names.setdefault(key, len(self._names)) for key in keys]
        places = _places(parts)
        large, size = _count(len(parts))
        id_size, place_size = _size_of(max(ids, default=0)), _size_of(places[-1])
        info = large << 4 | (id_size - 1) << 2 | (place_size - 1)
        return b"".join(
            [
                bytes([info << 2 | _OBJECT]),
                size,
                _packed(ids, id_size),
                _packed(places, place_size),
                *parts,
            ]
        )

    def _array(self, value: Sequence[Any], place: str) -> bytes:
        parts = [self.write(item, f"{place}[]") for item in value]
        places = _places(parts)
        large, size = _count(len(parts))
        place_size = _size_of(places[-1])
        head = bytes([(large << 2 | (place_size - 1)) << 2 | _ARRAY])
        return b"".join([head, size, _packed(places, place_size), *parts])


def _count(items: int) -> tuple[int, bytes]:
    large = items > 255
    return int(large), items.to_bytes(4 if large else 1, "little")


def _places(parts: Iterable[bytes]) -> list[int]:
    places = [0]
    for part in parts:
        places.append(places[-1] + len(part))
    return places


def _size_of(number: int) -> int:
    return max(1, (number.bit_length() + 7) // 8)


def _packed(numbers: Iterable[int], size: int) -> bytes:
    return b"".join([number.to_bytes(size, "little") for number in numbers])


def _text(value: str, place: str) -> bytes:
    try:
        data = value.encode()
    except UnicodeEncodeError:
        raise DataError(f"{place}: a text with half a character (a lone surrogate)") from None
    if len(data) <= _LONGEST_SHORT_TEXT:
        return bytes([len(data) << 2 | _SHORT_TEXT]) + data
    return _head(_TEXT) + len(data).to_bytes(4, "little") + data


def _head(kind: int) -> bytes:
    return bytes([kind << 2 | _PRIMITIVE])


def _primitive(value: Any, place: str) -> bytes:
    match value:
        case None | bool():
            return _head(_NULL if value is None else _TRUE if value else _FALSE)
        case int():
            return _integer(value, place)
        case float():
            return _head(_DOUBLE) + struct.pack("<d", value)
        case Decimal():
            return _decimal(value, place)
        case bytes() | bytearray():
            return _head(_BYTES) + len(value).to_bytes(4, "little") + bytes(value)
        case datetime() if value.tzinfo is not None:
            micros = (value - _EPOCH) // _MICROSECOND
            return _head(_TIMESTAMP) + micros.to_bytes(8, "little", signed=True)
        case datetime():
            raise DataError(f"{place}: a datetime without a time zone")
    raise DataError(f"{place}: a {type(value).__qualname__} has no form without a schema")


def _integer(value: int, place: str) -> bytes:
    for kind, size in _INTEGERS.items():
        if -(1 << size * 8 - 1) <= value < 1 << size * 8 - 1:
            return _head(kind) + value.to_bytes(size, "little", signed=True)
    return _decimal(Decimal(value), place)


def _decimal(value: Decimal, place: str) -> bytes:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise DataError(f"{place}: {value} is not a number")
    scale = max(0, -exponent)
    unscaled = int(value.scaleb(scale)) if exponent < 0 else int(value)
    for kind, size in _DECIMALS.items():
        most = _DECIMAL_DIGITS[kind]
        if len(digits) <= most and scale <= most and abs(unscaled) < 10**most:
            return _head(kind) + bytes([scale]) + unscaled.to_bytes(size, "little", signed=True)
    raise DataError(f"{place}: a number of more than 38 digits")
