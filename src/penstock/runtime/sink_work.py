"""The sink loop: wake when records are there, hand them to the task through Spark, commit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any

from penstock.api.sink import FrameSinkTask, OffsetRange, SinkBatch
from penstock.clock import Deadline
from penstock.data.record import TaskId, TopicPartition
from penstock.errors import DataError, RebalancedError
from penstock.runtime.conversion_retry import ConversionRetry
from penstock.runtime.job_thread import JobThread
from penstock.runtime.sink_plan import (
    Layouts,
    Run,
    SortedOut,
    Unreadable,
    large_ranges,
    partly,
    ranges_of,
    sort_out,
)
from penstock.runtime.task_host import TaskControl
from penstock.runtime.tolerance import ErrorSettings, FaultReports
from penstock.worker_port import WorkerEvents

if TYPE_CHECKING:
    import re

    from pyspark.sql import DataFrame, SparkSession

    from penstock.kafka.clients.group_consumer import GroupConsumer, RawRecord
    from penstock.plan.pipeline import Converters, SinkPipeline, Typed
    from penstock.plan.session import SparkEngine
    from penstock.runtime.source_work import Progress

log = logging.getLogger(__name__)

BROKER_SECONDS = 120.0
POLL_SECONDS = 1.0
#: A batch that takes longer is waited for with polls in between.
QUICK_SECONDS = 5.0
REVOKE_SECONDS = 20.0
#: After so many small batches of one layout a large one is tried again.
EVEN_BATCHES = 20


class SinkWork:
    """Satisfies TaskWork for sinks whose task writes frames."""

    def __init__(
        self,
        task: TaskId,
        config: Mapping[str, str],
        *,
        make_task: Callable[[], FrameSinkTask],
        make_consumer: Callable[[], GroupConsumer],
        make_pipeline: Callable[[Converters], SinkPipeline],
        make_converters: Callable[[], Converters],
        subscription: Sequence[str] | re.Pattern[str],
        reader: Mapping[str, str],
        engine: SparkEngine,
        errors: ErrorSettings,
        reports: FaultReports,
        control: TaskControl,
        events: WorkerEvents,
        progress: Progress,
        release: Callable[[], None],
    ) -> None:
        self._id = task
        self._config = config
        self._make_task = make_task
        self._make_consumer = make_consumer
        self._make_pipeline = make_pipeline
        self._make_converters = make_converters
        self._subscription = subscription
        self._reader = reader
        self._engine = engine
        self._errors = errors
        self._reports = reports
        self._control = control
        self._events = events
        self._progress = progress
        self._release = release
        self._conversions = ConversionRetry(errors, control)
        self._task: FrameSinkTask | None = None
        self._consumer: GroupConsumer | None = None
        self._converters: Converters | None = None
        self._pipeline: SinkPipeline | None = None
        self._opened: set[TopicPartition] = set()
        self._seen_topics: set[str] = set()
        #: Topics with several layouts, and after how many even batches they count as even again.
        self._mixed_topics: dict[str, int] = {}
        #: Where the next batch of each partition begins.
        self._next: dict[TopicPartition, int] = {}
        #: What is written but not committed; not written again while the partition is ours.
        self._uncommitted: dict[TopicPartition, int] = {}
        self._paused = False
        self._holding = False
        self._leaving: frozenset[TopicPartition] = frozenset()
        self._cancelled = False
        self._group = f"penstock-{task}"
        self._jobs = JobThread(f"task-{task}-job")
        self._job: Future[tuple[OffsetRange, ...]] | None = None

    # What a sink task may ask for (api.SinkContext).

    @property
    def spark(self) -> SparkSession:
        return self._engine.session_for(self._group, self._id.connector)

    @property
    def stopping(self) -> bool:
        return self._control.stopping

    # What the group decides (kafka.clients.PartitionEvents); called inside consume().

    def assigned(self, partitions: Collection[TopicPartition]) -> None:
        assert self._task is not None  # noqa: S101 - there is a task while there is a consumer
        self._opened |= set(partitions)
        self._task.opened(frozenset(partitions))
        if (self._paused or self._holding) and self._consumer is not None:
            self._consumer.pause(partitions)

    def revoked(self, partitions: Collection[TopicPartition]) -> None:
        self._leaving = frozenset(partitions)
        try:
            self._settle_before_revocation()
            self._commit()
        finally:
            self._leaving = frozenset()
            self._forget(partitions)

    def lost(self, partitions: Collection[TopicPartition]) -> None:
        self._forget(partitions)

    def _forget(self, partitions: Collection[TopicPartition]) -> None:
        for partition in partitions:
            self._next.pop(partition, None)
            self._uncommitted.pop(partition, None)
        if self._task is not None and self._opened & set(partitions):
            self._task.closed(frozenset(self._opened & set(partitions)))
        self._opened -= set(partitions)

    # What the host asks for (TaskWork).

    def start(self) -> None:
        self._leave(_deadline())
        self._task = self._make_task()
        self._task.start(self._config, self)
        self._consumer = self._make_consumer()
        self._consumer.subscribe(self._subscription, self)

    def step(self) -> None:
        consumer = self._live_consumer()
        self._commit()
        if self._paused:
            self._paused = False
            consumer.resume(consumer.assignment)
        records = consumer.consume(consumer.max_poll_records, POLL_SECONDS)
        if not records:
            return
        ranges = ranges_of(records)
        for each in ranges:
            self._next.setdefault(each.partition, each.start)
        self._job = self._jobs.submit(lambda: self._guarded_move(records, ranges))
        self._stay_in_group(consumer)
        self._settle()

    def idle(self) -> None:
        consumer = self._live_consumer()
        self._commit()
        if not self._paused:
            self._paused = True
            consumer.pause(consumer.assignment)
        self._poll_without_reading(consumer, POLL_SECONDS)

    def recover(self) -> None:
        """Go back to where the failed batch began; the session may be another one by now."""
        self._converters = None
        self._pipeline = None
        here = self._live_consumer().assignment
        back = {partition: at for partition, at in self._next.items() if partition in here}
        self._live_consumer().seek(back, _deadline())

    def cancel(self) -> None:
        self._engine.cancel(self._group)

    def close(self, deadline: Deadline) -> None:
        self._jobs.close()
        try:
            self._leave(deadline)
        finally:
            self._release()

    def _leave(self, deadline: Deadline) -> None:
        """Leave the group, which commits what is written, and end the task."""
        try:
            if self._consumer is not None:
                self._consumer.close(deadline)
        finally:
            self._consumer = None
            task, self._task = self._task, None
            if task is not None:
                task.stop()

    # While a batch is being written.

    def _stay_in_group(self, consumer: GroupConsumer) -> None:
        """Wait for the batch; if it takes long, poll meanwhile, or the group counts us out."""
        if not self._busy_after(QUICK_SECONDS):
            return
        self._holding = True
        try:
            consumer.pause(consumer.assignment)
            while self._busy_after(POLL_SECONDS):
                self._poll_without_reading(consumer, 0)
        finally:
            self._holding = False
            consumer.resume(consumer.assignment)

    def _poll_without_reading(self, consumer: GroupConsumer, seconds: float) -> None:
        dropped = consumer.consume(1, seconds)
        if dropped:
            # Fetched before the pause took hold: it comes again after it.
            consumer.seek(self._next_of(dropped), _deadline())

    def _busy_after(self, seconds: float) -> bool:
        """Whether the batch is still being written after that long."""
        return self._job is not None and not _done_within(self._job, seconds)

    def _settle(self) -> None:
        """Commit the batch if it was written; raise what it failed with."""
        job, self._job = self._job, None
        if job is not None:
            self._finish(job.result())
        elif self._cancelled:
            self._cancelled = False
            raise RebalancedError("the partitions moved while a batch of them was being written")

    def _settle_before_revocation(self) -> None:
        """The partitions go elsewhere: finish the batch, or cancel it, while they are ours."""
        job = self._job
        if job is None:
            return
        if not _done_within(job, REVOKE_SECONDS / 2):
            log.warning("Task %s: cancelling a batch, its partitions are moving", self._id)
            self._cancelled = True
            self.cancel()
            _done_within(job, REVOKE_SECONDS / 2)
        if job.done() and job.exception() is None:
            self._cancelled = False
            self._settle()
        elif self._cancelled:
            # Its failure says nothing about the records: whoever gets the partitions repeats it.
            self._job = None

    def _guarded_move(
        self, records: Sequence[RawRecord], ranges: tuple[OffsetRange, ...]
    ) -> tuple[OffsetRange, ...]:
        with self._engine.guard():
            return self._move(records, ranges)

    # One batch.

    def _move(
        self, records: Sequence[RawRecord], ranges: tuple[OffsetRange, ...]
    ) -> tuple[OffsetRange, ...]:
        """Write the records, or more than them if much more is waiting; the ranges written."""
        from penstock.plan.faults import OtherLayoutError

        sorted_out = self._conversions.run(lambda: self._sorted_out(records))
        runs = sorted_out.runs
        wide = self._large_ranges(ranges, runs)
        if wide is not None and not sorted_out.unreadable:
            try:
                self._write_large(wide, runs[0].layouts)
            except OtherLayoutError:
                # Keep the order of records exact: topics with several layouts go in small batches.
                self._mixed_topics |= {each.partition.topic: EVEN_BATCHES for each in wide}
            else:
                return wide
        return self._write_runs(sorted_out, ranges)

    def _write_runs(
        self, found: SortedOut, ranges: tuple[OffsetRange, ...]
    ) -> tuple[OffsetRange, ...]:
        """Write one run after another; the ranges written, which may be less than all of them."""
        if found.unreadable and self._errors.tolerant:
            self._report(found.unreadable)
        written: list[RawRecord] = []
        try:
            for run in found.runs:
                self._write_run(run)
                written += run.records
            if found.unreadable and not self._errors.tolerant:
                first = found.unreadable[0]
                raise DataError(f"Tolerance exceeded in error handler: {first.fault}")
        except Exception as error:
            if not written:
                raise
            # What is written is committed, so that it does not come again; then the rest fails,
            # if it still does.
            log.debug("Task %s: a part of a batch failed: %s", self._id, error)
            return partly(ranges, ranges_of(written))
        return ranges

    def _report(self, unreadable: Sequence[Unreadable]) -> None:
        from penstock.plan.inline_records import fault_frame

        if self._reports.wanted:
            rows = [(each.record, each.fault) for each in unreadable]
            self._reports.report(fault_frame(self.spark, rows))

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
        ends = self._live_consumer().end_offsets(partitions, _deadline(), cached=True)
        return large_ranges(ranges, ends)

    def _are_mixed(self, topics: Collection[str]) -> bool:
        """Whether one of the topics had several layouts lately; this batch has one."""
        mixed = [topic for topic in topics if self._mixed_topics.get(topic)]
        for topic in mixed:
            self._mixed_topics[topic] -= 1
        return bool(mixed)

    def _write_large(self, ranges: tuple[OffsetRange, ...], layouts: Layouts) -> None:
        from penstock.plan import kafka_io

        raw = kafka_io.read_ranges(self.spark, ranges, self._reader)
        self._write_raw(raw, layouts, ranges)

    def _write_run(self, run: Run) -> None:
        from penstock.plan import inline_records

        ranges = ranges_of(run.records)
        if run.layouts.regular:
            raw = inline_records.raw_frame(self.spark, run.records)
            self._write_raw(raw, run.layouts, ranges)
            return
        assert self._converters is not None  # noqa: S101 - _runs() made them
        typed = inline_records.decoded_frames(self.spark, run.records, self._converters)
        for each in typed:
            for branch in self._transformed(each):
                self._hand_over(branch, ranges)

    def _transformed(self, typed: Typed) -> list[Typed]:
        pipe = self._pipe()
        return self._conversions.run(
            lambda: list(pipe.transformed(typed.frame, typed.key_schema, typed.value_schema))
        )

    def _write_raw(self, raw: DataFrame, layouts: Layouts, ranges: tuple[OffsetRange, ...]) -> None:
        pipe = self._pipe()
        decoded = self._conversions.run(lambda: list(pipe.decoded(raw, layouts.key, layouts.value)))
        for typed in decoded:
            self._hand_over(typed, ranges)

    def _hand_over(self, typed: Typed, ranges: tuple[OffsetRange, ...]) -> None:
        from penstock.plan.faults import refuse_faults, translated
        from penstock.plan.kafka_io import IN_FLIGHT

        assert self._task is not None  # noqa: S101 - start() came first
        frame = typed.frame
        good = (
            frame.filter(frame["fault"].isNull()) if self._errors.tolerant else refuse_faults(frame)
        )
        batch = SinkBatch(good.select(*IN_FLIGHT), ranges, typed.key_schema, typed.value_schema)
        try:
            if self._errors.tolerant:
                self._reports.report(frame)
            self._task.write(batch)
        except Exception as error:
            self._task.discard(batch)
            raise translated(error) from error

    def _finish(self, ranges: tuple[OffsetRange, ...]) -> None:
        # Partitions that left meanwhile are someone else's: those records come again there.
        ranges = tuple(each for each in ranges if each.partition in self._opened)
        written = {each.partition: each.end for each in ranges if each.end > each.start}
        self._next.update(written)
        self._uncommitted.update(written)
        self._progress.moved(sum(each.end - each.start for each in ranges))
        self._tell_topics(ranges)
        self._commit()
        self._go_on_at({each.partition: each.end for each in ranges})

    def _go_on_at(self, ends: Mapping[TopicPartition, int]) -> None:
        """Spark read more than the consumer did, or a part of what it returned was not written."""
        consumer = self._live_consumer()
        staying = [partition for partition in ends if partition not in self._leaving]
        fetched = consumer.positions(staying, _deadline())
        consumer.seek({p: ends[p] for p in staying if fetched[p] != ends[p]}, _deadline())

    def _commit(self) -> None:
        """Commit what is written. While that can't be, only this is repeated, not the write."""
        if not self._uncommitted:
            return
        try:
            self._live_consumer().commit(self._uncommitted, _deadline())
        except RebalancedError as error:
            # The next poll tells which partitions stay; what was written for others is theirs.
            log.info("Task %s: %s", self._id, error)
        else:
            self._uncommitted.clear()

    def _tell_topics(self, ranges: tuple[OffsetRange, ...]) -> None:
        for topic in {each.partition.topic for each in ranges} - self._seen_topics:
            self._seen_topics.add(topic)
            self._events.topic_used(self._id, topic)

    def _pipe(self) -> SinkPipeline:
        assert self._converters is not None  # noqa: S101 - _runs() made them
        if self._pipeline is None:
            self._pipeline = self._make_pipeline(self._converters)
        return self._pipeline

    def _live_consumer(self) -> GroupConsumer:
        assert self._consumer is not None, "start() comes first"  # noqa: S101
        return self._consumer

    @staticmethod
    def _next_of(records: Sequence[RawRecord]) -> dict[TopicPartition, int]:
        return {each.partition: each.start for each in ranges_of(records)}


def _done_within(job: Future[Any], seconds: float) -> bool:
    wait([job], seconds)
    return job.done()


def _deadline() -> Deadline:
    return Deadline.after(BROKER_SECONDS)
