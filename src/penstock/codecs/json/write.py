"""Connect data as JSON text, one value at a time: exactly the characters Jackson writes."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from penstock.kernel.data.schema import DATE, TIME, TIMESTAMP, Schema, SchemaType, Struct
from penstock.kernel.errors import DataError
from penstock.kernel.java.numbers import double_text, float_text
from penstock.kernel.java.to_string import MILLIS_OF_DAY, boolean_text, decimal_text

NULL_FOR_REQUIRED: Final = (
    "Conversion error: null value for field that is required and has no default value"
)
NOT_A_TIME: Final = (
    "Kafka Connect Time type should not have any date fields set to non-zero values."
)

_INTEGERS: Final = {
    SchemaType.INT8: 8,
    SchemaType.INT16: 16,
    SchemaType.INT32: 32,
    SchemaType.INT64: 64,
}
_SHORT_ESCAPES: Final = {
    '"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r",
}  # fmt: skip
_ESCAPED: Final = re.compile(r'["\\\x00-\x1f\U00010000-\U0010ffff]')
_JAVA_CLASSES: Final[dict[type, str]] = {
    bool: "java.lang.Boolean",
    str: "java.lang.String",
    float: "java.lang.Double",
    bytes: "[B",
    list: "java.util.ArrayList",
    dict: "java.util.HashMap",
    Decimal: "java.math.BigDecimal",
    Struct: "org.apache.kafka.connect.data.Struct",
}


def quoted(text: str) -> str:
    """A JSON string. Characters beyond the first plane are escaped, as Jackson's bytes have it."""
    return f'"{_ESCAPED.sub(_escape, text)}"'


def unscaled_bytes(value: Decimal, scale: int) -> bytes:
    """The fewest bytes of two's complement that hold a decimal's digits: BigInteger's form.

    Raises:
        DataError: the value has another scale.
    """
    sign, digits, exponent = value.as_tuple()
    if exponent != -scale:
        raise DataError(
            "Decimal value has mismatching scale for given Decimal schema."
            f" Schema has scale {scale}, value has scale {-int(exponent)}."
        )
    number = int("".join(map(str, digits)))
    number = -number if sign else number
    size = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return number.to_bytes(size, "big", signed=True)


class JsonWriter:
    """Writes the payload of a record. `decimal_numbers`: Decimals as numbers, not as base64."""

    def __init__(self, *, decimal_numbers: bool, replace_null: bool) -> None:
        self._decimal_numbers = decimal_numbers
        self._replace_null = replace_null

    def text(self, schema: Schema | None, value: Any) -> str:
        """The JSON of a value.

        Raises:
            DataError: the value does not fit the schema.
        """
        if value is None:
            return self._null(schema)
        if schema is None:
            return self._without_schema(value)
        if schema.is_decimal:
            return self._decimal(schema, value)
        return self._by_type(schema, value)

    def _by_type(self, schema: Schema, value: Any) -> str:
        match schema.type:
            case SchemaType.ARRAY if isinstance(value, list | tuple):
                return self._array(schema.value_schema, value)
            case SchemaType.MAP if isinstance(value, Mapping):
                return self._map(schema, value)
            case SchemaType.STRUCT:
                return self.struct_text(schema, value)
        return _integer(schema, value) if schema.type in _INTEGERS else _scalar(schema, value)

    def _null(self, schema: Schema | None) -> str:
        if schema is not None and schema.default is not None and self._replace_null:
            return self.text(schema, schema.default)
        if schema is None or schema.optional:
            return "null"
        raise DataError(NULL_FOR_REQUIRED)

    def _without_schema(self, value: Any) -> str:
        if to_text := _PLAIN.get(type(value)):
            return to_text(value)
        match value:
            case list() | tuple():
                return self._array(None, value)
            case Mapping():
                objects = all(isinstance(key, str) for key in value)
                return self._entries(value, None, None, objects=objects)
            case Struct():
                raise DataError("Mismatching schema.")
        raise DataError(f"Java class {java_class(value)} does not have corresponding schema type.")

    def _decimal(self, schema: Schema, value: Any) -> str:
        if not isinstance(value, Decimal):
            found = java_class(value)
            raise DataError(f"Invalid type for Decimal, expected BigDecimal but was {found}")
        if self._decimal_numbers:
            return decimal_text(value)
        return _base64(unscaled_bytes(value, schema.scale))

    def _array(self, items: Schema | None, value: Any) -> str:
        return f"[{','.join(self.text(items, item) for item in value)}]"

    def _map(self, schema: Schema, value: Mapping[Any, Any]) -> str:
        keys = schema.key_schema
        objects = self.is_object(schema)
        return self._entries(value, keys, schema.value_schema, objects=objects)

    def _entries(
        self,
        value: Mapping[Any, Any],
        keys: Schema | None,
        values: Schema | None,
        *,
        objects: bool,
    ) -> str:
        pairs = [(self.text(keys, key), self.text(values, item)) for key, item in value.items()]
        if objects:
            return f"{{{','.join(f'{key}:{item}' for key, item in pairs)}}}"
        return f"[{','.join(self.pair_text(key, item) for key, item in pairs)}]"

    def is_object(self, schema: Schema) -> bool:
        """Whether a map is written as an object; else it is an array of pairs."""
        return schema.key_schema is not None and schema.key_schema.type is SchemaType.STRING

    def pair_text(self, key: str, value: str) -> str:
        """An entry of a map that is not a JSON object."""
        return f"[{key},{value}]"

    def struct_text(self, schema: Schema, value: Any) -> str:
        if not isinstance(value, Struct):
            raise mismatch(schema, value)
        if value.schema != schema:
            raise DataError("Mismatching schema.")
        members = (
            f"{quoted(field.name)}:{self.text(field.schema, value.values.get(field.name))}"
            for field in schema.fields
        )
        return f"{{{','.join(members)}}}"


