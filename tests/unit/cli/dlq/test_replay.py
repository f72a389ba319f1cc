"""What may be written back, and where; and how much of it is in memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import pytest

from penstock.cli.dlq import replay as module
from penstock.cli.dlq.letters import Letter, LetterFilter
from penstock.cli.dlq.marks import Replayed
from penstock.cli.dlq.replay import Replay, batches
from penstock.cli.dlq.topics import LetterTopic, topics_of
from penstock.kafka.clients import NewRecord
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import BadRequestError, ConflictError
from penstock.kernel.wire.models import ConnectorInfo
from tests.unit.cli.dlq.test_letters import SINK, letter

DEAD = LetterTopic("dead", {}, {})
FIRST = TopicPartition("dead", 0)


def test_a_record_goes_back_as_it_was() -> None:
    replay = Replay(DEAD)
    headers = (("trace", b"abc"), ("empty", None))
    assert replay.survey([letter(), letter()]) == {"orders": 2}
    assert replay.record(letter(), {"orders": 3}) == NewRecord("orders", b"k", b"v", headers, 2)
    # The topic was made anew with fewer partitions: the key decides.
    assert replay.record(letter(), {"orders": 2}).partition is None


def test_a_letter_without_a_story_needs_a_topic() -> None:
    with pytest.raises(BadRequestError, match=r"dead-0, offset 7: it has no context headers.*--to"):
        Replay(DEAD).survey([letter(), letter({})])
    assert Replay(DEAD, to="mended").survey([letter({})]) == {"mended": 1}


def test_a_letter_of_a_source_needs_a_topic() -> None:
    of_source = {name: SINK[name] for name in ("topic", "connector.name", "stage")}
    with pytest.raises(BadRequestError, match=r"from the source sink.*--to"):
        Replay(DEAD).survey([letter(of_source)])
    replay = Replay(DEAD, to="mended")
    assert replay.record(letter(of_source), {"mended": 1}).topic == "mended"


def test_letters_do_not_go_round_in_circles() -> None:
    with pytest.raises(BadRequestError, match="is the dead letter topic itself"):
        Replay(DEAD, to="dead").survey([letter()])


def test_letters_are_taken_once_unless_again() -> None:
    topic = LetterTopic("dead", {FIRST: (2, 9)}, {FIRST: Replayed(5, ((7, 8),))})
    replay = Replay(topic, LetterFilter(connector="sink"))
    taken = [offset for offset in range(2, 9) if replay.takes(letter(offset=offset))]
    assert taken == [5, 6, 8]
    assert topic.behind_the_floor == {FIRST: (5, 9)}
    assert replace(replay, again=True).takes(letter(offset=2))
    assert not Replay(topic, LetterFilter(connector="other")).takes(letter(offset=6))


def test_letters_too_scattered_are_refused_as_soon_as_that_is_seen() -> None:
    read = 0

    def scattered() -> Iterator[Letter]:
        nonlocal read
        for read in range(1, 100_001):
            yield letter(offset=2 * read)

    topic = LetterTopic("dead", {FIRST: (0, 300_000)}, {FIRST: Replayed()})
    with pytest.raises(ConflictError, match="too scattered"):
        Replay(topic, batch=10).survey(scattered())
    assert read < 1000
    # It marks nothing, so there is nothing to remember.
    many = (letter(offset=2 * number) for number in range(2000))
    assert Replay(topic, again=True, batch=10).survey(many) == {"orders": 2000}


def test_too_many_topics_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TARGETS", 3)
    many = (letter({**SINK, "topic": f"t{number}"}) for number in range(10))
    with pytest.raises(BadRequestError, match=r"more than 3 topics.*--original-topic"):
        Replay(DEAD, batch=2).survey(many)


def heavy(count: int, size: int) -> Iterator[Letter]:
    for number in range(count):
        yield replace(letter(offset=number), value=bytes(size))


def test_batches_end_with_their_count_and_with_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 2500)
    assert [len(batch) for batch in batches(heavy(7, 10), 3)] == [3, 3, 1]
    assert [len(batch) for batch in batches(heavy(7, 1000), 100)] == [3, 3, 1]
    assert [len(batch) for batch in batches(heavy(2, 5000), 100)] == [1, 1]
    assert list(batches([], 3)) == []


def test_a_survey_keeps_a_batch_in_memory_at_most() -> None:
    topic = LetterTopic("dead", {FIRST: (0, 4000)}, {FIRST: Replayed()})
    tracemalloc.start()
    try:
        assert Replay(topic, batch=20).survey(heavy(4000, 10_000)) == {"orders": 4000}
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000  # of 40 MB


def test_topics_that_connectors_name() -> None:
    key = "errors.deadletterqueue.topic.name"
    configs = {"b": {key: "dead"}, "a": {key: " dead "}, "c": {key: ""}, "d": {}}
    infos = {name: ConnectorInfo(name, config, (), "sink") for name, config in configs.items()}
    assert topics_of(infos) == {"dead": ["a", "b"]}
