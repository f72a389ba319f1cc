"""The batches of a sink task: from records the consumer returned to what the task has written."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, cast

from penstock.api.sink import FrameSinkTask, OffsetRange, SinkBatch
from penstock.data.record import TaskId, TopicPartition
from penstock.plan.faults import (
    ORIGINAL,
    Fault,
    FaultError,
    OtherLayoutError,
    refuse_faults,
    translated,
)
from penstock.runtime.conversion_retry import ConversionRetry
from penstock.runtime.sink_plan import (
    Layouts,
    Run,
    SortedOut,
    Unreadable,
    cut,
    large_ranges,
    of_one_topic,
    partly,
    ranges_of,
    sort_out,
)
from penstock.runtime.tolerance import ErrorSettings, FaultReports

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.kafka.clients.group_consumer import RawRecord
    from penstock.plan.pipeline import Converters, SinkPipeline, Typed

log = logging.getLogger(__name__)

#: After so many small batches of one layout a large one is tried again.
EVEN_BATCHES = 20
LARGE_ATTEMPTS = 3
#: So many records are decoded one by one in less time than a job takes to plan.
FEW_RECORDS = 100


class SinkBatches:
    """Reads, converts and hands over one batch after another, in the order of the records.

    Args:
        spark: the session, with this task's job group set.
        ends: the ends of partitions as far as they are known without asking the broker.
    """

    def __init__(
        self,
        task_id: TaskId,
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
    ) -> None:
        self._id = task_id
        self._task = task
        self._spark = spark
        self._make_converters = make_converters
        self._make_pipeline = make_pipeline
        self._reader = reader
        self._ends = ends
        self._errors = errors
        self._reports = reports
        self._conversions = conversions
        self._converters: Converters | None = None
        self._pipeline: SinkPipeline | None = None
        #: Topics with several layouts, and after how many even batches they count as even again.
        self._mixed_topics: dict[str, int] = {}

    def forget_plans(self) -> None:
        """Make converters and expressions anew: those of another Spark session are of no use."""
        self._converters = None
        self._pipeline = None

    def write(
        self, records: Sequence[RawRecord], ranges: tuple[OffsetRange, ...]
    ) -> tuple[OffsetRange, ...]:
        """Write the records, or more than them if much more is waiting; the ranges written."""
        found = self._conversions.run(lambda: self._sorted_out(records))
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
                self._write_large(wide, layouts)
            except OtherLayoutError as other:
                log.debug("Task %s: %s", self._id, other)
                wide = cut(wide, TopicPartition(other.topic, other.partition), other.offset)
            except FaultError as error:
                log.debug("Task %s: %s", self._id, error)
                wide = cut(wide, *_place(error.fault))
            else:
                return wide
        # Keep the order of records exact: topics with several layouts go in small batches.
        self._mixed_topics |= dict.fromkeys(topics, EVEN_BATCHES)
        return None

    def _write_runs(
        self, found: SortedOut, ranges: tuple[OffsetRange, ...]
    ) -> tuple[OffsetRange, ...]:
        """Write one run after another; the ranges written, which may be less than all of them."""
        if self._errors.tolerant:
            self._report(found.unreadable)
        written: list[RawRecord] = []
        try:
            for run in found.runs:
                self._write_before_fault(run, written)
            if found.unreadable and not self._errors.tolerant:
                raise FaultError(found.unreadable[0].fault)
        except Exception as error:
            if written:
                # What is written is committed, so that it does not come again; then the rest
                # fails, if it still does.
                log.debug("Task %s: a part of a batch failed: %s", self._id, error)
                return partly(ranges, ranges_of(written))
            if isinstance(error, FaultError):
                self._report_last(error.fault, found)
            raise
        return ranges

    def _write_before_fault(self, run: Run, written: list[RawRecord]) -> None:
        """Write the run; if one of its records is faulty, those before it."""
        try:
            self._write_run(run)
            written += run.records
        except FaultError as error:
            place = _place(error.fault)
            before = list(takewhile(lambda record: _place(record) != place, run.records))
            if before and len(before) < len(run.records):
                self._write_run(Run(run.layouts, before))
                written += before
            raise

    def _report_last(self, fault: Fault, found: SortedOut) -> None:
        """As in Connect, a record that is not tolerated is reported too before the task fails."""
        records = [record for run in found.runs for record in run.records]
        records += [each.record for each in found.unreadable]
        place = _place(fault)
        self._report([Unreadable(each, fault) for each in records if _place(each) == place])

    def _report(self, unreadable: Sequence[Unreadable]) -> None:
        from penstock.plan.inline_records import fault_frame

        if unreadable and self._reports.wanted:
            rows = [(each.record, each.fault) for each in unreadable]
            self._reports.report(fault_frame(self._spark(), rows))

    def _sorted_out(self, records: Sequence[RawRecord]) -> SortedOut:
        if self._converters is None:
            self._converters = self._make_converters()
        return sort_out(records, self._converters, tolerant=self._errors.tolerant)

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

    def _are_mixed(self, topics: Collection[str]) -> bool:
        """Whether one of the topics had several layouts lately; this batch has one."""
        mixed = [topic for topic in topics if self._mixed_topics.get(topic)]
        for topic in mixed:
            self._mixed_topics[topic] -= 1
        return bool(mixed)

    def _write_large(self, ranges: tuple[OffsetRange, ...], layouts: Layouts) -> None:
        from penstock.plan import kafka_io

        ranges = tuple(each for each in ranges if each.end > each.start)
        spark = self._spark()
        pieces = max(1, spark.sparkContext.defaultParallelism * self._task.takes_pieces)
        raw = kafka_io.read_ranges(spark, ranges, self._reader, pieces=pieces)
        self._write_raw(raw, layouts, ranges)

    def _write_run(self, run: Run) -> None:
        from penstock.plan import inline_records

        ranges = ranges_of(run.records)
        if run.layouts.regular:
            if not self._write_few(run, ranges):
                raw = inline_records.raw_frame(self._spark(), run.records)
                self._write_raw(raw, run.layouts, ranges)
            return
        assert self._converters is not None  # noqa: S101 - _sorted_out() made them
        typed = inline_records.decoded_frames(self._spark(), run.records, self._converters)
        self._hand_over([part for each in typed for part in self._transformed(each)], ranges)

    def _write_few(self, run: Run, ranges: tuple[OffsetRange, ...]) -> bool:
        """Write a few good records, decoded here: sooner done than an expression is planned."""
        from penstock.plan import inline_records

        if len(run.records) > FEW_RECORDS:
            return False
        assert self._converters is not None  # noqa: S101 - _sorted_out() made them
        schemas = (run.layouts.key.schema, run.layouts.value.schema)
        typed = inline_records.decoded_frame(self._spark(), run.records, self._converters, schemas)
        if typed is None:
            return False
        self._hand_over(self._transformed(typed), ranges)
        return True

    def _transformed(self, typed: Typed) -> list[Typed]:
        pipe = self._pipe()
        return self._conversions.run(lambda: list(pipe.transformed(typed)))

    def _write_raw(self, raw: DataFrame, layouts: Layouts, ranges: tuple[OffsetRange, ...]) -> None:
        pipe = self._pipe()
        decoded = self._conversions.run(lambda: list(pipe.decoded(raw, layouts.key, layouts.value)))
        self._hand_over(decoded, ranges)

    def _hand_over(self, parts: Sequence[Typed], ranges: tuple[OffsetRange, ...]) -> None:
        for number, typed in enumerate(parts, 1):
            self._hand_over_part(typed, ranges, more=number < len(parts))

    def _hand_over_part(self, typed: Typed, ranges: tuple[OffsetRange, ...], *, more: bool) -> None:
        from penstock.plan.kafka_io import IN_FLIGHT

        frame = typed.frame
        read = frozenset(each.partition.topic for each in ranges)
        batch = SinkBatch(
            self._good(typed).select(*IN_FLIGHT),
            ranges,
            typed.key_schema,
            typed.value_schema,
            topics=self._pipe().topics(typed, read),
            more=more,
        )
        try:
            if self._errors.tolerant and not typed.clean:
                self._reports.report(frame)
            self._task.write(batch)
        except Exception as error:
            self._task.discard(batch)
            raise translated(error) from error

    def _good(self, typed: Typed) -> DataFrame:
        if typed.clean:
            return typed.frame
        if self._errors.tolerant:
            return typed.frame.filter("fault IS NULL")
        return refuse_faults(typed.frame, ORIGINAL["topic"])

    def _pipe(self) -> SinkPipeline:
        assert self._converters is not None  # noqa: S101 - _sorted_out() made them
        if self._pipeline is None:
            self._pipeline = self._make_pipeline(self._converters)
        return self._pipeline


def _place(found: RawRecord | Fault) -> tuple[TopicPartition, int]:
    # A sink's records have a place, and so have the faults found in them.
    topic, partition, offset = found.topic, found.partition, found.offset
    return TopicPartition(cast("str", topic), cast("int", partition)), cast("int", offset)
