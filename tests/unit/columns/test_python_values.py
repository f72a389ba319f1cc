"""Python values of every schema: out of an Arrow array, and into one again."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from penstock.columns.python_values import python_type, reader, writer
from penstock.kernel.data.schema import (
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

INT = Schema(SchemaType.INT32)
TEXT = Schema(SchemaType.STRING, optional=True)
INNER = struct_schema(Field("n", INT), Field("t", TEXT))
ARRAY = Schema(SchemaType.ARRAY, value_schema=TEXT)
MAP = Schema(SchemaType.MAP, key_schema=INT, value_schema=INNER)


def array_of(schema: Schema, value: Any) -> pa.Array:
    return pa.array([writer(schema, "value")(value)], python_type(schema))


@pytest.mark.parametrize(
    ("schema", "value", "in_flight"),
    [
        (Schema(SchemaType.INT8), -128, -128),
        (Schema(SchemaType.INT64), 2**63 - 1, 2**63 - 1),
        (Schema(SchemaType.FLOAT32), 0.5, 0.5),
        (Schema(SchemaType.BOOLEAN), True, True),
        (Schema(SchemaType.STRING), "ä\U0001f680", "ä\U0001f680"),
        (Schema(SchemaType.BYTES), b"\x00\xff", b"\x00\xff"),
        (decimal_schema(2), Decimal("-1.50"), Decimal("-1.50")),
        (date_schema(), date(1969, 12, 31), -1),
        (date_schema(), 10_000_000, 10_000_000),
        (time_schema(), time(23, 59, 59, 999_000), 86_399_999),
        (time_schema(), -5, -5),
        (timestamp_schema(), datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC), -1),
        (timestamp_schema(), 2**62, 2**62),
        (ARRAY, ["a", None], ["a", None]),
        (INNER, Struct(INNER, {"n": 1, "t": None}), {"n": 1, "t": None}),
        (MAP, {7: Struct(INNER, {"n": 1, "t": "x"})}, [(7, {"n": 1, "t": "x"})]),
        (INT, None, None),
        (None, {"a": [1, None]}, {"a": [1, None]}),
    ],
)
def test_there_and_back(schema: Schema | None, value: Any, in_flight: Any) -> None:
    data = pa.array([writer(schema, "value")(value)], python_type(schema))
    if schema is not None:
        assert data.to_pylist() == [in_flight]
    assert reader(schema)(data.to_pylist()[0]) == value


@pytest.mark.parametrize(
    ("schema", "value", "in_flight"),
    [
        (Schema(SchemaType.FLOAT64), 3, 3.0),
        (Schema(SchemaType.BYTES), bytearray(b"x"), b"x"),
        (decimal_schema(2), 7, Decimal("7.00")),
        (INNER, {"n": 1}, {"n": 1, "t": None}),
        (ARRAY, ("a",), ["a"]),
        (
            timestamp_schema(),
            datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
            0,
        ),
    ],
)
def test_what_fits_too(schema: Schema, value: Any, in_flight: Any) -> None:
    assert array_of(schema, value).to_pylist() == [in_flight]


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        (INT, "1", "value: a str does not fit int32"),
        (INT, True, "value: a bool does not fit int32"),
        (INT, 2**31, "value: 2147483648 is out of the range of int32"),
        (TEXT, b"x", "value: a bytes does not fit string"),
        (TEXT, "\ud800", "value: a text with half a character (a lone surrogate)"),
        (Schema(SchemaType.FLOAT64), False, "value: a bool does not fit double"),
        (
            decimal_schema(1),
            Decimal("1.25"),
            "value: 1.25 is not a Decimal of scale 1 and at most 38 digits",
        ),
        (decimal_schema(1), 1.5, "value: a float does not fit Decimal"),
        (date_schema(), datetime(2024, 1, 1, tzinfo=UTC), "value: a datetime does not fit int32"),
        (timestamp_schema(), datetime(2024, 1, 1), "value: a datetime without a time zone"),  # noqa: DTZ001
        (INNER, {"t": "x"}, "value.n: null, but it is not optional"),
        (INNER, {"n": 1, "more": 2},
            "value: its schema has no field more; schemas() must return one that has"),
        (INNER, [1], "value: a list does not fit struct"),
        (ARRAY, "abc", "value: a str does not fit array"),
        (MAP, {1: {"n": "x"}}, "value{}.n: a str does not fit int32"),
        (MAP, {"1": {"n": 1}}, "value (a key): a str does not fit int32"),
    ],
)  # fmt: skip
def test_what_does_not_fit(schema: Schema, value: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        writer(schema, "value")(value)
    assert str(caught.value) == message


def test_a_struct_reads_as_a_mapping() -> None:
    struct = Struct(INNER, {"n": 1, "t": None})
    assert {**struct, "more": 2} == {"n": 1, "t": None, "more": 2}
    assert "n" in struct
    assert struct.get("none", 5) == 5
