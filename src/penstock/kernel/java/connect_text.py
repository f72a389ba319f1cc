"""The text of values, by the rules of Connect's Values class."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from penstock.kernel.data.schema import DATE, TIME, TIMESTAMP, Schema, SchemaType, Struct
from penstock.kernel.errors import DataError
from penstock.kernel.java.numbers import double_text, float_text
from penstock.kernel.java.to_string import (
    MILLIS_OF_DAY,
    civil_date,
    decimal_text,
)


def text_of(schema: Schema | None, value: Any) -> str:
    """The text of a value that is not null.

    Raises:
        DataError: Connect has no such type.
    """
    return _written(schema, value, embedded=False)


def _written(schema: Schema | None, value: Any, *, embedded: bool) -> str:
    if isinstance(value, Struct):
        return _struct_text(value)
    items = schema.value_schema if schema is not None else None
    match value:
        case list() | tuple():
            return f"[{','.join(_written(items, each, embedded=True) for each in value)}]"
        case Mapping():
            keys = schema.key_schema if schema is not None else None
            entries = (
                f"{_written(keys, key, embedded=True)}:{_written(items, each, embedded=True)}"
                for key, each in value.items()
            )
            return f"{{{','.join(entries)}}}"
        case str():
            return _quoted_if(embedded, value.replace("\\", "\\\\").replace('"', '\\"'), value)
        case bytes():
            text = base64.b64encode(value).decode()
            return _quoted_if(embedded, text, text)
    return _scalar_text(schema, value)


def _quoted_if(embedded: bool, escaped: str, plain: str) -> str:  # noqa: FBT001 - one caller
    return f'"{escaped}"' if embedded else plain


def _struct_text(value: Struct) -> str:
    members = (
        f"{_written(None, each.name, embedded=True)}:"
        f"{_written(each.schema, _or_default(value, each.name, each.schema), embedded=True)}"
        for each in value.schema.fields
    )
    return f"{{{','.join(members)}}}"


def _or_default(value: Struct, name: str, schema: Schema) -> Any:
    found = value.values.get(name)
    return schema.default if found is None else found


def _scalar_text(schema: Schema | None, value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Decimal():
            return decimal_text(value)
        case float():
            single = schema is not None and schema.type is SchemaType.FLOAT32
            return float_text(value) if single else double_text(value)
        case int():
            temporal = schema is not None and schema.name in (DATE, TIME, TIMESTAMP)
            return _moment_text(schema, value) if temporal else str(value)
    name = type(value).__qualname__
    raise DataError(f"Failed to serialize unexpected value type {name}: {value}")


def _moment_text(schema: Schema | None, value: int) -> str:
    """Java decides by the value, not its type: within 1 January 1970 a time, midnight a date."""
    millis = value * MILLIS_OF_DAY if schema is not None and schema.name == DATE else value
    days, rest = divmod(millis, MILLIS_OF_DAY)
    seconds, milli = divmod(rest, 1000)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{milli:03d}Z"
    if millis < MILLIS_OF_DAY:
        return clock
    year, month, day = civil_date(days)
    date = f"{year:04d}-{month:02d}-{day:02d}"
    return date if rest == 0 else f"{date}T{clock}"
