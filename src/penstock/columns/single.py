"""Single Connect values through kernels that are made for whole columns."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from penstock.columns.types import arrow_type
from penstock.kernel.data.schema import Schema, SchemaType, Struct
from penstock.kernel.errors import DataError


def array_of(schema: Schema, values: list[Any]) -> pa.Array:
    """Values of a schema as an array.

    Raises:
        DataError: a value does not fit the schema.
    """
    try:
        return pa.array([plain(schema, each) for each in values], arrow_type(schema))
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"Invalid value for {schema.type.name}: {error}") from error


def only_row(result: pa.Array) -> Any:
    """The data of the only row of a struct<data, error>.

    Raises:
        DataError: the row's error.
    """
    row = result[0].as_py()
    if row["error"] is not None:
        raise DataError(row["error"])
    return row["data"]


def value_of(schema: Schema, value: Any) -> Any:
    """A value that Arrow gave, in the form of Connect's values."""
    if value is None:
        return None
    match schema.type:
        case SchemaType.STRUCT:
            inner = {each.name: value_of(each.schema, value[each.name]) for each in schema.fields}
            return Struct(schema, inner)
        case SchemaType.ARRAY if schema.value_schema is not None:
            return [value_of(schema.value_schema, each) for each in value]
        case SchemaType.MAP if schema.key_schema is not None and schema.value_schema is not None:
            keys, values = schema.key_schema, schema.value_schema
            try:
                return {value_of(keys, key): value_of(values, each) for key, each in value}
            except TypeError as error:
                text = "A map whose keys are structs or lists can only be held in columns"
                raise DataError(text) from error
    return value


def plain(schema: Schema, value: Any) -> Any:
    """A value in the form Arrow takes: structs as dictionaries, maps as pairs."""
    match value:
        case Struct():
            known = {each.name: each.schema for each in schema.fields}
            return {
                name: plain(known[name], each)
                for name, each in value.values.items()
                if name in known
            }
        case dict() if schema.key_schema is not None and schema.value_schema is not None:
            keys, values = schema.key_schema, schema.value_schema
            return [(plain(keys, key), plain(values, each)) for key, each in value.items()]
        case list() | tuple() if schema.value_schema is not None:
            return [plain(schema.value_schema, each) for each in value]
    return value
