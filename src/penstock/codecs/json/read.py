"""Parsed JSON as Connect data, one value at a time: what JsonConverter makes of each node.

Java is lenient in its own way: a number of the wrong size keeps its low bits, and a node of the
wrong kind reads as zero, false or null. All of that is kept, and the texts of its errors.
"""

from __future__ import annotations

import binascii
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from penstock.codecs.json.document import MISSING, kind
from penstock.kernel.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema, SchemaType, Struct
from penstock.kernel.errors import DataError
from penstock.kernel.java.numbers import to_float32
from penstock.kernel.java.to_string import MILLIS_OF_DAY

Read = Callable[[Any], Any]
MakeStruct = Callable[[Schema, dict[str, Any]], Any]

_BITS: Final = {
    SchemaType.INT8: 8,
    SchemaType.INT16: 16,
    SchemaType.INT32: 32,
    SchemaType.INT64: 64,
}
_SPACE: Final = "".join(map(chr, range(33)))
_GROUP: Final = re.compile(r"[\x00-\x20]*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)")
#: Schemas whose reader can give null for a node that is not null.
_MAY_BE_NULL: Final = frozenset({SchemaType.STRING, SchemaType.BYTES})


def wrapped(number: int, bits: int) -> int:
    """The low bits of a number as a signed integer, as Java's casts give it."""
    half = 1 << (bits - 1)
    return number if -half <= number < half else (number + half) % (1 << bits) - half


class JsonReader:
    """Makes functions from nodes to values.

    Args:
        replace_null: whether null becomes the default of its schema.
        make_struct: what a struct is made with; the default is Struct.
    """

    def __init__(self, *, replace_null: bool, make_struct: MakeStruct = Struct) -> None:
        self._replace_null = replace_null
        self._make_struct = make_struct

    @staticmethod
    def is_foreign(schema: Schema) -> bool:
        """Whether Arrow's reader can't read such data."""
        return schema.type is SchemaType.MAP

    def compile(self, schema: Schema | None) -> Read:
        """A function that reads nodes of a schema; it raises DataError for what does not fit."""
        if schema is None:
            return read_without_schema
        inner = self._inner(schema)
        name = schema.type.name
        has_default = schema.default is not None and self._replace_null
        default = self.default_of(schema)

        def read(node: Any) -> Any:
            if node is not None and node is not MISSING:
                return inner(node)
            if has_default or schema.optional:
                return default
            raise DataError(f"Invalid null value for required {name} field")

        return read

    def with_default(self, schema: Schema, node: Any) -> Schema:
        """The schema with the default that a node gives.

        Raises:
            DataError: the default does not fit the schema.
        """
        value = self.compile(schema)(node)
        try:
            if schema.type is SchemaType.STRUCT and value is not None:
                # Java compares the struct's schema with the builder that is still at work.
                raise DataError("Struct schemas do not match.")
            _validate(schema, value, "value")
        except DataError as error:
            raise DataError("Invalid default value") from error
        return replace(schema, default=value)

    def default_of(self, schema: Schema) -> Any:
        """The value that replaces null, if there is one."""
        return self._prepared(schema.default) if self._replace_null else None

    def _prepared(self, value: Any) -> Any:
        """A default with its structs made our way."""
        if isinstance(value, Struct):
            members = {name: self._prepared(each) for name, each in value.values.items()}
            return self._make_struct(value.schema, members)
        if isinstance(value, list):
            return [self._prepared(each) for each in value]
        if isinstance(value, Mapping):
            return {key: self._prepared(each) for key, each in value.items()}
        return value

    def _inner(self, schema: Schema) -> Read:
        if logical := _LOGICAL.get(schema.name or ""):
            return logical(schema)
        if bits := _BITS.get(schema.type):
            return lambda node: wrapped(_integer(node), bits)
        match schema.type:
            case SchemaType.ARRAY:
                return self._array(schema)
            case SchemaType.MAP:
                return self.map_reader(schema)
            case SchemaType.STRUCT:
                return self.struct_reader(schema)
        return _SCALARS[schema.type]

    def _array(self, schema: Schema) -> Read:
        read = self.compile(schema.value_schema)

        def read_array(node: Any) -> list[Any]:
            if isinstance(node, dict):
                return [read(item) for item in node.values()]
            return [read(item) for item in node] if isinstance(node, list) else []

        return read_array

    def map_reader(self, schema: Schema) -> Read:
        read_key, read_value = self.compile(schema.key_schema), self.compile(schema.value_schema)

        def read_object(node: Any) -> dict[Any, Any]:
            if not isinstance(node, dict):
                text = "Maps with string fields should be encoded as JSON objects, but found "
                raise DataError(text + kind(node))
            return {key: read_value(item) for key, item in node.items()}

        def read_pairs(node: Any) -> dict[Any, Any]:
            if not isinstance(node, list):
                text = "Maps with non-string fields should be encoded as JSON array of tuples,"
                raise DataError(f"{text} but found {kind(node)}")
            return {hashable(read_key(key)): read_value(item) for key, item in map(_pair, node)}

        keys = schema.key_schema
        return read_object if keys and keys.type is SchemaType.STRING else read_pairs

    def struct_reader(self, schema: Schema) -> Read:
        readers = [(each.name, self._member(each.name, each.schema)) for each in schema.fields]
        make = self._make_struct

        def read_struct(node: Any) -> Any:
            if not isinstance(node, dict):
                text = "Structs should be encoded as JSON objects, but found "
                raise DataError(text + kind(node))
            return make(schema, {name: read(node.get(name)) for name, read in readers})

        return read_struct

    def _member(self, name: str, schema: Schema) -> Read:
        read = self.compile(schema)
        if not _needs_validation(schema):
            return read

        def read_member(node: Any) -> Any:
            value = read(node)
            _validate(schema, value, f'field: "{name}"')
            return value

        return read_member


