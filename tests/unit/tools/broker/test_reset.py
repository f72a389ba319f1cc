from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import pytest

from penstock.kafka.clients import Admin
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import BadRequestError, StorageError
from penstock.testing.fakes import ManualClock
from penstock.tools.broker import goals, reset
from penstock.tools.broker.edges import Edges
from penstock.tools.broker.goals import Situation
from penstock.tools.broker.groups import Groups
from penstock.tools.broker.reset import Change, Resets
from penstock.tools.broker.reset_files import from_csv, to_csv

A, B = TopicPartition("a", 0), TopicPartition("a", 1)


def situation(committed: Mapping[TopicPartition, int]) -> Situation:
    """Partition 0 has a record each second since 1 s; nothing is as late as 100 s in 1."""

    def at(moments: Mapping[TopicPartition, int]) -> dict[TopicPartition, int | None]:
        return {A: moments[A] // 1000, B: None}

    return Situation("g", {A: Edges(0, 100), B: Edges(5, 50)}, committed, at)


def test_goals_without_an_argument() -> None:
    here = situation({A: 40})
    assert goals.to_earliest(here) == {A: 0, B: 5}
    assert goals.to_latest(here) == {A: 100, B: 50}
    assert goals.to_current(here) == {A: 40, B: 50}


def test_goals_with_an_argument() -> None:
    here = situation({A: 40, B: 20})
    assert goals.to_offset(7)(here) == {A: 7, B: 7}
    assert goals.shift_by(-30)(here) == {A: 10, B: -10}
    assert goals.to_time(60_000)(here) == {A: 60, B: 50}


def test_a_duration_counts_back_from_now() -> None:
    clock = ManualClock(wall_ms=90_000)
    assert goals.by_duration(30_000, clock)(situation({})) == {A: 60, B: 50}


def test_only_what_is_committed_can_be_shifted() -> None:
    with pytest.raises(BadRequestError, match=r"group g has committed no offset for a-1,"):
        goals.shift_by(1)(situation({A: 1}))


@pytest.mark.parametrize(
    ("old", "new", "again", "skipped", "between"),
    [
        (40, 10, 30, 0, (10, 40)),
        (10, 40, 0, 30, (10, 40)),
        (10, 10, 0, 0, None),
        (None, 10, 0, 0, None),
        # The first 5 records are gone: nobody can read them again, or miss them.
        (2, 5, 0, 0, None),
        (2, 8, 0, 3, (5, 8)),
        # Offsets of a topic that was made anew may lie behind its end.
        (900, 100, 0, 0, None),
    ],
)
def test_what_a_change_means(
    old: int | None, new: int, again: int, skipped: int, between: tuple[int, int] | None
) -> None:
    change = Change("g", "a", 0, old, new, Edges(5, 100))
    assert (change.read_again, change.skipped, change.between) == (again, skipped, between)


def test_a_change_warns_where_it_is_not_what_was_asked_for() -> None:
    assert Change("g", "a", 0, 1, 5, Edges(5, 9)).warning == ""
    low = Change("g", "a", 0, 1, 5, Edges(5, 9), wanted=-3)
    high = Change("g", "a", 0, 1, 9, Edges(5, 9), wanted=70)
    assert low.warning == "a-0: offset -3 is lower than the earliest one; 5 is used"
    assert high.warning == "a-0: offset 70 is higher than the latest one; 9 is used"


class Committed:
    """A group that has committed an offset in one partition."""

    def offsets(self, group: str) -> dict[TopicPartition, int]:
        return {A: 40}

    def edges(self, topics: object) -> dict[TopicPartition, Edges]:
        return {A: Edges(0, 100)}


class Unreadable:
    """The records may not be read by those who may move the offsets."""

    def __init__(self, properties: object) -> None:
        del properties

    def of(self, spans: object, deadline: object) -> dict[TopicPartition, tuple[int, int]]:
        raise StorageError("TopicAuthorizationFailedError")

    def close(self) -> None: ...


def test_times_that_can_not_be_had_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reset, "RecordTimes", Unreadable)
    resets = Resets(cast("Admin", None), cast("Groups", Committed()), {}, seconds=1)
    (change,) = resets.plan("g", goals.to_earliest, all_topics=True)
    assert (change.new, change.first, change.last) == (0, None, None)


def test_files_are_those_of_kafka() -> None:
    one = [Change("g", "a", 0, 1, 5, Edges(0, 9)), Change("g", "b", 2, 1, 7, Edges(0, 9))]
    assert to_csv(one) == "a,0,5\nb,2,7\n"
    assert from_csv(to_csv(one), ["g"], "f") == {"g": {A: 5, TopicPartition("b", 2): 7}}
    two = [*one, Change("h", "a", 0, 1, 6, Edges(0, 9))]
    assert to_csv(two) == "g,a,0,5\ng,b,2,7\nh,a,0,6\n"
    assert from_csv(to_csv(two), ["g", "h"], "f")["h"] == {A: 6}


@pytest.mark.parametrize(
    ("text", "groups", "problem"),
    [
        ("a,0,5\na,x,5\n", ["g"], "f.csv, line 2: expected topic,partition,offset, got a,x,5"),
        ("a,0,5\n", ["g", "h"], "f.csv, line 1: expected group,topic,partition,offset"),
        ("k,a,0,5\n", ["g"], "f.csv, line 1: group k was not named"),
        ("\n# nothing\n", ["g"], "f.csv has no offsets"),
    ],
)
def test_a_wrong_line_is_named(text: str, groups: list[str], problem: str) -> None:
    with pytest.raises(BadRequestError, match=problem):
        from_csv(text, groups, "f.csv")
