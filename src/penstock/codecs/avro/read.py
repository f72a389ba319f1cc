"""One value of Avro's bytes, in plain Python."""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from penstock.codecs.avro.decimals import decimal_of
from penstock.codecs.avro.fit import Fit
from penstock.codecs.avro.model import Kind
from penstock.kernel.data.schema import SchemaType, Struct
from penstock.kernel.errors import DataError

NULL_KEY: Final = "A map with a null key can't be read"
_MAX: Final = 10**38
_SMALL: Final = {SchemaType.INT8: 8, SchemaType.INT16: 16}


class Reader:
    """The bytes of one value, and how far they are read."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._at = 0

    def take(self, size: int) -> bytes:
        if size < 0 or self._at + size > len(self._raw):
            raise DataError("the bytes end too early")
        self._at += size
        return self._raw[self._at - size : self._at]

    def number(self) -> int:
        """A variable number of bytes, the sign in the lowest bit."""
        found = shift = 0
        while True:
            byte = self.take(1)[0]
            found |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (found >> 1) ^ -(found & 1)
            if shift > 63:
                raise DataError("a number has too many bytes")

    def run(self) -> bytes:
        """Bytes with their length in front."""
        return self.take(self.number())

    def text(self) -> str:
        return self.run().decode("utf-8", "replace")

    def blocks(self, read: Callable[[], Any]) -> list[Any]:
        """The items of an array or map."""
        found: list[Any] = []
        while count := self.number():
            if count < 0:
                self.number()  # the size of the block in bytes
                count = -count
            # An item without bytes could be there any number of times.
            if count > len(self._raw):
                raise DataError("an array or map has more items than bytes")
            found += [read() for _ in range(count)]
        return found


Read = Callable[[Reader], Any]


def reader_of(fit: Fit) -> Read:
    """A function that reads a value; it raises DataError for wrong bytes."""
    read = _READERS[fit.type.kind](fit)
    null_at = fit.null_at
    if fit.type.kind is Kind.UNION or null_at is None:
        return read

    def optional(source: Reader) -> Any:
        place = source.number()
        if place not in (0, 1):
            raise DataError("a union has no such type")
        return None if place == null_at else read(source)

    return optional


def _always(read: Read) -> Callable[[Fit], Read]:
    return lambda _: read


def _unpacked(form: str) -> Callable[[Fit], Read]:
    size = struct.calcsize(form)
    return _always(lambda source: struct.unpack(form, source.take(size))[0])


def _int(fit: Fit) -> Read:
    bits = _SMALL.get(fit.schema.type)
    if bits is None:
        return Reader.number
    half = 1 << (bits - 1)
    return lambda source: ((source.number() + half) & (2 * half - 1)) - half


def _bytes(fit: Fit) -> Read:
    return _decimal(fit, Reader.run) if fit.schema.is_decimal else Reader.run


def _fixed(fit: Fit) -> Read:
    size = fit.type.size
    read: Read = lambda source: source.take(size)  # noqa: E731 - used twice
    return _decimal(fit, read) if fit.schema.is_decimal else read


def _decimal(fit: Fit, take: Read) -> Read:
    scale = fit.schema.scale

    def read(source: Reader) -> Decimal:
        raw = take(source)
        if not raw or not -_MAX < int.from_bytes(raw, "big", signed=True) < _MAX:
            raise DataError("a decimal has no digits, or more than 38")
        return decimal_of(raw, scale)

    return read


def _enum(fit: Fit) -> Read:
    symbols = fit.type.symbols

    def read(source: Reader) -> str:
        place = source.number()
        if not 0 <= place < len(symbols):
            raise DataError("an enum has no such symbol")
        return symbols[place]

    return read


def _record(fit: Fit) -> Read:
    reads = [(each.source or each.name, reader_of(each.fit)) for each in fit.fields]
    schema = fit.schema
    return lambda source: Struct(schema, {name: read(source) for name, read in reads})


def _union(fit: Fit) -> Read:
    reads = {each.place: (each.name, reader_of(each.fit)) for each in fit.fields}
    schema, null_at = fit.schema, fit.null_at
    nothing = dict.fromkeys((each.name for each in schema.fields), None)

    def read(source: Reader) -> Struct | None:
        place = source.number()
        if place == null_at:
            return None
        if place not in reads:
            raise DataError("a union has no such type")
        name, read_branch = reads[place]
        return Struct(schema, nothing | {name: read_branch(source)})

    return read


def _map(fit: Fit) -> Read:
    read = reader_of(fit.item)
    return lambda source: dict(source.blocks(lambda: (source.text(), read(source))))


def _array(fit: Fit) -> Read:
    read = reader_of(fit.item)
    if fit.keys is None:
        return lambda source: source.blocks(lambda: read(source))
    reads = {"key": reader_of(fit.keys), "value": read}
    order = [each.name for each in fit.type.item.fields]

    def entry(source: Reader) -> tuple[Any, Any]:
        found = {name: reads[name](source) for name in order}
        if found["key"] is None:
            raise DataError(NULL_KEY)
        return found["key"], found["value"]

    return lambda source: dict(source.blocks(lambda: entry(source)))


_READERS: Final[dict[Kind, Callable[[Fit], Read]]] = {
    Kind.BOOLEAN: _always(lambda source: source.take(1) == b"\x01"),
    Kind.INT: _int,
    Kind.LONG: _always(Reader.number),
    Kind.FLOAT: _unpacked("<f"),
    Kind.DOUBLE: _unpacked("<d"),
    Kind.BYTES: _bytes,
    Kind.STRING: _always(Reader.text),
    Kind.FIXED: _fixed,
    Kind.ENUM: _enum,
    Kind.RECORD: _record,
    Kind.UNION: _union,
    Kind.MAP: _map,
    Kind.ARRAY: _array,
}
