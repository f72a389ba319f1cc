from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from penstock.kernel.data.schema import (
    STRING_SCHEMA,
    Field,
    Schema,
    SchemaType,
    Struct,
    date_schema,
    decimal_schema,
    struct_schema,
    time_schema,
    timestamp_schema,
)
from penstock.kernel.errors import DataError
from penstock.tools.broker.strict_json import value_of

INT = Schema(SchemaType.INT32)
ORDER = struct_schema(
    Field("id", INT),
    Field("note", Schema(SchemaType.STRING, optional=True)),
    Field("size", Schema(SchemaType.INT64, default=7)),
    name="Order",
)


@pytest.mark.parametrize(
    ("schema", "node", "value"),
    [
        (INT, 5, 5),
        (Schema(SchemaType.INT8), -128, -128),
        (Schema(SchemaType.FLOAT64), 5, 5.0),
        (Schema(SchemaType.FLOAT64), Decimal("1.5"), 1.5),
        (Schema(SchemaType.BOOLEAN), True, True),
        (STRING_SCHEMA, "x", "x"),
        (Schema(SchemaType.BYTES), "YWI=", b"ab"),
        (Schema(SchemaType.STRING, optional=True), None, None),
        (decimal_schema(2), Decimal("1.1"), Decimal("1.10")),
        (decimal_schema(2), "7", Decimal("7.00")),
        (timestamp_schema(), "2023-11-14T22:13:20Z", 1_700_000_000_000),
        (timestamp_schema(), 5, 5),
        (date_schema(), "1970-01-03", 2),
        (Schema(SchemaType.ARRAY, value_schema=INT), [1, 2], [1, 2]),
        (Schema(SchemaType.MAP, key_schema=STRING_SCHEMA, value_schema=INT), {"a": 1}, {"a": 1}),
        (Schema(SchemaType.MAP, key_schema=INT, value_schema=INT), [[1, 2]], {1: 2}),
        (ORDER, {"id": 1}, Struct(ORDER, {"id": 1, "note": None, "size": 7})),
    ],
)
def test_values_that_fit(schema: Schema, node: Any, value: Any) -> None:
    assert value_of(schema, node) == value


@pytest.mark.parametrize(
    ("schema", "node", "problem"),
    [
        (INT, "5", "value must be int32, not '5'"),
        (INT, 2**31, "value must be int32, not 2147483648"),
        (INT, True, "value must be int32"),
        (INT, Decimal("1.5"), "value must be int32"),
        (INT, None, "value is null, but must be int32"),
        (STRING_SCHEMA, 5, "value must be string"),
        (Schema(SchemaType.BOOLEAN), 1, "value must be boolean"),
        (Schema(SchemaType.FLOAT32), "1", "value must be float"),
        (Schema(SchemaType.BYTES), "?", "value must be bytes in base64"),
        (decimal_schema(1), Decimal("1.25"), "more than 1 digits after the point"),
        (decimal_schema(1), "much", "value must be bytes"),
        (time_schema(), "2023-11-14T22:13:20Z", "value must be int32"),
        (date_schema(), "2023-11-14T22:13:20Z", "value must be int32"),
        (timestamp_schema(), "noon", "'noon' is not a time"),
        (Schema(SchemaType.ARRAY, value_schema=INT), [1, "x"], r"value\[1\] must be int32"),
        (ORDER, {"id": 1, "sise": 2}, "value has no field sise; there are: id, note, size"),
        (ORDER, {"note": "x"}, "value.id is missing; it must be int32"),
        (ORDER, {"id": 1, "note": 2}, "value.note must be string"),
        (ORDER, [1], r"value must be struct \(Order\)"),
    ],
)
def test_values_that_do_not_fit_are_named(schema: Schema, node: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        value_of(schema, node)
