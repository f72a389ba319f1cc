"""One value as Avro's bytes, in plain Python."""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from penstock.codecs.avro.decimals import unscaled_bytes
from penstock.codecs.avro.fit import FieldFit, Fit
from penstock.codecs.avro.model import Kind
from penstock.kernel.data.schema import TIME, SchemaType, Struct
from penstock.kernel.errors import DataError
from penstock.kernel.java.to_string import MILLIS_OF_DAY

NULL_FOR_REQUIRED: Final = "Found null value for non-optional schema"
NOT_A_TIME: Final = "Not a time of the day"

Write = Callable[[Any, bytearray], None]


def no_symbol(fit: Fit) -> str:
    return f"Not a symbol of enum {fit.type.name}"


def wrong_size(fit: Fit) -> str:
    return f"Not the {fit.type.size} bytes of fixed {fit.type.name}"


def writer_of(fit: Fit) -> Write:
    """A function that writes a value; it raises DataError for values that do not fit."""
    write = _WRITERS[fit.type.kind](fit)
    if fit.type.kind is Kind.UNION:
        return write
    null_at = fit.null_at

    def checked(value: Any, out: bytearray) -> None:
        if value is None and null_at is None:
            raise DataError(NULL_FOR_REQUIRED)
        if null_at is not None:
            _number(null_at if value is None else 1 - null_at, out)
        if value is not None:
            try:
                write(value, out)
            except (TypeError, AttributeError, struct.error, OverflowError) as error:
                raise DataError(f"{value!r} is not a valid {fit.schema.type}: {error}") from error

    return checked


def _always(write: Write) -> Callable[[Fit], Write]:
    return lambda _: write


def _packed(form: str) -> Callable[[Fit], Write]:
    return _always(lambda value, out: out.extend(struct.pack(form, value)))


def _number(number: int, out: bytearray) -> None:
    rest = (number << 1) ^ (number >> 63)
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)


def _run(value: bytes, out: bytearray) -> None:
    _number(len(value), out)
    out += value


def _text(value: str, out: bytearray) -> None:
    _run(value.encode(), out)


def _int(fit: Fit) -> Write:
    is_time = fit.schema.is_moment and fit.schema.name == TIME
    return _time if is_time else _number


def _time(value: int, out: bytearray) -> None:
    if not 0 <= value <= MILLIS_OF_DAY:
        raise DataError(NOT_A_TIME)
    _number(value, out)


def _bytes(fit: Fit) -> Write:
    scale = fit.schema.scale
    if fit.schema.is_decimal:
        return lambda value, out: _run(unscaled_bytes(value, scale), out)
    return _run


def _fixed(fit: Fit) -> Write:
    size, scale = fit.type.size, fit.schema.scale
    is_decimal = fit.schema.is_decimal

    def write(value: bytes | Decimal, out: bytearray) -> None:
        if isinstance(value, Decimal) and is_decimal:
            value = unscaled_bytes(value, scale).rjust(size, b"\xff" if value < 0 else b"\0")
        if not isinstance(value, bytes) or len(value) != size:
            raise DataError(wrong_size(fit))
        out += value

    return write


def _enum(fit: Fit) -> Write:
    places = {symbol: place for place, symbol in enumerate(fit.type.symbols)}

    def write(value: str, out: bytearray) -> None:
        if value not in places:
            raise DataError(no_symbol(fit))
        _number(places[value], out)

    return write


def _record(fit: Fit) -> Write:
    writes = [(each, writer_of(each.fit)) for each in fit.fields]

    def write(value: Struct, out: bytearray) -> None:
        for field, write_field in writes:
            write_field(_value(field, value), out)

    return write


def _value(field: FieldFit, value: Struct) -> Any:
    found = None if field.source is None else value[field.source]
    return field.default if found is None else found


def _union(fit: Fit) -> Write:
    writes = [(each, writer_of(each.fit)) for each in fit.fields]

    def write(value: Struct | None, out: bytearray) -> None:
        for field, write_field in writes:
            if value is not None and value[field.name] is not None:
                _number(field.place, out)
                write_field(value[field.name], out)
                return
        if fit.null_at is None:
            raise DataError(NULL_FOR_REQUIRED)
        _number(fit.null_at, out)

    return write


def _container(fit: Fit) -> Write:
    write_item = writer_of(fit.item)
    write_key = _text if fit.keys is None else writer_of(fit.keys)
    is_map = fit.schema.type is SchemaType.MAP

    def write(value: Any, out: bytearray) -> None:
        if len(value):
            _number(len(value), out)
        for each in value:
            if is_map:
                write_key(each, out)
            write_item(value[each] if is_map else each, out)
        _number(0, out)

    return write


_WRITERS: Final[dict[Kind, Callable[[Fit], Write]]] = {
    Kind.BOOLEAN: _always(lambda value, out: out.append(1 if value else 0)),
    Kind.INT: _int,
    Kind.LONG: _always(_number),
    Kind.FLOAT: _packed("<f"),
    Kind.DOUBLE: _packed("<d"),
    Kind.BYTES: _bytes,
    Kind.STRING: _always(_text),
    Kind.FIXED: _fixed,
    Kind.ENUM: _enum,
    Kind.RECORD: _record,
    Kind.UNION: _union,
    Kind.MAP: _container,
    Kind.ARRAY: _container,
}
