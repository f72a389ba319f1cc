"""Letters: what their headers say, which are meant, which are alike."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.cli.dlq.letters import Letter, LetterFilter, Tally, error_kind
from penstock.kafka.clients import RawRecord

SINK = {
    "topic": "orders",
    "partition": "2",
    "offset": "33",
    "connector.name": "sink",
    "task.id": "0",
    "stage": "VALUE_CONVERTER",
    "class.name": "org.example.Converter",
    "exception.message": "field 'total' of record 33 is no number",
}


def letter(story: dict[str, str] | None = None, **more: Any) -> Letter:
    told = SINK if story is None else story
    headers = [("trace", b"abc"), ("empty", None)]
    headers += [(f"__connect.errors.{name}", text.encode()) for name, text in told.items()]
    place = {"topic": "dead", "partition": 0, "offset": 7, "timestamp": 1000} | more
    return Letter.of(
        RawRecord(**place, timestamp_type=1, key=b"k", value=b"v", headers=headers)  # type: ignore[arg-type]
    )


def test_what_a_letter_says() -> None:
    found = letter()
    assert (found.original_topic, found.original_partition, found.original_offset) == (
        "orders",
        2,
        33,
    )
    assert (found.connector, found.stage) == ("sink", "VALUE_CONVERTER")
    assert found.headers == (("trace", b"abc"), ("empty", None))
    assert not found.of_source
    assert found.place == "dead-0, offset 7"


def test_a_letter_of_a_source_has_no_place_in_kafka() -> None:
    found = letter(
        {name: text for name, text in SINK.items() if name not in ("partition", "offset")}
    )
    assert found.of_source
    assert found.original_topic == "orders"


def test_a_letter_without_a_story() -> None:
    found = letter({})
    assert not found.of_source
    assert (found.original_topic, found.original_offset, found.error) == ("", None, "")


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        (LetterFilter(), True),
        (LetterFilter(connector="sink"), True),
        (LetterFilter(connector="sin"), False),
        (LetterFilter(stage="value_converter"), True),
        (LetterFilter(stage="TASK_PUT"), False),
        (LetterFilter(original_topic="orders"), True),
        (LetterFilter(original_topic="dead"), False),
        (LetterFilter(error="IS NO NUMBER"), True),
        (LetterFilter(error="too long"), False),
        (LetterFilter(connector="sink", error="too long"), False),
    ],
)
def test_filters(wanted: LetterFilter, meant: bool) -> None:
    assert (letter() in wanted) is meant


def test_errors_that_differ_in_the_record_only_are_alike() -> None:
    other = {**SINK, "exception.message": "field 'sum' of record 7 is no number"}
    tally = Tally()
    for each in (letter(timestamp=5), letter(other, timestamp=9), letter({})):
        tally.add(each)
    first, second = tally.groups
    assert (first.error, first.count, first.last) == ("field … of record … is no number", 2, 9)
    assert (second.connector, second.count) == ("", 1)


def test_rare_groups_become_one_and_frequent_ones_stay() -> None:
    tally = Tally(most=10)
    for number in range(200):
        # Words differ, so no two of these errors are alike; in between is one that comes often.
        odd = "x" * (number % 100) + "y" * (number // 100)
        tally.add(letter({**SINK, "exception.message": f"no {odd}z"}, timestamp=number))
        tally.add(letter({**SINK, "exception.message": "often"}, timestamp=number))
    groups = tally.groups
    assert len(groups) <= 11
    assert (groups[0].error, groups[0].count, groups[0].last) == ("often", 200, 199)
    assert (groups[-1].error, groups[-1].connector) == ("(other errors)", "")
    assert sum(group.count for group in groups) == 400


def test_names_of_groups_are_cut() -> None:
    tally = Tally()
    tally.add(letter({**SINK, "connector.name": "n" * 100_000}))
    assert len(tally.groups[0].connector) < 1000


def test_kinds_of_errors_are_one_line() -> None:
    text = 'Failing row contains (1, "x").\n  Detail: 5'
    assert error_kind(text) == "Failing row contains …."


def test_an_apostrophe_is_no_quote() -> None:
    text = "The registry can't find the schema with id 5: no content 'abc' of o'Neil's"
    assert error_kind(text) == (
        "The registry can't find the schema with id …: no content … of o'Neil's"
    )
