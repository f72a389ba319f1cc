"""Results of our converters and of Java's in one form, and where they differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Column, SparkSession

from penstock.api.converter import Converter, Layout
from penstock.codecs.json.document import UNREADABLE
from penstock.kernel.data.record import SchemaAndValue
from penstock.kernel.data.schema import Schema
from penstock.kernel.errors import DataError
from tests.spark.converters.bridge import told
from tests.spark.converters.generate import connect_value


def collected(
    spark: SparkSession, columns: Sequence[pa.Array], *made: Column
) -> Iterator[list[Any]]:
    """The rows that expressions over the columns c0, c1, ... give, one list for each.

    Many expressions in one job: a job costs far more than its rows.
    """
    names = [f"c{number}" for number in range(len(columns))]
    frame = spark.createDataFrame(pa.table(list(columns), names=names))
    rows = frame.select(*(each.alias(f"r{n}") for n, each in enumerate(made))).collect()
    for number in range(len(made)):
        yield [row[number] for row in rows]


def encoded_one(converter: Converter, schema: Schema | None, value: Any) -> dict[str, Any]:
    try:
        raw = converter.encode_one(schema, value)
    except DataError as error:
        return {"error": str(error)}
    return {"data": None if raw is None else raw.hex()}


def encoded_row(row: Any) -> dict[str, Any]:
    if row.error is not None:
        assert row.data is None
        return {"error": row.error}
    return {"data": None if row.data is None else bytes(row.data).hex()}


def decoded_one(converter: Converter, raw: bytes | None) -> dict[str, Any]:
    try:
        return told(converter.decode_one(raw))
    except DataError as error:
        return {"error": _shortened(str(error))}


def decoded_row(layout: Layout, row: Any) -> dict[str, Any]:
    if row.error is not None:
        assert row.data is None
        return {"error": _shortened(row.error)}
    assert layout.schema is not None
    return told(SchemaAndValue(layout.schema, connect_value(layout.schema, row.data)))


def expected(result: Mapping[str, Any]) -> dict[str, Any]:
    """Java's result; of its messages those that are Connect's own, not its libraries'."""
    if "error" not in result:
        return dict(result)
    return {"error": _shortened(result["error"][0])}


def _shortened(text: str) -> str:
    """Without what the JSON library says, and without the causes that ours has behind a colon."""
    if text.startswith(UNREADABLE):
        return UNREADABLE
    for known in (
        "Invalid bytes field",
        "Invalid bytes for Decimal field",
        "Invalid default value",
    ):
        if text.startswith(known):
            return known
    return text


def difference(ours: Any, java: Any, path: str = "") -> str:
    """Where two results differ first; empty if they do not."""
    if isinstance(ours, float) and isinstance(java, float):
        return "" if ours == pytest.approx(java, rel=1e-6) else f"{path}: {ours} for {java}"
    if _is_decimal(ours) and _is_decimal(java):
        return "" if _number(ours) == _number(java) else f"{path}: {ours} for {java}"
    if type(ours) is type(java) and isinstance(ours, dict) and list(ours) == list(java):
        return _first(difference(ours[name], java[name], f"{path}.{name}") for name in ours)
    if type(ours) is type(java) and isinstance(ours, list) and len(ours) == len(java):
        pairs = enumerate(zip(ours, java, strict=True))
        return _first(difference(one, two, f"{path}[{n}]") for n, (one, two) in pairs)
    return "" if ours == java else f"{path}: {ours!r:.300} for {java!r:.300}"


def _is_decimal(node: Any) -> bool:
    return isinstance(node, list) and len(node) == 3 and node[0] == "DECIMAL"


def _number(node: list[Any]) -> Fraction:
    """A number keeps its own scale in Java; in flight all have that of the schema."""
    return Fraction(int(node[1])) / Fraction(10) ** int(node[2])


def beyond_limits(ours: Mapping[str, Any]) -> bool:
    """Whether we refused a Decimal that Java's numbers of any size can hold."""
    return (
        "error" in ours
        and re.match(r"Decimal .* has more than \d+ digits", ours["error"]) is not None
    )


def text_difference(ours: Mapping[str, Any], java: Mapping[str, Any]) -> str:
    """As difference(), for JSON: numbers are compared by value.

    Java before 19 writes some floating point numbers with more digits than they need.
    """
    if ours == java or not (ours.get("data") and java.get("data")):
        return difference(ours, java)
    return difference(*(json.loads(bytes.fromhex(each["data"])) for each in (ours, java)))


def _first(differences: Iterator[str]) -> str:
    return next(filter(None, differences), "")
