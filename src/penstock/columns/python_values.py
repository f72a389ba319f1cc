"""Connect data between Arrow batches and what the author of a record plugin works with.

For each schema a function is made once: read() takes what pyarrow's to_pylist() gives, write()
gives what pa.array() takes, or says what does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal, Inexact, InvalidOperation
from operator import index
from typing import Any, Final

import pyarrow as pa

from penstock.columns.types import MAX_DECIMAL_DIGITS, arrow_type
from penstock.columns.variant_values import VARIANT_TYPE, read_variant, write_variant
from penstock.kernel.data.schema import DATE, TIME, Schema, SchemaType, Struct
from penstock.kernel.errors import DataError

Convert = Callable[[Any], Any]

_BITS: Final = {
    SchemaType.INT8: 8,
    SchemaType.INT16: 16,
    SchemaType.INT32: 32,
    SchemaType.INT64: 64,
}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY: Final = date(1970, 1, 1).toordinal()
_MIDNIGHT: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - a time of day has no zone
_MILLISECOND: Final = timedelta(milliseconds=1)
_MILLIS_OF_DAY: Final = 86_400_000
_EXACT: Final = Context(prec=MAX_DECIMAL_DIGITS, traps=[Inexact, InvalidOperation])


def python_type(schema: Schema | None) -> pa.DataType:
    """The Arrow type of data of this schema; without one, that of a VARIANT."""
    return VARIANT_TYPE if schema is None else arrow_type(schema)


def reader(schema: Schema | None) -> Convert:
    """The function that makes a Python value of what an Arrow batch has; null is None."""
    read = _read_variant if schema is None else _reader(schema)
    return lambda value: None if value is None else read(value)


def writer(schema: Schema | None, place: str) -> Convert:
    """The function that makes what an Arrow array takes of a Python value.

    None is null, whatever the schema: a record may have no key or no value. The function raises
    DataError for a value that does not fit; `place` is how the text calls it.
    """
    if schema is None:
        return lambda value: None if value is None else write_variant(value, place)
    write = _writer(schema, place)
    return lambda value: None if value is None else write(value)


def _read_variant(value: dict[str, bytes]) -> Any:
    return read_variant(value["value"], value["metadata"])


def _reader(schema: Schema) -> Convert:
    if schema.is_moment:
        return _MOMENT_READERS.get(schema.name or "", _to_datetime)
    match schema.type:
        case SchemaType.STRUCT:
            return _struct_reader(schema)
        case SchemaType.ARRAY:
            item = reader(schema.value_schema)
            return lambda items: [item(each) for each in items]
        case SchemaType.MAP:
            key, item = reader(schema.key_schema), reader(schema.value_schema)
            return lambda pairs: {key(name): item(each) for name, each in pairs}
    return _same


def _same(value: Any) -> Any:
    return value


def _struct_reader(schema: Schema) -> Convert:
    readers = [(field.name, reader(field.schema)) for field in schema.fields]
    return lambda value: Struct(schema, {name: read(value[name]) for name, read in readers})


def _to_date(days: int) -> date | int:
    try:
        return date.fromordinal(_FIRST_DAY + days)
    except (ValueError, OverflowError):
        return days


def _to_time(millis: int) -> time | int:
    if not 0 <= millis < _MILLIS_OF_DAY:
        return millis
    return (_MIDNIGHT + millis * _MILLISECOND).time()


def _to_datetime(millis: int) -> datetime | int:
    try:
        return _EPOCH + millis * _MILLISECOND
    except OverflowError:
        return millis


_MOMENT_READERS: Final[dict[str, Convert]] = {DATE: _to_date, TIME: _to_time}


def _writer(schema: Schema, place: str) -> Convert:
    if schema.is_decimal:
        return _decimal_writer(schema, place)
    if schema.is_moment:
        return _moment_writer(schema, place)
    match schema.type:
        case SchemaType.STRUCT:
            return _struct_writer(schema, place)
        case SchemaType.ARRAY:
            return _array_writer(schema, place)
        case SchemaType.MAP:
            return _map_writer(schema, place)
    return _scalar_writer(schema.type, place)


def _inner_writer(schema: Schema | None, place: str) -> Convert:
    """As writer(), for what is inside of something else: null must be allowed there."""
    if schema is None:
        raise DataError(f"{place}: arrays and maps need the schema of their items")
    write = _writer(schema, place)
    may_be_null = schema.optional or schema.default is not None

    def checked(value: Any) -> Any:
        if value is not None:
            return write(value)
        if not may_be_null:
            raise DataError(f"{place}: null, but it is not optional")
        return None

    return checked


def _struct_writer(schema: Schema, place: str) -> Convert:
    writers = {
        field.name: _inner_writer(field.schema, f"{place}.{field.name}") for field in schema.fields
    }

    def write(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping | Struct):
            raise _misfit(place, value, "struct")
        for name in value:
            if name not in writers:
                raise DataError(
                    f"{place}: its schema has no field {name}; schemas() must return one that has"
                )
        return {name: convert(value.get(name)) for name, convert in writers.items()}

    return write


def _array_writer(schema: Schema, place: str) -> Convert:
    item = _inner_writer(schema.value_schema, f"{place}[]")

    def write(value: Any) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise _misfit(place, value, "array")
        return [item(each) for each in value]

    return write


def _map_writer(schema: Schema, place: str) -> Convert:
    key = _inner_writer(schema.key_schema, f"{place} (a key)")
    item = _inner_writer(schema.value_schema, f"{place}{{}}")

    def write(value: Any) -> list[tuple[Any, Any]]:
        if not isinstance(value, Mapping):
            raise _misfit(place, value, "map")
        return [(key(name), item(each)) for name, each in value.items()]

    return write


def _scalar_writer(kind: SchemaType, place: str) -> Convert:
    if kind in _BITS:
        return _integer_writer(kind, place)

    def write(value: Any) -> Any:
        match value:
            case bool() if kind is SchemaType.BOOLEAN:
                return value
            case str() if kind is SchemaType.STRING:
                return _checked_text(value, place)
            case bytes() | bytearray() | memoryview() if kind is SchemaType.BYTES:
                return bytes(value)
            case int() | float() if kind in _FLOATS and not isinstance(value, bool):
                return float(value)
        raise _misfit(place, value, kind)

    return write


_FLOATS: Final = (SchemaType.FLOAT32, SchemaType.FLOAT64)


def _checked_text(value: str, place: str) -> str:
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise DataError(f"{place}: a text with half a character (a lone surrogate)") from None
    return value


def _integer_writer(kind: SchemaType, place: str) -> Convert:
    most = 1 << _BITS[kind] - 1

    def write(value: Any) -> int:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise _misfit(place, value, kind)
        number = index(value)
        if not -most <= number < most:
            raise DataError(f"{place}: {number} is out of the range of {kind}")
        return number

    return write


def _decimal_writer(schema: Schema, place: str) -> Convert:
    unit = Decimal(1).scaleb(-schema.scale)

    def write(value: Any) -> Decimal:
        if isinstance(value, bool) or not isinstance(value, Decimal | int):
            raise _misfit(place, value, "Decimal")
        try:
            return Decimal(value).quantize(unit, context=_EXACT)
        except (Inexact, InvalidOperation):
            raise DataError(
                f"{place}: {value} is not a Decimal of scale {schema.scale} and at most"
                f" {MAX_DECIMAL_DIGITS} digits"
            ) from None

    return write


def _moment_writer(schema: Schema, place: str) -> Convert:
    number = _integer_writer(schema.type, place)
    convert = _MOMENT_WRITERS.get(schema.name or "", _of_datetime)

    def write(value: Any) -> int:
        found = convert(value, place)
        return number(value) if found is None else found

    return write


def _of_date(value: Any, place: str) -> int | None:
    del place
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.toordinal() - _FIRST_DAY
    return None


def _of_time(value: Any, place: str) -> int | None:
    del place
    if isinstance(value, time):
        return (datetime.combine(_MIDNIGHT, value.replace(tzinfo=None)) - _MIDNIGHT) // _MILLISECOND
    return None


def _of_datetime(value: Any, place: str) -> int | None:
    if not isinstance(value, datetime):
        return None
    if value.tzinfo is None:
        raise DataError(f"{place}: a datetime without a time zone")
    return (value - _EPOCH) // _MILLISECOND


_MOMENT_WRITERS: Final[dict[str, Callable[[Any, str], int | None]]] = {
    DATE: _of_date,
    TIME: _of_time,
}


def _misfit(place: str, value: Any, wanted: str) -> DataError:
    return DataError(f"{place}: a {type(value).__qualname__} does not fit {wanted}")
