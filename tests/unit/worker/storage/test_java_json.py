from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.java.numbers import double_text
from penstock.worker.storage.java_json import canonical, decode, encode

# Written by Apache Kafka Connect's JsonConverter 4.1.1 with schemas.enable=false.
GOLDEN = [
    ("plain", '"plain"'),
    ("ä€\u2028", '"ä€\u2028"'),
    ("🚀x", r'"\uD83D\uDE80x"'),
    ('a"b\\c/d', r'"a\"b\\c/d"'),
    ("\b\t\n\f\r\x00\x1f\x7f", '"\\b\\t\\n\\f\\r\\u0000\\u001F\x7f"'),
    (1, "1"),
    (-5, "-5"),
    (9223372036854775807, "9223372036854775807"),
    (1.0, "1.0"),
    (1e10, "1.0E10"),
    (1.0e-5, "1.0E-5"),
    (0.001, "0.001"),
    (1234567.0, "1234567.0"),
    (12345678.0, "1.2345678E7"),
    (-0.0, "-0.0"),
    (99999999999.0, "9.9999999999E10"),
    (9.999e22, "9.999E22"),
    (3.14, "3.14"),
    (100.0, "100.0"),
    (0.1, "0.1"),
    (123456.789, "123456.789"),
    (1.7976931348623157e308, "1.7976931348623157E308"),
    (5e-324, "4.9E-324"),
    (math.nan, '"NaN"'),
    (math.inf, '"Infinity"'),
    (True, "true"),
    (b"\x01\x02\xff\x00", '"AQL/AA=="'),
    (["n", {"f": 1}], '["n",{"f":1}]'),
    ({}, "{}"),
    ({1: "x"}, '[[1,"x"]]'),
    (["con", {"z": 1, "a": None, "é": [1, 2.5]}], '["con",{"z":1,"a":null,"é":[1,2.5]}]'),
]


@pytest.mark.parametrize(("value", "text"), GOLDEN)
def test_the_bytes_are_connect_s(value: object, text: str) -> None:
    assert encode(value).decode() == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_read_back(number: float) -> None:
    assert float(double_text(number)) == number


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(json_values)
def test_everything_reads_back(value: object) -> None:
    assert decode(encode(value)) == value


def test_one_canonical_text_for_all_orders() -> None:
    assert canonical({"b": 1, "a": [1]}) == canonical({"a": [1], "b": 1})
    assert canonical({"a": 1}) != canonical({"a": 1.0})
    assert canonical({"a": 1}) != canonical({"a": "1"})
    assert json.loads(canonical({"a": b"x"})) == {"a": "eA=="}


def test_what_json_can_not_hold_is_refused() -> None:
    with pytest.raises(TypeError, match="set"):
        encode({"a": {1}})
