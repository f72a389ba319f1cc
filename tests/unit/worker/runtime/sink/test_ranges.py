"""Which records go together into a batch of a sink."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from penstock.api.converter import Layout
from penstock.api.sink import OffsetRange
from penstock.kafka.clients.raw_records import RawRecord
from penstock.kernel.data.record import SchemaAndValue, TopicPartition
from penstock.kernel.errors import DataError, RetriableError
from penstock.worker.pipeline.pipeline import Converters
from penstock.worker.runtime.sink.decode import FEW_BYTES, FEW_RECORDS, are_few
from penstock.worker.runtime.sink.layouts import SortedOut, sort_out
from penstock.worker.runtime.sink.ranges import (
    LARGE_BACKLOG,
    LARGE_BATCH,
    cut,
    large_ranges,
    of_one_topic,
    parted,
    partly,
    ranges_of,
)

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)


def record(offset: int, value: bytes | None, partition: int = 0) -> RawRecord:
    return RawRecord("a", partition, offset, -1, 0, None, value, None)


class Letters:
    """A converter whose layout is the first letter; `?` can't be read, `!` only one by one."""

    uniform = False

    def layout(self, data: bytes | None) -> Layout:
        letter = (data or b"-")[:1]
        return Layout(None, letter, regular=letter not in b"?!")

    def decode_one(self, data: bytes | None) -> SchemaAndValue:
        if (data or b"").startswith(b"?"):
            raise DataError("what is this")
        return SchemaAndValue(None, data)

    @classmethod
    def class_name(cls) -> str:
        return "Letters"


def sorted_out(*values: bytes | None, tolerant: bool = True) -> SortedOut:
    letters: Any = Letters()
    records = [record(number, value) for number, value in enumerate(values)]
    return sort_out(records, Converters(letters, letters), tolerant=tolerant)


def runs(found: SortedOut) -> list[list[int]]:
    return [[each.offset for each in run.records] for run in found.runs]


def test_of_several_topics_the_one_with_most_is_taken() -> None:
    b0 = TopicPartition("b", 0)
    ranges = (OffsetRange(A0, 0, 50), OffsetRange(b0, 7, 90), OffsetRange(A1, 3, 50))
    assert of_one_topic(ranges) == (
        OffsetRange(A0, 0, 50),
        OffsetRange(b0, 7, 7),
        OffsetRange(A1, 3, 50),
    )


def test_records_of_one_layout_are_one_run() -> None:
    assert runs(sorted_out(b"x1", b"x2", b"x3")) == [[0, 1, 2]]


def test_runs_end_where_the_layout_changes_so_that_the_order_stays() -> None:
    assert runs(sorted_out(b"x", b"y", b"y", b"x")) == [[0], [1, 2], [3]]


def test_nulls_fit_into_every_run() -> None:
    assert runs(sorted_out(b"x", None, b"x", None, b"y")) == [[0, 1, 2, 3], [4]]


def test_unreadable_records_break_no_run_where_they_are_tolerated() -> None:
    found = sorted_out(b"x", b"?", b"x", b"??", b"x")
    assert runs(found) == [[0, 2, 4]]
    assert [each.record.offset for each in found.unreadable] == [1, 3]
    fault = found.unreadable[0].fault
    assert str(fault) == "what is this (VALUE_CONVERTER Letters, record a-0, offset 1)"


def test_an_unreadable_record_is_the_end_where_it_is_not_tolerated() -> None:
    found = sorted_out(b"x", b"?", b"x", b"?", tolerant=False)
    assert runs(found) == [[0]]
    assert [each.record.offset for each in found.unreadable] == [1]


def test_records_that_must_be_read_one_by_one_are_runs_of_their_own() -> None:
    found = sorted_out(b"x", b"!", b"x")
    assert runs(found) == [[0], [1], [2]]
    assert not found.unreadable
    assert not found.runs[1].layouts.regular


class Waiting(Letters):
    """What begins with `~` is asked for in vain."""

    def layout(self, data: bytes | None) -> Layout:
        if (data or b"").startswith(b"~"):
            raise RetriableError("the registry is away")
        return super().layout(data)


