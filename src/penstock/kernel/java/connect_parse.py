"""Values from text, by the rules of Connect's Values class.

A text is parsed as the narrowest number that holds it, a boolean, null, a date, time or timestamp
in ISO form, an array in [] or a map in {}; else it is a string. The items of arrays and maps get
one schema if they have one in common.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from penstock.kernel.data.record import SchemaAndValue
from penstock.kernel.data.schema import (
    DATE,
    STRING_SCHEMA,
    TIME,
    TIMESTAMP,
    Schema,
    SchemaType,
    date_schema,
    decimal_schema,
    time_schema,
    timestamp_schema,
)
from penstock.kernel.errors import DataError
from penstock.kernel.java.connect_tokens import JAVA_SPACE, Tokens
from penstock.kernel.java.numbers import to_float32
from penstock.kernel.java.to_string import MILLIS_OF_DAY, epoch_day

_BOOLEAN: Final = Schema(SchemaType.BOOLEAN)
_WHOLE: Final = (
    (8, Schema(SchemaType.INT8)),
    (16, Schema(SchemaType.INT16)),
    (32, Schema(SchemaType.INT32)),
    (64, Schema(SchemaType.INT64)),
)
_FLOAT: Final = Schema(SchemaType.FLOAT32)
_DOUBLE: Final = Schema(SchemaType.FLOAT64)
_LITERALS: Final[dict[str, bool | None]] = {"null": None, "true": True, "false": False}
_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
#: Number types from narrow to wide; a common schema is the widest that occurs.
_WIDTHS: Final = (
    SchemaType.INT8,
    SchemaType.INT16,
    SchemaType.INT32,
    SchemaType.INT64,
    SchemaType.FLOAT32,
    SchemaType.FLOAT64,
)
_BITS: Final = {schema.type: bits for bits, schema in _WHOLE}
_FIELD: Final = r"[ \t]*(-?\d+)"
_DATE_FORM: Final = rf"{_FIELD}-{_FIELD}-{_FIELD}"
_TIME_FORM: Final = rf"{_FIELD}:{_FIELD}:{_FIELD}\.{_FIELD}Z"
_TEMPORAL: Final = {
    10: (re.compile(_DATE_FORM), date_schema()),
    13: (re.compile(_TIME_FORM), time_schema()),
    24: (re.compile(rf"{_DATE_FORM}T{_TIME_FORM}"), timestamp_schema()),
}


@dataclass(frozen=True, slots=True)
class Moment:
    """A date, time or timestamp that may still become another type: Java's Date, with a schema."""

    millis: int
    schema: Schema

    @property
    def plain(self) -> int:
        return self.millis // MILLIS_OF_DAY if self.schema.name == DATE else self.millis


@dataclass(frozen=True, slots=True)
class Item:
    """A parsed value; its schema may be None only for null."""

    schema: Schema | None
    value: Any


def parse_text(text: str) -> SchemaAndValue:
    """Parse a text; what can't be parsed is a string, so it raises nothing."""
    if not text:
        return SchemaAndValue(STRING_SCHEMA, text)
    found = _Parser(text).parse(embedded=False)
    if found is None:
        return SchemaAndValue(None, None)
    return SchemaAndValue(found.schema, _plain(found.value))


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = Tokens(text)

    def parse(self, *, embedded: bool) -> Item | None:
        """The next value; None is null."""
        tokens = self._tokens
        if not tokens.has_next():
            return None
        if embedded and tokens.take('"'):
            return self._quoted()
        for literal, value in _LITERALS.items():
            if self._is_literal(literal, embedded=embedded):
                return None if value is None else Item(_BOOLEAN, value)
        return self._container() or self._token(embedded=embedded)

    def _container(self) -> Item | None:
        start = self._tokens.mark()
        try:
            if self._tokens.take("["):
                return self._array()
            if self._tokens.take("{"):
                return self._map()
        except DataError:
            self._tokens.rewind(start)
        return None

    def _token(self, *, embedded: bool) -> Item:
        token = self._tokens.next()
        if not token.strip(JAVA_SPACE):
            return Item(STRING_SCHEMA, token)
        return self._simple(token.strip(JAVA_SPACE), embedded=embedded)

    def _is_literal(self, literal: str, *, embedded: bool) -> bool:
        start = self._tokens.mark()
        if self._tokens.take(literal) and (embedded or not self._tokens.has_next()):
            return True
        self._tokens.rewind(start)
        return False

    def _simple(self, token: str, *, embedded: bool) -> Item:
        digit = token[0].isdigit()
        if digit and (moment := self._moment(token)):
            return moment
        if (digit or token[0] in "+-") and (number := _number(token)):
            return number
        if embedded:
            raise DataError("Failed to parse embedded value")
        return Item(STRING_SCHEMA, self._tokens.text)

    def _moment(self, token: str) -> Item | None:
        # The colons split a time into five tokens.
        start = self._tokens.mark()
        rest = self._tokens.next_many(4)
        if rest is not None and (moment := _moment(token + rest)):
            return moment
        self._tokens.rewind(start)
        return _moment(token)

    def _quoted(self) -> Item:
        parts = []
        while self._tokens.has_next() and not self._tokens.take('"'):
            parts.append(self._tokens.next())
        text = "".join(parts)
        return _moment(text) or Item(STRING_SCHEMA, text)

    def _array(self) -> Item:
        items: list[Item | None] = []
        tokens = self._tokens
        while tokens.has_next():
            if tokens.take("]"):
                return _array_of(items)
            if tokens.take(","):
                raise DataError(f"Unable to parse an empty array element: {tokens.text}")
            items.append(self.parse(embedded=True))
            start = tokens.mark()
            if tokens.take("]"):
                tokens.rewind(start)
            elif not tokens.take(","):
                raise DataError("Array elements missing ',' delimiter")
        raise DataError(f"Array is missing terminating ']': {tokens.text}")

    def _map(self) -> Item:
        entries: list[tuple[Item, Item | None]] = []
        tokens = self._tokens
        while tokens.has_next():
            if tokens.take("}"):
                return _map_of(entries)
            if tokens.take(","):
                raise DataError(f"Unable to parse a map entry with no key or value: {tokens.text}")
            key = self.parse(embedded=True)
            if key is None or key.value is None:
                raise DataError(f"Map entry may not have a null key: {tokens.text}")
            if not tokens.take(":"):
                raise DataError(f"Map entry is missing ':' in {tokens.text}")
            entries.append((key, self.parse(embedded=True)))
            tokens.take(",")
        raise DataError(f"Map is missing terminating '}}': {tokens.text}")


