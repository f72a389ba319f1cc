"""Connect's data types: Schema, Field and the logical types, as frozen values.

Python values of each type: int, float, bool, str, bytes, list (array), dict (map),
Struct; Decimal is decimal.Decimal, and Date, Time and Timestamp are the plain integers that
Connect encodes them with (days, milliseconds of the day, milliseconds since the epoch).
"""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final


class SchemaType(StrEnum):
    """Connect's types; the value is the name JsonConverter writes."""

    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT32 = "float"
    FLOAT64 = "double"
    BOOLEAN = "boolean"
    STRING = "string"
    BYTES = "bytes"
    ARRAY = "array"
    MAP = "map"
    STRUCT = "struct"


DECIMAL: Final = "org.apache.kafka.connect.data.Decimal"
DATE: Final = "org.apache.kafka.connect.data.Date"
TIME: Final = "org.apache.kafka.connect.data.Time"
TIMESTAMP: Final = "org.apache.kafka.connect.data.Timestamp"
#: Confluent's parameter for the number of digits of a Decimal.
PRECISION: Final = "connect.decimal.precision"
_MOMENTS: Final = {
    DATE: SchemaType.INT32,
    TIME: SchemaType.INT32,
    TIMESTAMP: SchemaType.INT64,
}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a struct."""

    name: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class Schema:
    """The type of a value. Equal schemas are interchangeable; usable as a dictionary key."""

    type: SchemaType
    optional: bool = False
    name: str | None = None
    version: int | None = None
    doc: str | None = None
    parameters: tuple[tuple[str, str], ...] = ()
    default: Any = field(default=None, hash=False)
    fields: tuple[Field, ...] = ()
    key_schema: Schema | None = None
    value_schema: Schema | None = None

    def field(self, name: str) -> Field | None:
        """The field of that name, or None."""
        return next((each for each in self.fields if each.name == name), None)

    def parameter(self, name: str) -> str | None:
        return dict(self.parameters).get(name)

    def as_optional(self) -> Schema:
        return replace(self, optional=True)

    def with_fields(self, *fields: Field) -> Schema:
        return replace(self, fields=tuple(fields))

    @property
    def is_decimal(self) -> bool:
        return self.name == DECIMAL and self.type is SchemaType.BYTES

    @property
    def is_moment(self) -> bool:
        """Whether it is a Date, Time or Timestamp. The name alone is not enough: Cast keeps it."""
        return self.name is not None and _MOMENTS.get(self.name) is self.type

    @property
    def scale(self) -> int:
        """The scale of a Decimal."""
        return int(self.parameter("scale") or 0)


def decimal_schema(scale: int, *, optional: bool = False, precision: int | None = None) -> Schema:
    """Connect's Decimal: a number with a fixed scale, of any size without a precision."""
    digits = () if precision is None else ((PRECISION, str(precision)),)
    return Schema(
        SchemaType.BYTES,
        name=DECIMAL,
        version=1,
        parameters=(("scale", str(scale)), *digits),
        optional=optional,
    )


def date_schema(*, optional: bool = False) -> Schema:
    return Schema(SchemaType.INT32, name=DATE, version=1, optional=optional)


def time_schema(*, optional: bool = False) -> Schema:
    return Schema(SchemaType.INT32, name=TIME, version=1, optional=optional)


def timestamp_schema(*, optional: bool = False) -> Schema:
    return Schema(SchemaType.INT64, name=TIMESTAMP, version=1, optional=optional)


def struct_schema(
    *fields: Field, name: str | None = None, version: int | None = None, optional: bool = False
) -> Schema:
    return Schema(SchemaType.STRUCT, name=name, version=version, optional=optional, fields=fields)


STRING_SCHEMA: Final = Schema(SchemaType.STRING)
OPTIONAL_STRING_SCHEMA: Final = Schema(SchemaType.STRING, optional=True)
OPTIONAL_BYTES_SCHEMA: Final = Schema(SchemaType.BYTES, optional=True)


@dataclass(frozen=True, slots=True)
class Struct:
    """A value of a struct schema. It reads as a mapping: `{**struct, "more": 1}` is a dict."""

    schema: Schema
    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __contains__(self, name: object) -> bool:
        return name in self.values

    def keys(self) -> KeysView[str]:
        return self.values.keys()

    def get(self, name: str, default: Any = None) -> Any:
        return self.values.get(name, default)