def test_what_is_asked_for_in_vain_is_the_record_s_fault() -> None:
    waiting: Any = Waiting()
    asked = []

    def retry(call: Callable[[], Any]) -> Any:
        asked.append(call)
        try:
            return call()
        except RetriableError as error:
            raise DataError(f"given up: {error}") from error

    records = [record(number, value) for number, value in enumerate((b"x", b"~", b"x"))]
    found = sort_out(records, Converters(waiting, waiting), tolerant=True, retry=retry)
    assert runs(found) == [[0, 2]]
    assert found.unreadable[0].fault.message == "the registry is away"
    assert len(asked) == 6


def test_ranges_are_parted_in_their_order() -> None:
    ranges = (OffsetRange(A0, 5, 9), OffsetRange(A1, 9, 20))
    assert parted(ranges, 3) == (
        (OffsetRange(A0, 5, 8),),
        (OffsetRange(A0, 8, 9), OffsetRange(A1, 9, 20)),
    )
    assert parted(ranges, 4) == ((OffsetRange(A0, 5, 9),), (OffsetRange(A1, 9, 20),))
    assert parted(ranges, 99) == (ranges, ())


def test_ranges_go_from_the_first_to_the_last_record_of_each_partition() -> None:
    records = [record(5, b""), record(9, b"", 1), record(6, b""), record(8, b"")]
    assert ranges_of(records) == (OffsetRange(A0, 5, 9), OffsetRange(A1, 9, 10))


def test_a_batch_written_in_part_ends_where_the_writing_did() -> None:
    ranges = (OffsetRange(A0, 5, 9), OffsetRange(A1, 9, 10))
    written = partly(ranges, {A0: 7})
    assert written == (OffsetRange(A0, 5, 7), OffsetRange(A1, 9, 9))


def large(ranges: Sequence[OffsetRange], **ends: int) -> tuple[OffsetRange, ...] | None:
    found = {TopicPartition(*_parsed(name)): end for name, end in ends.items()}
    return large_ranges(ranges, found)


def _parsed(name: str) -> tuple[str, int]:
    return name[0], int(name[1:])


def test_a_small_backlog_is_not_worth_sparks_reader() -> None:
    ranges = (OffsetRange(A0, 0, 500),)
    assert large(ranges, a0=LARGE_BACKLOG - 1) is None
    assert large(ranges) is None  # the end is not known yet


def test_a_large_backlog_is_read_up_to_its_end() -> None:
    ranges = (OffsetRange(A0, 0, 500), OffsetRange(A1, 7, 8))
    # What the consumer has returned counts too: it would be a job of its own.
    assert large(ranges, a0=LARGE_BACKLOG - 1, a1=8) == (
        OffsetRange(A0, 0, LARGE_BACKLOG - 1),
        OffsetRange(A1, 7, 8),
    )


def test_a_large_batch_is_bounded() -> None:
    ranges = (OffsetRange(A0, 100, 600), OffsetRange(A1, 0, 10))
    wide = cast("tuple[OffsetRange, ...]", large(ranges, a0=10**9, a1=10**9))
    assert sum(each.end - each.start for each in wide) == LARGE_BATCH
    assert [each.start for each in wide] == [100, 0]


def test_a_large_batch_is_cut_where_another_layout_begins() -> None:
    ranges = (OffsetRange(A0, 100, 90_000), OffsetRange(A1, 0, 10))
    assert cut(ranges, A0, 50_000) == (OffsetRange(A0, 100, 50_000), OffsetRange(A1, 0, 10))
    assert cut(ranges, A1, 0) == (OffsetRange(A0, 100, 90_000), OffsetRange(A1, 0, 0))
    assert cut(ranges, A0, 200) is None  # not worth a large batch


@pytest.mark.parametrize(
    ("count", "size", "few"),
    [
        (FEW_RECORDS, 10, True),
        (FEW_RECORDS + 1, 1, False),
        (4, FEW_BYTES // 4, True),
        (4, FEW_BYTES // 4 + 1, False),
    ],
)
def test_a_few_records_are_few_and_small(count: int, size: int, few: bool) -> None:
    assert are_few([record(number, bytes(size)) for number in range(count)]) == few
    assert are_few([record(number, None) for number in range(3)])