def _array_of(items: list[Item | None]) -> Item:
    common = _common(items)
    values = [item.value if item else None for item in items]
    if common is not None:
        values = [_fitted(common, value) for value in values]
    return Item(Schema(SchemaType.ARRAY, value_schema=common), values)


def _map_of(entries: list[tuple[Item, Item | None]]) -> Item:
    keys = _common([key for key, _ in entries])
    values = _common([value for _, value in entries]) if keys is not None else None
    pairs = [(key.value, value.value if value else None) for key, value in entries]
    if keys is not None:
        pairs = [(_fitted(keys, key), value) for key, value in pairs]
    if values is not None:
        pairs = [(key, _fitted(values, value)) for key, value in pairs]
    schema = Schema(SchemaType.MAP, key_schema=keys, value_schema=values)
    return Item(schema, {_hashable(key): value for key, value in pairs})


def _hashable(key: Any) -> Any:
    return tuple(map(_hashable, key)) if isinstance(key, list) else key


def _common(items: list[Item | None]) -> Schema | None:
    """The schema that all items fit, if there is one."""
    common: Schema | None = None
    for item in items:
        if item is None or item.schema is None:
            continue
        common = item.schema if common is None else _merged(common, item.schema)
        if common is None:
            return None
    return common


def _merged(one: Schema, two: Schema) -> Schema | None:
    if one.type is two.type:
        return two  # whatever their names: Java's rule
    if one.type not in _WIDTHS or two.type not in _WIDTHS:
        return None
    return max(one, two, key=lambda schema: _WIDTHS.index(schema.type))


def _fitted(schema: Schema, value: Any) -> Any:
    """The value converted to the schema.

    Raises:
        DataError: it can't be converted.
    """
    if value is None:
        raise DataError("Unable to convert a null value to a schema that requires a value")
    if schema.name in (DATE, TIME, TIMESTAMP):
        return value if isinstance(value, Moment) else _as_moment(schema, value)
    if isinstance(value, Moment):
        raise DataError("Unable to convert a date to a number")
    if bits := _BITS.get(schema.type):
        return _wrapped(int(value), bits)
    if schema.type is SchemaType.FLOAT32:
        return to_float32(float(value))
    return float(value) if schema.type is SchemaType.FLOAT64 else value


def _as_moment(schema: Schema, value: Any) -> Moment:
    number = int(value)
    if schema.name == TIME and not 0 <= _wrapped(number, 32) <= MILLIS_OF_DAY:
        raise DataError("Time values must use number of milliseconds of one day")
    if schema.name == TIMESTAMP:
        return Moment(number, schema)
    millis = _wrapped(number, 32) * (MILLIS_OF_DAY if schema.name == DATE else 1)
    return Moment(millis, schema)


def _wrapped(number: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (number + half) % (1 << bits) - half


def _number(token: str) -> Item | None:
    """The narrowest number that holds the token; None if it is not a number."""
    if not _NUMBER.fullmatch(token):
        return None
    try:
        number = Decimal(token)
    except InvalidOperation:
        return None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) >= 2**31:
        return None  # beyond Java's scales
    return _whole(number) or _fraction(number, exponent)


def _whole(number: Decimal) -> Item | None:
    size = number.copy_abs()
    if size > Decimal("1e19") or 0 < size < 1 or number != number.to_integral_value():
        return None
    integral = int(number)
    for bits, schema in _WHOLE:
        if _wrapped(integral, bits) == integral:
            return Item(schema, integral)
    return None


def _fraction(number: Decimal, exponent: int) -> Item:
    single, double = to_float32(float(number)), float(number)
    if exponent and abs(single) != float("inf"):
        return Item(_FLOAT, single)
    if exponent and abs(double) != float("inf"):
        return Item(_DOUBLE, double)
    return Item(decimal_schema(-exponent), number)


def _moment(token: str) -> Item | None:
    """A date, time or timestamp; Java detects them by their length and is otherwise lenient."""
    token = token.replace("\\:", ":")
    form, schema = _TEMPORAL.get(len(token), (None, None))
    found = form.match(token) if form else None
    if found is None or schema is None:
        return None
    numbers = list(map(int, found.groups()))
    days = epoch_day(*numbers[:3]) if schema.name != TIME else 0
    hour, minute, second, milli = numbers[-4:] if schema.name != DATE else (0, 0, 0, 0)
    millis = ((hour * 60 + minute) * 60 + second) * 1000 + milli + days * MILLIS_OF_DAY
    return Item(schema, Moment(millis, schema))


def _plain(value: Any) -> Any:
    match value:
        case Moment():
            return value.plain
        case list() | tuple():
            return type(value)(map(_plain, value))
        case dict():
            return {_plain(key): _plain(each) for key, each in value.items()}
    return value
