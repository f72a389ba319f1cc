"""From what is stored to what is to be stored."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import BadRequestError
from penstock.offsets import (
    Kind,
    Move,
    Place,
    StoredOffset,
    put_back,
    reset,
    rewind,
    set_sink,
    set_source,
)
from penstock.tools.offsets.models import sink_map
from penstock.tools.offsets.requests import Situation
from penstock.tools.offsets.texts import compact
from penstock.tools.offsets.topic import History, Stored

QUERY = {"query": "query"}
FILE = {"filename": "in.txt"}
PLACES = [TopicPartition("orders", 0), TopicPartition("orders", 1)]


@dataclass
class KnownKafka:
    """What a broker would answer."""

    ends: Mapping[TopicPartition, tuple[int, int]] = field(default_factory=dict)
    times: Mapping[TopicPartition, int | None] = field(default_factory=dict)
    histories: Sequence[History] = ()

    def edges(self, places: Collection[TopicPartition]) -> Mapping[TopicPartition, tuple[int, int]]:
        return {place: self.ends[place] for place in places if place in self.ends}

    def at(
        self, places: Collection[TopicPartition], moment: int
    ) -> Mapping[TopicPartition, int | None]:
        return {place: self.times[place] for place in places}

    def earlier(self, moment: int) -> Sequence[History]:
        return self.histories


def source(*held: StoredOffset, kafka: KnownKafka | None = None) -> Situation:
    return Situation("lines", Kind.SOURCE, held, lambda: kafka)


def sink(offsets: Sequence[int], kafka: KnownKafka | None = None, **more: Any) -> Situation:
    held = [
        StoredOffset(sink_map(place), {"kafka_offset": offset})
        for place, offset in zip(PLACES, offsets, strict=False)
    ]
    return Situation("orders-sink", Kind.SINK, held, lambda: kafka, **more)


def numbers(moves: Sequence[Move]) -> list[tuple[Any, Any]]:
    return [
        (
            move.before and move.before["kafka_offset"],
            move.after and move.after["kafka_offset"],
        )
        for move in moves
    ]


def history(earlier: Mapping[str, Any] | None, *, known: bool = True) -> History:
    last = Stored("lines", b"k", FILE, {"position": 14}, Place(0, 9, 5_000))
    before = Stored("lines", b"k", FILE, earlier, Place(0, 3, 1_000)) if known else None
    return History((last,), (last,), 5_000, before)


def test_the_only_partition_need_not_be_named() -> None:
    one = source(StoredOffset(QUERY, {"incrementing": 5}))
    assert set_source(None, {"incrementing": 2})(one) == [
        Move(QUERY, {"incrementing": 5}, {"incrementing": 2})
    ]
    with pytest.raises(BadRequestError, match=r"--partition; lines has: .*in\.txt"):
        set_source(None, {"incrementing": 2})(
            source(StoredOffset(QUERY, None), StoredOffset(FILE, None))
        )


def test_a_partition_without_an_offset_is_taken_for_a_typing_error() -> None:
    situation = source(StoredOffset(QUERY, {"incrementing": 5}))
    with pytest.raises(BadRequestError, match="--new"):
        set_source("query=qery", {"incrementing": 2})(situation)
    (move,) = set_source("query=qery", {"incrementing": 2}, new=True)(situation)
    assert move == Move({"query": "qery"}, None, {"incrementing": 2})


def test_forms_of_the_other_kind_are_refused() -> None:
    with pytest.raises(BadRequestError, match="orders-sink is a sink"):
        set_source(None, {"position": 1})(sink([1]))
    with pytest.raises(BadRequestError, match="lines is a source"):
        set_sink({PLACES[0]: 1})(source())


def test_a_sink_is_set_inside_its_topic() -> None:
    kafka = KnownKafka({PLACES[0]: (3, 9)})
    assert numbers(set_sink({PLACES[0]: 4})(sink([9], kafka))) == [(9, 4)]
    assert numbers(set_sink({PLACES[0]: 9})(sink([9], kafka))) == [(9, 9)]
    for wrong in (2, 10):
        with pytest.raises(BadRequestError, match="3 to 9"):
            set_sink({PLACES[0]: wrong})(sink([9], kafka))
    with pytest.raises(BadRequestError, match="no partition orders:1"):
        set_sink({PLACES[1]: 1})(sink([9], kafka))
    # Without Kafka the server must know.
    assert numbers(set_sink({PLACES[0]: 99})(sink([9]))) == [(9, 99)]


def test_reset() -> None:
    assert numbers(reset()(sink([9, 5]))) == [(9, None), (5, None)]
    assert numbers(reset(["orders:1"])(sink([9, 5]))) == [(5, None)]
    with pytest.raises(BadRequestError, match="--to-start"):
        reset()(sink([9], starts_at_end=True))


def test_a_sink_goes_back_and_never_forward() -> None:
    ends = {PLACES[0]: (2, 9), PLACES[1]: (0, 7)}
    kafka = KnownKafka(ends, {PLACES[0]: 4, PLACES[1]: None})
    assert numbers(rewind(1_000)(sink([9, 7], kafka))) == [(9, 4), (7, 7)]
    assert numbers(rewind(1_000)(sink([3, 5], kafka))) == [(3, 3), (5, 5)]
    assert numbers(rewind(None)(sink([9, 7], kafka))) == [(9, 2), (7, 0)]
    with pytest.raises(BadRequestError, match="--bootstrap-server"):
        rewind(None)(sink([9]))
    with pytest.raises(BadRequestError, match="orders:1 any more"):
        rewind(None)(sink([9, 7], KnownKafka({PLACES[0]: (2, 9)})))


@pytest.mark.parametrize(
    ("offset", "after"),
    [
        ({"timestamp": 9_000}, {"timestamp": 4_999}),
        (
            {"timestamp_nanos": 817000000, "timestamp": 9_817, "incrementing": 3},
            {"timestamp_nanos": 999000000, "timestamp": 4_999, "incrementing": 3},
        ),
        # It is not as far as that.
        ({"timestamp": 4_000}, {"timestamp": 4_000}),
    ],
)
def test_a_source_with_times_goes_by_them(offset: Any, after: Any) -> None:
    (move,) = rewind(5_000)(source(StoredOffset(QUERY, offset)))
    assert move == Move(QUERY, offset, after)


def test_a_time_among_fields_of_another_source_is_not_touched() -> None:
    held = StoredOffset(FILE, {"timestamp": 9_000, "lsn": 7})
    kafka = KnownKafka(histories=[history({"timestamp": 3_000, "lsn": 2})])
    (move,) = rewind(5_000)(source(held, kafka=kafka))
    assert move.after == {"timestamp": 3_000, "lsn": 2}


def test_other_sources_go_by_what_was_stored_then() -> None:
    held = StoredOffset(FILE, {"position": 14})
    (move,) = rewind(5_000)(source(held, kafka=KnownKafka(histories=[history({"position": 4})])))
    assert move.after == {"position": 4}
    # It was reset then: that is what held.
    (move,) = rewind(5_000)(source(held, kafka=KnownKafka(histories=[history(None)])))
    assert move.after is None
    with pytest.raises(BadRequestError, match=r"1970-01-01T00:00:05\.000Z: the conn"):
        rewind(5_000)(source(held, kafka=KnownKafka(histories=[history(None, known=False)])))
    with pytest.raises(BadRequestError, match="holds no offset"):
        rewind(5_000)(source(held, kafka=KnownKafka()))
    with pytest.raises(BadRequestError, match="`penstock offsets show lines --history 20`"):
        rewind(5_000)(source(held, kafka=KnownKafka()))
    with pytest.raises(BadRequestError, match="--bootstrap-server"):
        rewind(5_000)(source(held))
    # To the start needs no history.
    (move,) = rewind(None)(source(held))
    assert move.after is None


@pytest.mark.parametrize(
    ("now", "then", "after"),
    [
        ({"n": 14, "file": "a"}, {"n": 4, "file": "a"}, {"n": 4, "file": "a"}),
        ({"n": 14, "m": 2}, {"n": 4, "m": 1}, {"n": 4, "m": 1}),
        # It was set, or reset, since: it is not as far as that.
        ({"n": 14}, {"n": 1000}, {"n": 14}),
        ({"n": 14, "file": "a"}, {"n": 15, "file": "a"}, {"n": 14, "file": "a"}),
    ],
)
def test_by_history_a_source_goes_back_and_never_forward(now: Any, then: Any, after: Any) -> None:
    (move,) = rewind(5_000)(
        source(StoredOffset(FILE, now), kafka=KnownKafka(histories=[history(then)]))
    )
    assert move.after == after


@pytest.mark.parametrize(
    ("now", "then", "fields"),
    [
        ({"n": 14, "file": "b"}, {"n": 900, "file": "a"}, "file, n"),
        ({"n": 14, "file": "a"}, {"n": 4, "file": "b"}, "file, n"),
        ({"n": 14, "line": 3}, {"n": 4, "line": 7}, "line, n"),
        ({"n": 14, "snapshot": True}, {"n": 4}, "n, snapshot"),
        ({"token": "a"}, {"token": "b"}, "token"),
    ],
)
def test_what_may_lie_ahead_is_refused(now: Any, then: Any, fields: str) -> None:
    advice = (
        f"""penstock offsets set lines --partition '{compact(FILE)}' --offset '{compact(then)}'"""
    )
    with pytest.raises(BadRequestError, match=f"differ in {fields}.*{re.escape(advice)}"):
        rewind(5_000)(source(StoredOffset(FILE, now), kafka=KnownKafka(histories=[history(then)])))


def test_put_back() -> None:
    moves = [Move(FILE, {"position": 14}, None), Move(QUERY, None, {"incrementing": 3})]
    situation = source(
        StoredOffset(FILE, {"position": 2}), StoredOffset(QUERY, {"incrementing": 5})
    )
    assert put_back(moves)(situation) == [
        Move(FILE, {"position": 2}, {"position": 14}),
        Move(QUERY, {"incrementing": 5}, None),
    ]
