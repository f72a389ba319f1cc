"""First stage of a sink: which records make up the next batch, and whether Spark reads them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, cast

from penstock.api.sink import OffsetRange
from penstock.kernel.data.record import TaskId, TopicPartition
from penstock.worker.pipeline.faults import Fault, FaultError, OtherLayoutError
from penstock.worker.runtime.sink.decode import Decoder, FetchedRows, RangeRows
from penstock.worker.runtime.sink.layouts import Layouts, Run, SortedOut, Unreadable
from penstock.worker.runtime.sink.ranges import (
    cut,
    ends_of,
    large_ranges,
    not_empty,
    of_one_topic,
    partly,
    ranges_of,
)
from penstock.worker.runtime.sink.write import Writer

if TYPE_CHECKING:
    from penstock.kernel.data.record import KafkaRecord

log = logging.getLogger(__name__)

#: After so many small batches of one layout a large one is tried again.
EVEN_BATCHES = 20
LARGE_ATTEMPTS = 3


class SinkBatches:
    """Writes one batch after another, in the order of the records.

    Args:
        ends: the ends of partitions, as far as the consumer knows them.
        one_topic: whether large batches are of one topic each.
    """

    def __init__(
        self,
        task: TaskId,
        decoder: Decoder,
        writer: Writer,
        ends: Callable[[Collection[TopicPartition]], Mapping[TopicPartition, int]],
        *,
        one_topic: bool,
    ) -> None:
        self._id = task
        self._decoder = decoder
        self._writer = writer
        self._ends = ends
        self._one_topic = one_topic
        #: Topics with several layouts, and after how many even batches they count as even again.
        self._mixed_topics: dict[str, int] = {}

    def prepare(self) -> None:
        """Before the first record."""
        self._writer.prepare()

    def renew_plans(self) -> None:
        self._decoder.renew()

    def write(
        self, records: Sequence[KafkaRecord], ranges: tuple[OffsetRange, ...]
    ) -> tuple[OffsetRange, ...]:
        """Write the records, or more if many more wait; return the ranges written."""
        found = self._decoder.sort_out(records, tolerant=self._writer.tolerant)
        wide = None if found.unreadable else self._large_ranges(ranges, found.runs)
        if wide is not None:
            wide = self._try_large(wide, found.runs[0].layouts)
        return self._write_runs(found, ranges) if wide is None else wide

    def _try_large(
        self, ranges: tuple[OffsetRange, ...], layouts: Layouts
    ) -> tuple[OffsetRange, ...] | None:
        """Write the ranges up to the first odd or faulty record; None if that is too near."""
        topics = {each.partition.topic for each in ranges}
        wide: tuple[OffsetRange, ...] | None = ranges
        for _ in range(LARGE_ATTEMPTS):
            if wide is None:
                break
            try:
                return self._write_large(wide, layouts)
            except OtherLayoutError as other:
                log.debug("Task %s: %s", self._id, other)
                wide = cut(wide, TopicPartition(other.topic, other.partition), other.offset)
            except FaultError as error:
                log.debug("Task %s: %s", self._id, error)
                wide = cut(wide, *_place(error.fault))
        # Keep the order of records exact: topics with several layouts go in small batches.
        self._go_small(topics)
        return None

    def _write_large(
        self, ranges: tuple[OffsetRange, ...], layouts: Layouts
    ) -> tuple[OffsetRange, ...]:
        rows = RangeRows(self._decoder, not_empty(ranges), layouts)
        done = partly(ranges, self._writer.write(rows))
        if done != ranges:
            # Many records are refused here: small batches find them with less work.
            self._go_small({each.partition.topic for each in ranges})
        return done

    def _write_runs(
        self, found: SortedOut, ranges: tuple[OffsetRange, ...]
    ) -> tuple[OffsetRange, ...]:
        """Write one run after another; return the ranges written, maybe not all of them."""
        if self._writer.tolerant:
            self._writer.report(found.unreadable)
        written: list[KafkaRecord] = []
        try:
            for run in found.runs:
                if not self._write_run(run, written):
                    return partly(ranges, ends_of(ranges_of(written)))
            if found.unreadable and not self._writer.tolerant:
                raise FaultError(found.unreadable[0].fault)
        except Exception as error:
            if written:
                # Commit what is written, so that it is not written again; the next batch
                # begins with the rest and fails if it still must.
                log.debug("Task %s: a part of a batch failed: %s", self._id, error)
                return partly(ranges, ends_of(ranges_of(written)))
            if isinstance(error, FaultError):
                self._report_last(error.fault, found)
            raise
        return ranges

    def _write_run(self, run: Run, written: list[KafkaRecord]) -> bool:
        """Write the run, or the records before a faulty one; return whether all is written."""
        for rows in FetchedRows(self._decoder, run).of_one_schema():
            try:
                ends = self._writer.write(rows)
            except FaultError as error:
                written += self._written_before(error.fault, rows)
                raise
            done = [each for each in rows.records if _is_before(each, ends)]
            written += done
            if len(done) < rows.size:
                return False
        return True

    def _written_before(self, fault: Fault, rows: FetchedRows) -> Sequence[KafkaRecord]:
        """Write the records before the faulty one."""
        place = _place(fault)
        number = len(list(takewhile(lambda record: _place(record) != place, rows.records)))
        if not 0 < number < rows.size:
            return []
        before, _ = rows.cut(number)
        self._writer.write(before)
        return before.records

    def _report_last(self, fault: Fault, found: SortedOut) -> None:
        """As in Connect, report a record that is not tolerated before the task fails."""
        records = [record for run in found.runs for record in run.records]
        records += [each.record for each in found.unreadable]
        place = _place(fault)
        self._writer.report([Unreadable(each, fault) for each in records if _place(each) == place])

    def _large_ranges(
        self, ranges: tuple[OffsetRange, ...], runs: Sequence[Run]
    ) -> tuple[OffsetRange, ...] | None:
        if len(runs) != 1 or not runs[0].layouts.regular:
            return None
        if self._are_mixed({each.partition.topic for each in ranges}):
            return None
        partitions = [each.partition for each in ranges]
        wide = large_ranges(ranges, self._ends(partitions))
        if wide is None or not self._one_topic:
            return wide
        return of_one_topic(wide)

    def _go_small(self, topics: Collection[str]) -> None:
        self._mixed_topics |= dict.fromkeys(topics, EVEN_BATCHES)

    def _are_mixed(self, topics: Collection[str]) -> bool:
        """Whether one of the topics had several layouts lately; this batch has one."""
        mixed = [topic for topic in topics if self._mixed_topics.get(topic)]
        for topic in mixed:
            self._mixed_topics[topic] -= 1
        return bool(mixed)


def _place(found: KafkaRecord | Fault) -> tuple[TopicPartition, int]:
    # A sink's records have a place, and so have the faults found in them.
    topic, partition, offset = found.topic, found.partition, found.offset
    return TopicPartition(cast("str", topic), cast("int", partition)), cast("int", offset)


def _is_before(record: KafkaRecord, ends: Mapping[TopicPartition, int]) -> bool:
    partition, offset = _place(record)
    return offset < ends.get(partition, 0)