def read_without_schema(node: Any) -> Any:
    """A node as schemaless data: whole numbers are 64 bits wide, others doubles."""
    match node:
        case bool() | str() | None:
            return node
        case int():
            return wrapped(node, 64)
        case Decimal():
            return float(node)
        case list():
            return [read_without_schema(item) for item in node]
        case dict():
            return {key: read_without_schema(item) for key, item in node.items()}
    return None


def decode_base64(text: str) -> bytes:
    """Base64 as Jackson reads it: padded groups, with white space before each of them.

    Raises:
        ValueError: it is not base64.
    """
    groups = _GROUP.findall(text)
    if sum(map(len, groups)) != len(text.rstrip(_SPACE)):
        raise ValueError(f"not base64: {text}")
    return b"".join(binascii.a2b_base64(group.lstrip(_SPACE)) for group in groups)


def _pair(node: Any) -> list[Any]:
    if not isinstance(node, list):
        raise DataError(f"Found invalid map entry instead of array tuple: {kind(node)}")
    if len(node) != 2:
        raise DataError(f"Found invalid map entry, expected length 2 but found :{len(node)}")
    return node


def hashable(key: Any) -> Any:
    """A key of a map, as a dictionary takes it."""
    if isinstance(key, Struct):
        raise DataError("A map whose keys are structs can only be held in columns")
    return tuple(map(hashable, key)) if isinstance(key, list) else key


def _integer(node: Any) -> int:
    if type(node) is int:
        return node
    if not isinstance(node, Decimal):
        return 0
    exponent = node.as_tuple().exponent
    # Beyond 10^64 the low 64 bits are all zero; Java does not compute them either.
    return int(node) if isinstance(exponent, int) and exponent < 64 else 0


def _double(node: Any) -> float:
    if type(node) not in (int, Decimal) or not node:
        return 0.0  # also for -0.0: Java's decimals have no negative zero
    try:
        return float(node)
    except OverflowError:
        return math.inf if node > 0 else -math.inf


