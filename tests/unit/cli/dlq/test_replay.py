"""What may be written back, and where."""

from __future__ import annotations

import pytest

from penstock.cli.dlq.replay import Replay
from penstock.cli.dlq.topics import LetterTopic, topics_of
from penstock.errors import BadRequestError
from penstock.kafka.clients import NewRecord
from penstock.wire.models import ConnectorInfo
from tests.unit.cli.dlq.test_letters import SINK, letter

DEAD = LetterTopic("dead", {}, {})


def test_a_record_goes_back_as_it_was() -> None:
    replay = Replay(DEAD, [letter()])
    replay.check()
    headers = (("trace", b"abc"), ("empty", None))
    assert replay.targets == {"orders": 1}
    assert replay.record(letter(), {"orders": 3}) == NewRecord("orders", b"k", b"v", headers, 2)
    # The topic was made anew with fewer partitions: the key decides.
    assert replay.record(letter(), {"orders": 2}).partition is None


def test_a_letter_without_a_story_needs_a_topic() -> None:
    with pytest.raises(BadRequestError, match=r"dead-0, offset 7: it has no context headers.*--to"):
        Replay(DEAD, [letter(), letter({})]).check()
    Replay(DEAD, [letter({})], to="mended").check()


def test_a_letter_of_a_source_needs_a_topic() -> None:
    of_source = {name: SINK[name] for name in ("topic", "connector.name", "stage")}
    with pytest.raises(BadRequestError, match=r"from the source sink.*--to"):
        Replay(DEAD, [letter(of_source)]).check()
    replay = Replay(DEAD, [letter(of_source)], to="mended")
    replay.check()
    assert replay.record(letter(of_source), {"mended": 1}).topic == "mended"


def test_letters_do_not_go_round_in_circles() -> None:
    with pytest.raises(BadRequestError, match="is the dead letter topic itself"):
        Replay(DEAD, [letter()], to="dead").check()


def test_topics_that_connectors_name() -> None:
    key = "errors.deadletterqueue.topic.name"
    configs = {"b": {key: "dead"}, "a": {key: " dead "}, "c": {key: ""}, "d": {}}
    infos = {name: ConnectorInfo(name, config, (), "sink") for name, config in configs.items()}
    assert topics_of(infos) == {"dead": ["a", "b"]}
