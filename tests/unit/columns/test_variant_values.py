"""VARIANT bytes, compared with pyspark's own reader and writer."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal, localcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import VariantVal

from penstock.columns.variant_values import read_variant, write_variant
from penstock.kernel.errors import DataError

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**37), 10**37)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=20,
)


def read_by_pyspark(data: dict[str, bytes]) -> Any:
    # It computes with the digits of the context, of which there are 28.
    with localcontext(prec=40):
        return VariantVal(data["value"], data["metadata"]).toPython()


@given(JSON)
def test_what_is_written_is_read(value: Any) -> None:
    data = write_variant(value, "value")
    assert read_variant(data["value"], data["metadata"]) == value
    assert read_by_pyspark(data) == value


@given(JSON)
def test_what_pyspark_writes_is_read(value: Any) -> None:
    data = VariantVal.parseJson(json.dumps(value))
    assert read_variant(data.value, data.metadata) == value


@pytest.mark.parametrize(
    "value",
    [
        {f"field {number}": number for number in range(300)},
        list(range(70_000)),
        {"long": "x" * 70_000, "z": [{"a": 1}, {"a": 2, "b": []}, {}]},
        b"\x00\xff",
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    ],
    ids=["many fields", "many items", "long text", "bytes", "moment"],
)
def test_sizes_and_types(value: Any) -> None:
    data = write_variant(value, "value")
    assert read_variant(data["value"], data["metadata"]) == value
    assert read_by_pyspark(data) == value


def test_numbers_with_a_fraction_are_floats() -> None:
    data = write_variant([Decimal("1.50"), Decimal("-0.001"), Decimal("1e3")], "value")
    assert read_variant(data["value"], data["metadata"]) == [1.5, -0.001, 1000]
    assert read_by_pyspark(data) == [Decimal("1.50"), Decimal("-0.001"), Decimal(1000)]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": {1: 2}}, "value.a: without a schema, the keys of a map are texts"),
        ({"a": [object()]}, "value.a[]: a object has no form without a schema"),
        (datetime(2024, 1, 1), "value: a datetime without a time zone"),  # noqa: DTZ001
        ("\ud800", "value: a text with half a character (a lone surrogate)"),
        (10**38, "value: a number of more than 38 digits"),
        (Decimal("NaN"), "value: NaN is not a number"),
        ("x" * (1 << 24), "value: more than 16 MiB of data without a schema"),
    ],
)
def test_what_has_no_form(value: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        write_variant(value, "value")
    assert str(caught.value) == message
