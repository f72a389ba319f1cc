"""JSON as data of a Connect schema. Unlike JsonConverter, it rejects all that does not fit."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from penstock.codecs.avro.options import is_union
from penstock.kernel.data.schema import DATE, TIMESTAMP, Schema, SchemaType, Struct
from penstock.kernel.errors import ConfigError, DataError
from penstock.kernel.times import moment_ms

_BITS: Final = {
    SchemaType.INT8: 8, SchemaType.INT16: 16, SchemaType.INT32: 32, SchemaType.INT64: 64,
}  # fmt: skip
_DAY_MS: Final = 86_400_000


def value_of(schema: Schema, node: Any, where: str = "value") -> Any:
    """The value of a parsed JSON node; `where` names it in errors.

    Raises:
        DataError: it does not fit; the text has the path to the error.
    """
    if node is None:
        if schema.optional:
            return None
        raise DataError(f"{where} is null, but must be {_named(schema)}")
    if schema.is_decimal:
        return _decimal(schema, node, where)
    if schema.is_moment and isinstance(node, str):
        return _moment(schema, node, where)
    if bits := _BITS.get(schema.type):
        return _integer(schema, node, where, bits)
    return _READERS[schema.type](schema, node, where)


def _refused(schema: Schema, node: Any, where: str) -> DataError:
    shown = repr(node)
    return DataError(f"{where} must be {_named(schema)}, not {shown[:60]}")


def _named(schema: Schema) -> str:
    return f"{schema.type.value} ({schema.name})" if schema.name else schema.type.value


def _integer(schema: Schema, node: Any, where: str, bits: int) -> int:
    half = 1 << (bits - 1)
    if type(node) is not int or not -half <= node < half:
        raise _refused(schema, node, where)
    return node


def _decimal(schema: Schema, node: Any, where: str) -> Decimal:
    try:
        if isinstance(node, bool) or not isinstance(node, int | str | Decimal | float):
            raise InvalidOperation
        number = Decimal(str(node))
        scaled = number.quantize(Decimal(1).scaleb(-schema.scale))
    except InvalidOperation as error:
        raise _refused(schema, node, where) from error
    if scaled != number:
        raise DataError(f"{where} has more than {schema.scale} digits after the point: {node}")
    return scaled


def _moment(schema: Schema, node: str, where: str) -> int:
    """A time may be a text; a time of day only Connect's number."""
    try:
        millis = moment_ms(node)
    except ConfigError as error:
        raise DataError(f"{where}: {error}") from error
    if schema.name == TIMESTAMP:
        return millis
    if schema.name == DATE and millis % _DAY_MS == 0:
        return millis // _DAY_MS
    raise _refused(schema, node, where)


def _boolean(schema: Schema, node: Any, where: str) -> bool:
    if isinstance(node, bool):
        return node
    raise _refused(schema, node, where)


def _float(schema: Schema, node: Any, where: str) -> float:
    if isinstance(node, bool) or not isinstance(node, int | float | Decimal):
        raise _refused(schema, node, where)
    return float(node)


def _string(schema: Schema, node: Any, where: str) -> str:
    if isinstance(node, str):
        return node
    raise _refused(schema, node, where)


def _bytes(schema: Schema, node: Any, where: str) -> bytes:
    try:
        if isinstance(node, str):
            return base64.b64decode(node, validate=True)
    except binascii.Error as error:
        raise DataError(f"{where} must be bytes in base64: {error}") from error
    raise _refused(schema, node, where)


def _array(schema: Schema, node: Any, where: str) -> list[Any]:
    if not isinstance(node, list) or schema.value_schema is None:
        raise _refused(schema, node, where)
    items = schema.value_schema
    return [value_of(items, each, f"{where}[{number}]") for number, each in enumerate(node)]


def _map(schema: Schema, node: Any, where: str) -> dict[Any, Any]:
    """From an object; or from pairs, if the keys are not strings."""
    keys, values = schema.key_schema, schema.value_schema
    if keys is None or values is None:
        raise _refused(schema, node, where)
    if isinstance(node, dict) and keys.type is SchemaType.STRING:
        return {key: value_of(values, each, f"{where}.{key}") for key, each in node.items()}
    if isinstance(node, list) and all(isinstance(each, list) and len(each) == 2 for each in node):
        return {
            value_of(keys, key, f"{where}, a key"): value_of(values, each, f"{where}[{key}]")
            for key, each in node
        }
    raise _refused(schema, node, where)


def _struct(schema: Schema, node: Any, where: str) -> Struct:
    if not isinstance(node, dict):
        raise _refused(schema, node, where)
    known = {field.name for field in schema.fields}
    if unknown := sorted(node.keys() - known):
        fields = ", ".join(field.name for field in schema.fields)
        raise DataError(f"{where} has no field {unknown[0]}; there are: {fields}")
    if is_union(schema) and sum(each is not None for each in node.values()) != 1:
        fields = ", ".join(field.name for field in schema.fields)
        raise DataError(f"{where} is a union; it must have one of {fields}")
    values: dict[str, Any] = {}
    for field in schema.fields:
        inner = field.schema
        if field.name in node:
            values[field.name] = value_of(inner, node[field.name], f"{where}.{field.name}")
        elif inner.default is not None or inner.optional:
            values[field.name] = inner.default
        else:
            raise DataError(f"{where}.{field.name} is missing; it must be {_named(inner)}")
    return Struct(schema, values)


_READERS: Final[Mapping[SchemaType, Callable[[Schema, Any, str], Any]]] = {
    SchemaType.BOOLEAN: _boolean,
    SchemaType.FLOAT32: _float,
    SchemaType.FLOAT64: _float,
    SchemaType.STRING: _string,
    SchemaType.BYTES: _bytes,
    SchemaType.ARRAY: _array,
    SchemaType.MAP: _map,
    SchemaType.STRUCT: _struct,
}