def _single(node: Any) -> float:
    """The nearest single precision number, rounded once from all the digits."""
    wide = _double(node)
    near = to_float32(wide)
    if type(node) not in (int, Decimal) or math.isinf(near) or math.isinf(wide) or node == wide:
        return near
    up, down = math.nextafter(wide, math.inf), math.nextafter(wide, -math.inf)
    if to_float32(up) == to_float32(down):
        return near
    return to_float32(up if node > Decimal(wide) else down)


def _string(node: Any) -> str | None:
    return node if isinstance(node, str) else None


def _bytes(node: Any) -> bytes | None:
    if not isinstance(node, str):
        return None
    try:
        return decode_base64(node)
    except ValueError as error:
        raise DataError("Invalid bytes field") from error


_SCALARS: Final[Mapping[SchemaType, Read]] = {
    SchemaType.BOOLEAN: lambda node: node is True,
    SchemaType.FLOAT32: _single,
    SchemaType.FLOAT64: _double,
    SchemaType.STRING: _string,
    SchemaType.BYTES: _bytes,
}


def _decimal(schema: Schema) -> Read:
    def read(node: Any) -> Decimal:
        if type(node) in (int, Decimal):
            return Decimal(node)
        if not isinstance(node, str):
            text = "Invalid type for Decimal, underlying representation should be numeric or bytes"
            raise DataError(f"{text} but was {kind(node)}")
        try:
            return _unscaled(decode_base64(node), int(dict(schema.parameters)["scale"]))
        except (ValueError, KeyError) as error:
            raise DataError("Invalid bytes for Decimal field") from error

    return read


def _unscaled(raw: bytes, scale: int) -> Decimal:
    if not raw:
        raise ValueError("Zero length BigInteger")
    number = int.from_bytes(raw, "big", signed=True)
    return Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -scale))


def _whole(name: str) -> Callable[[Schema], Read]:
    def reader(schema: Schema) -> Read:  # noqa: ARG001 - one of _LOGICAL
        def read(node: Any) -> int:
            if type(node) is not int or wrapped(node, 32) != node:
                text = f"Invalid type for {name}, underlying representation should be integer"
                raise DataError(f"{text} but was {kind(node)}")
            return node

        return read if name == "Date" else lambda node: _time(read(node))

    return reader


def _time(millis: int) -> int:
    if not 0 <= millis <= MILLIS_OF_DAY:
        text = "Time values must use number of milliseconds greater than 0 and less than 86400000"
        raise DataError(text)
    return millis


def _timestamp(schema: Schema) -> Read:  # noqa: ARG001 - one of _LOGICAL
    def read(node: Any) -> int:
        if type(node) is not int:
            text = "Invalid type for Timestamp, underlying representation should be integral"
            raise DataError(f"{text} but was {kind(node)}")
        return wrapped(node, 64)

    return read


_LOGICAL: Final[Mapping[str, Callable[[Schema], Read]]] = {
    DECIMAL: _decimal,
    DATE: _whole("Date"),
    TIME: _whole("Time"),
    TIMESTAMP: _timestamp,
}


def _needs_validation(schema: Schema | None) -> bool:
    """Whether a null may have come where the schema forbids it."""
    if schema is None or schema.type is SchemaType.STRUCT:
        return False
    if schema.type in (SchemaType.ARRAY, SchemaType.MAP):
        return _needs_validation(schema.key_schema) or _needs_validation(schema.value_schema)
    return schema.type in _MAY_BE_NULL and not schema.optional


def _validate(schema: Schema | None, value: Any, location: str) -> None:
    if schema is None:
        return
    if value is None:
        if not schema.optional:
            text = f"Invalid value: null used for required {location}"
            raise DataError(f"{text}, schema type: {schema.type.name}")
    elif isinstance(value, list):
        for item in value:
            _validate(schema.value_schema, item, f"element of array {location}")
    elif isinstance(value, dict) and schema.type is SchemaType.MAP:
        for key, item in value.items():
            _validate(schema.key_schema, key, f"key of map {location}")
            _validate(schema.value_schema, item, f"value of map {location}")