def java_class(value: Any) -> str:
    """Java's name of the class of such a value."""
    if isinstance(value, int) and not isinstance(value, bool):
        wide = not -(2**31) <= value < 2**31
        return f"class java.lang.{'Long' if wide else 'Integer'}"
    return f"class {_JAVA_CLASSES.get(type(value), type(value).__qualname__)}"


def mismatch(schema: Schema, value: Any) -> DataError:
    """The error for a value of another type than its schema says."""
    return DataError(f"Invalid type for {schema.type.name}: {java_class(value)}")


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    if short := _SHORT_ESCAPES.get(character):
        return short
    units = character.encode("utf-16-be").hex().upper()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _integer(schema: Schema, value: Any) -> str:
    half = 1 << (_INTEGERS[schema.type] - 1)
    if isinstance(value, bool) or not isinstance(value, int) or not -half <= value < half:
        if schema.name in (DATE, TIME, TIMESTAMP):
            name = schema.name.rpartition(".")[2]
            raise DataError(f"Invalid type for {name}, expected Date but was {java_class(value)}")
        raise mismatch(schema, value)
    if schema.name == TIME and not 0 <= value <= MILLIS_OF_DAY:
        raise DataError(NOT_A_TIME)
    return str(value)


def _scalar(schema: Schema, value: Any) -> str:
    match schema.type, value:
        case SchemaType.BOOLEAN, bool():
            return boolean_text(value)
        case SchemaType.FLOAT32, float():
            return _number_text(float_text(value))
        case SchemaType.FLOAT64, float():
            return _number_text(double_text(value))
        case SchemaType.STRING, str():
            return quoted(value)
        case SchemaType.BYTES, bytes():
            return _base64(value)
        case SchemaType.BYTES, _:
            raise DataError(f"Invalid type for bytes type: {java_class(value)}")
    raise mismatch(schema, value)


def _number_text(text: str) -> str:
    return f'"{text}"' if text[-1] in "Ny" else text  # NaN and the infinities are quoted


def _base64(value: bytes) -> str:
    return f'"{base64.b64encode(value).decode()}"'


_PLAIN: Final[Mapping[type, Callable[[Any], str]]] = {
    bool: boolean_text,
    int: str,
    float: lambda value: _number_text(double_text(value)),
    str: quoted,
    bytes: _base64,
}
