"""The batches of a sink task: from records the consumer returned to what the task has written."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, cast

from penstock.api.sink import FrameSinkTask, OffsetRange
from penstock.data.record import TaskId, TopicPartition
from penstock.errors import RefusedError
from penstock.plan.faults import Fault, FaultError, OtherLayoutError
from penstock.runtime.conversion_retry import ConversionRetry
from penstock.runtime.handing_over import HandingOver
from penstock.runtime.refused_records import RefusedRecords
from penstock.runtime.sink_plan import (
    Layouts,
    Run,
    SortedOut,
    Unreadable,
    cut,
    ends_of,
    large_ranges,
    not_empty,
    of_one_topic,
    partly,
    ranges_of,
    sort_out,
)
from penstock.runtime.sink_rows import RangeRows, RunRows, SinkPlans, SinkRows
from penstock.runtime.tolerance import ErrorSettings, FaultReports

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.data.record import KafkaRecord
    from penstock.plan.pipeline import Converters, SinkPipeline

log = logging.getLogger(__name__)

#: After so many small batches of one layout a large one is tried again.
EVEN_BATCHES = 20
LARGE_ATTEMPTS = 3


class SinkBatches:
    """Reads, converts and hands over one batch after another, in the order of the records.

    Args:
        connector: the connector's class, for reports of what the target refused.
        spark: the session, with this task's job group set.
        ends: the ends of partitions as far as they are known without asking the broker.
        stopping: whether the task is asked to stop.
    """

    def __init__(
        self,
        task_id: TaskId,
        connector: str,
        task: FrameSinkTask,
        spark: Callable[[], SparkSession],
        ends: Callable[[Collection[TopicPartition]], Mapping[TopicPartition, int]],
        *,
        make_converters: Callable[[], Converters],
        make_pipeline: Callable[[Converters], SinkPipeline],
        reader: Mapping[str, str],
        errors: ErrorSettings,
        reports: FaultReports,
        conversions: ConversionRetry,
        stopping: Callable[[], bool],
    ) -> None:
        self._id = task_id
        self._task = task
        self._ends = ends
        self._errors = errors
        self._reports = reports
        self._conversions = conversions
        self._plans = SinkPlans(
            spark,
            make_converters=make_converters,
            make_pipeline=make_pipeline,
            reader=reader,
            conversions=conversions,
            pieces=task.takes_pieces,
        )
        self._handing = HandingOver(connector, task, self._plans, errors, reports)
        self._refused = RefusedRecords(connector, self._handing, self._report, stopping)
        #: Topics with several layouts, and after how many even batches they count as even again.
        self._mixed_topics: dict[str, int] = {}

    def prepare(self) -> None:
        """Before the first record."""
        self._reports.prepare()

    def renew_plans(self) -> None:
        self._plans.renew()

    def write(
        self, records: Sequence[KafkaRecord], ranges: tuple[OffsetRange, ...]
    ) -> tuple[OffsetRange, ...]:
        """Write the records, or more than them if much more is waiting; the ranges written."""
        found = self._sorted_out(records)
        wide = None if found.unreadable else self._large_ranges(ranges, found.runs)
        if wide is not None:
            wide = self._try_large(wide, found.runs[0].layouts)
        return self._write_runs(found, ranges) if wide is None else wide

    def _try_large(
        self, ranges: tuple[OffsetRange, ...], layouts: Layouts
    ) -> tuple[OffsetRange, ...] | None:
        """Write the ranges up to the first odd or faulty record; None if that is not far."""
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
        rows = RangeRows(self._plans, not_empty(ranges), layouts)
        done = partly(ranges, self._write_rows(rows))
        if done != ranges:
            # Many records are refused here: small batches find them with less work.
            self._go_small({each.partition.topic for each in ranges})
        return done

    def _write_runs(
        self, found: SortedOut, ranges: tuple[OffsetRange, ...]
    ) -> tuple[OffsetRange, ...]:
        """Write one run after another; the ranges written, which may be less than all of them."""
        if self._errors.tolerant:
            self._report(found.unreadable)
        written: list[KafkaRecord] = []
        try:
            for run in found.runs:
                if not self._write_run(run, written):
                    return partly(ranges, ends_of(ranges_of(written)))
            if found.unreadable and not self._errors.tolerant:
                raise FaultError(found.unreadable[0].fault)
        except Exception as error:
            if written:
                # What is written is committed, so that it does not come again; then the rest
                # fails, if it still does.
                log.debug("Task %s: a part of a batch failed: %s", self._id, error)
                return partly(ranges, ends_of(ranges_of(written)))
            if isinstance(error, FaultError):
                self._report_last(error.fault, found)
            raise
        return ranges

    def _write_run(self, run: Run, written: list[KafkaRecord]) -> bool:
        """Write the run; if one of its records is faulty, those before it. Whether it is done."""
        for rows in RunRows(self._plans, run).of_one_schema():
            try:
                ends = self._write_rows(rows)
            except FaultError as error:
                written += self._written_before(error.fault, rows)
                raise
            done = [each for each in rows.records if _is_before(each, ends)]
            written += done
            if len(done) < rows.size:
                return False
        return True

    def _written_before(self, fault: Fault, rows: RunRows) -> Sequence[KafkaRecord]:
        """Write the records before the faulty one."""
        place = _place(fault)
        number = len(list(takewhile(lambda record: _place(record) != place, rows.records)))
        if not 0 < number < rows.size:
            return []
        before, _ = rows.cut(number)
        self._write_rows(before)
        return before.records

    def _write_rows(self, rows: SinkRows) -> Mapping[TopicPartition, int]:
        """Write the rows; up to where, of each partition, that is done."""
        parts = rows.typed()
        units = [None] if self._task.keeps_offsets else range(len(parts))
        for unit in units:
            try:
                self._handing.write(rows, parts, unit)
            except RefusedError as error:
                log.info("Task %s: looking for refused records: %s", self._id, error)
                done = self._refused.write_others(
                    rows, error, unit, whole=len(units) > 1, tolerant=self._errors.tolerant
                )
                if len(units) == 1:
                    return done
        return ends_of(rows.ranges)

    def _report_last(self, fault: Fault, found: SortedOut) -> None:
        """As in Connect, a record that is not tolerated is reported too before the task fails."""
        records = [record for run in found.runs for record in run.records]
        records += [each.record for each in found.unreadable]
        place = _place(fault)
        self._report([Unreadable(each, fault) for each in records if _place(each) == place])

    def _report(self, unreadable: Sequence[Unreadable]) -> None:
        if unreadable and self._reports.wanted:
            rows = [(each.record, each.fault) for each in unreadable]
            self._reports.report_records(self._plans.spark(), rows)

    def _sorted_out(self, records: Sequence[KafkaRecord]) -> SortedOut:
        return sort_out(
            records,
            self._plans.converters,
            tolerant=self._errors.tolerant,
            retry=self._conversions.run,
        )

    def _large_ranges(
        self, ranges: tuple[OffsetRange, ...], runs: Sequence[Run]
    ) -> tuple[OffsetRange, ...] | None:
        if len(runs) != 1 or not runs[0].layouts.regular:
            return None
        if self._are_mixed({each.partition.topic for each in ranges}):
            return None
        partitions = [each.partition for each in ranges]
        wide = large_ranges(ranges, self._ends(partitions))
        if wide is None or not self._task.takes_one_topic:
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
