"""Opened maps against dicts: any changes, one after another, then closed or shown as text."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import pytest
from pyspark.sql import functions as F

from penstock.api.envelope import Part
from penstock.columns.java.to_string import java_text, opened_text
from penstock.columns.opened import (
    closed,
    member_of,
    new_map,
    only_members,
    opened,
    with_members,
    with_some_members,
    without_members,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

Map = dict[str, Any]
#: Also names that Spark has no path for.
NAMES: Final = ("a", "b", "c d", "e'f", "g.h", "ü")
ROWS: Final[list[Map | None]] = [
    {},
    {"a": 1},
    {"a": None, "b": "x", "c d": True},
    {"e'f": "quoted", "g.h": "dotted", "ü": "unicode"},
    {name: number for number, name in enumerate(NAMES)},
    {"other": {"inner": [1, 2]}, "b": False},
    None,
]


class Both:
    """An opened map, and what became of each row as a dict."""

    def __init__(self, part: Part, rows: list[Map | None]) -> None:
        self.part, self.rows = part, rows

    def put(self, name: str, chance: random.Random) -> None:
        """A constant, or a copy of another member; null if there is none."""
        other = chance.choice(NAMES)
        constant = chance.random() < 0.5
        value = F.lit("new").cast("variant") if constant else member_of(self.part, other)
        self.part = with_members(self.part, {name: value})
        self._each(lambda row: row | {name: "new" if constant else row.get(other)})

    def put_some(self, name: str, chance: random.Random) -> None:
        """Another member under this name; none if there is none."""
        other = chance.choice(NAMES)
        self.part = with_some_members(self.part, {name: member_of(self.part, other)})
        self._each(lambda row: _without(row, name) | ({name: row[other]} if other in row else {}))

    def take_out(self, name: str, chance: random.Random) -> None:
        names = {name, chance.choice(NAMES)}
        self.part = without_members(self.part, names)
        self._each(lambda row: _without(row, *names))

    def keep(self, name: str, chance: random.Random) -> None:
        names = {name, *chance.sample(NAMES, 3)}
        self.part = only_members(self.part, names)
        self._each(lambda row: {each: row[each] for each in row if each in names})

    def _each(self, change: Callable[[Map], Map]) -> None:
        self.rows = [None if row is None else change(row) for row in self.rows]


def _without(row: Map, *names: str) -> Map:
    return {name: row[name] for name in row if name not in names}


CHANGES: Final = (Both.put, Both.put_some, Both.take_out, Both.keep)


def results(spark: SparkSession, column: Column) -> list[Any]:
    texts = [(number, None if row is None else json.dumps(row)) for number, row in enumerate(ROWS)]
    frame = spark.createDataFrame(texts, "number int, text string")
    frame = frame.select("number", F.parse_json("text").alias("value"))
    rows = frame.select("number", column.alias("found")).collect()
    return [row.found for row in sorted(rows, key=lambda row: row.number)]


@pytest.mark.parametrize("seed", range(12))
def test_any_changes_give_what_they_give_a_dict(spark: SparkSession, seed: int) -> None:
    chance = random.Random(seed)
    both = Both(opened(Part(F.col("value"), None)), ROWS)
    for _ in range(1 + seed % 6):
        change = chance.choice(CHANGES)
        change(both, chance.choice(NAMES), chance)
    found = results(spark, F.to_json(closed(both.part).column))
    assert [None if text is None else json.loads(text) for text in found] == both.rows


def test_a_map_that_nothing_was_done_to_is_the_variant_itself() -> None:
    part = Part(F.col("value"), None)
    assert closed(opened(part)) == part


def test_a_new_map_has_nothing_but_its_members(spark: SparkSession) -> None:
    value = Part(F.col("value"), None)
    made = new_map(value.column.isNotNull(), {"copy": member_of(value, "a")})
    found = results(spark, F.to_json(closed(made).column))
    rows = [None if row is None else {"copy": row.get("a")} for row in ROWS]
    assert [None if text is None else json.loads(text) for text in found] == rows


def test_the_text_has_what_the_text_of_the_closed_map_has(spark: SparkSession) -> None:
    value = Part(F.col("value"), None)
    part = without_members(opened(value), ["a"])
    part = with_members(part, {"b": F.lit("sure").cast("variant"), "n": member_of(value, "none")})
    part = with_some_members(part, {"moved": member_of(value, "a")})
    assert part.opened is not None
    texts = results(spark, opened_text(part.column, part.opened))
    expected = results(spark, java_text(None, closed(part).column))
    assert list(map(_entries, texts)) == list(map(_entries, expected))
    assert texts[1] == "{b=sure, n=null, moved=1}"
    assert texts[-1] == "null"


def _entries(text: str) -> list[str]:
    return sorted(text[1:-1].split(", "))
