"""The search for refused records: every good one is written once, in order, in few writes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.api.sink import OffsetRange
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import RefusedError
from penstock.worker.runtime.sink.bisect import Bisection

PLACE = TopicPartition("t", 0)


@dataclass(frozen=True)
class Numbers:
    start: int
    end: int

    @property
    def ranges(self) -> tuple[OffsetRange, ...]:
        return (OffsetRange(PLACE, self.start, self.end),) if self.size else ()

    @property
    def size(self) -> int:
        return self.end - self.start

    def cut(self, count: int) -> tuple[Numbers, Numbers]:
        middle = min(self.end, self.start + count)
        return Numbers(self.start, middle), Numbers(middle, self.end)


class Target:
    def __init__(
        self, bad: set[int], *, breaks_at: int | None = None, hints: bool = False, off: int = 0
    ) -> None:
        self.bad = bad
        self.hints = hints
        self.off = off
        self.breaks_at = breaks_at
        self.written: list[int] = []
        self.skipped: list[int] = []
        self.done: dict[TopicPartition, int] = {}
        self.attempts = 0
        self.read = 0

    def write(self, rows: Numbers) -> None:
        self.attempts += 1
        self.read += rows.size
        numbers = range(rows.start, rows.end)
        if self.breaks_at in numbers:
            raise OSError("the target went away")
        if not self.bad.isdisjoint(numbers):
            raise RefusedError(f"one of {numbers} is bad", self._hint(numbers))
        self.written += numbers

    def skip(self, rows: Numbers, error: RefusedError) -> None:
        assert str(rows.start) in str(error)
        self.skipped += range(rows.start, rows.end)

    def search(self, size: int, unit: int = 1, most: float = math.inf) -> None:
        Bisection(
            write=self.write,
            skip=self.skip,
            done=self.done,
            enough=lambda: len(self.skipped) >= most,
            unit=unit,
        ).run(Numbers(0, size), RefusedError("all of them", self._hint(range(size))))

    def _hint(self, numbers: range) -> int | None:
        if not self.hints:
            return None
        return min(self.bad.intersection(numbers), default=numbers.start) - numbers.start + self.off


@given(
    st.integers(1, 300), st.sets(st.integers(0, 299)), st.booleans(), st.sampled_from([0, -3, 2])
)
def test_all_but_the_bad_ones_are_written_once_in_order(
    size: int, bad: set[int], hints: bool, off: int
) -> None:
    target = Target(bad, hints=hints, off=off)
    target.search(size)
    assert target.written == [number for number in range(size) if number not in bad]
    assert target.skipped == sorted(number for number in bad if number < size)
    assert target.done == {PLACE: size}
    assert target.attempts <= 4 * size + 1


def test_a_target_that_tells_which_row_it_was_is_asked_less() -> None:
    target = Target({70_000}, hints=True)
    target.search(100_000)
    assert target.skipped == [70_000]
    assert target.attempts == 3
    target = Target(set(range(19, 1000, 20)), hints=True)
    target.search(1000)
    assert len(target.skipped) == 50
    assert target.attempts <= 3 * 50
    target = Target({70_000}, hints=True, off=-5)
    target.search(100_000, unit=400)
    assert 70_000 in target.skipped
    assert target.attempts == 3


@pytest.mark.parametrize("place", [0, 1, 33_333, 99_999])
def test_one_among_many_takes_few_writes(place: int) -> None:
    target = Target({place})
    target.search(100_000)
    assert target.skipped == [place]
    assert target.attempts <= math.log2(100_000) + 3
    assert target.read <= 2.1 * 100_000


def test_many_bad_ones_cost_no_more_than_their_distances() -> None:
    target = Target(set(range(0, 20_000, 20)))
    target.search(20_000)
    assert len(target.skipped) == 1000
    assert target.attempts < 11 * 1000
    assert target.read < 7 * 20_000


def test_rows_are_cut_down_to_the_unit_only() -> None:
    target = Target({5000})
    target.search(10_000, unit=400)
    assert 5000 in target.skipped
    assert len(target.skipped) <= 400
    assert target.attempts <= 8
    assert sorted(target.written + target.skipped) == list(range(10_000))


def test_it_ends_where_it_is_told_to() -> None:
    target = Target({100, 200, 300})
    target.search(1000, most=2)
    assert target.skipped == [100, 200]
    assert target.done == {PLACE: 201}
    assert target.written == [number for number in range(201) if number not in (100, 200)]


def test_another_failure_leaves_what_is_done() -> None:
    target = Target({100}, breaks_at=500)
    with pytest.raises(OSError, match="went away"):
        target.search(1000)
    assert target.skipped == [100]
    assert target.done == {PLACE: 101}
