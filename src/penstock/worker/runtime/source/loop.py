"""The source loop: read a batch, write it to Kafka through Spark, store its offsets."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from penstock.api.source import FrameSourceTask, Offsets, SourceBatch
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import RetriableError
from penstock.kernel.logs import Scope
from penstock.worker.interface import WorkerEvents
from penstock.worker.runtime.conversion_retry import ConversionRetry
from penstock.worker.runtime.first_step import FirstStep
from penstock.worker.runtime.source.part_offsets import PartOffsets
from penstock.worker.runtime.task_host import TaskControl
from penstock.worker.runtime.tolerance import ErrorSettings, FaultReports
from penstock.worker.storage.interfaces import OffsetStore

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.worker.engine.session import SparkEngine
    from penstock.worker.pipeline.kafka_io import KafkaWrite
    from penstock.worker.pipeline.pipeline import SourcePipeline

log = logging.getLogger(__name__)

STORE_SECONDS = 120.0
#: Within a batch: after a failure the next attempt stores more.
STORE_PART_SECONDS = 10.0
#: A figure that changes with every batch is not worth a status record each time.
SHOW_SECONDS = 10.0
#: Frames whose plans are kept; a task with more tables plans some of them again.
KEPT_PLANS = 100


class TargetTopics(Protocol):
    """Makes sure that topics exist before records are written to them."""

    def ensure(self, topics: set[str], deadline: Deadline) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceParts:
    """The parts of a source's loop.

    Attributes:
        producer: the properties of the producers that write its records.
        release: closes the clients made for the task.
    """

    make_task: Callable[[], FrameSourceTask]
    make_pipeline: Callable[[], SourcePipeline]
    topics: TargetTopics
    producer: Mapping[str, str]
    errors: ErrorSettings
    reports: FaultReports
    release: Callable[[], None]


class SourceWork:
    """Satisfies TaskWork for sources whose task reads frames."""

    def __init__(
        self,
        task: TaskId,
        config: Mapping[str, str],
        parts: SourceParts,
        *,
        offsets: OffsetStore,
        engine: SparkEngine,
        control: TaskControl,
        events: WorkerEvents,
    ) -> None:
        self._id = task
        self._config = config
        self._parts = parts
        self._errors = parts.errors
        self._reports = parts.reports
        self._offsets = offsets
        self._engine = engine
        self._control = control
        self._events = events
        self._conversions = ConversionRetry(parts.errors, control)
        self._task: FrameSourceTask | None = None
        self._pipeline: SourcePipeline | None = None
        self._seen_topics: set[str] = set()
        self._branches = False
        self._written: SourceBatch | None = None
        self._kept: dict[tuple[DataFrame, frozenset[str]], list[Callable[[], int]]] = {}
        self._first_step = FirstStep(task, events)
        self._figures: dict[str, int] = {}
        self._shown: dict[str, int] = {}
        self._show_again = Deadline.after(0, control.clock)
        self._group = f"penstock-{task}"

    # Called by the source task (api.SourceContext).

    @property
    def spark(self) -> SparkSession:
        session = self._engine.session_for(self._group, self._id.connector)
        self._control.check()
        return session

    @property
    def stopping(self) -> bool:
        return self._control.stopping

    @property
    def stores_parts(self) -> bool:
        # Tolerated records are reported after the batch, and the branches of a chain are written
        # one after another: until then no part is complete.
        reported_later = self._errors.tolerant and self._reports.wanted
        return not reported_later and not self._branches

    def offset(self, partition: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return self._offsets.get(self._id.connector, partition)

    def show(self, name: str, figure: int) -> None:
        self._figures[name] = figure

    # Called by the host (TaskWork).

    def start(self) -> None:
        self._stop_task()
        # Before the first record, so that faults of the config fail the task at once.
        self._pipeline = self._parts.make_pipeline()
        self._reports.prepare()
        self._offsets.refresh(Deadline.after(STORE_SECONDS))
        self._task = self._parts.make_task()
        self._task.start(self._config, self)

    def step(self) -> None:
        assert self._task is not None, "step() comes after start()"  # noqa: S101
        self._first_step.begin()
        batch = self._task.read()
        if batch is not None:
            self._control.check()
            self._write(batch)
        self._first_step.end()
        self._report_figures()
        if batch is None:
            self._control.wait(self._task.poll_interval_seconds)
            return
        self._written = batch
        self._store()
        self._task.committed()
        if not batch.more:
            self._control.wait(self._task.poll_interval_seconds)

    def idle(self) -> None:
        self._control.wait(60)

    def recover(self) -> None:
        """Start again from the stored offsets; the session may be a new one."""
        self._store()
        self._kept.clear()
        self.start()

    def cancel(self) -> None:
        self._engine.cancel(self._group)

    def close(self, deadline: Deadline) -> None:
        try:
            self._store(deadline)
        finally:
            self._stop_task()
            self._parts.release()

    def _report_figures(self) -> None:
        if self._figures != self._shown and self._show_again.expired:
            self._shown = dict(self._figures)
            self._show_again = Deadline.after(SHOW_SECONDS, self._control.clock)
            self._events.task_figures(self._id, self._shown)

    def _stop_task(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.stop()

    def _write(self, batch: SourceBatch) -> None:
        from penstock.worker.pipeline.faults import translated

        pipeline = self._pipeline
        assert pipeline is not None, "records come after start()"  # noqa: S101
        assert self._task is not None, "records come after start()"  # noqa: S101
        try:
            self._write_rows(pipeline, batch)
        except Exception as error:
            found = translated(error)
            raise (self._task.explained(error) if found is error else found) from error

    def _write_rows(self, pipeline: SourcePipeline, batch: SourceBatch) -> None:
        if not batch.repeatable and pipeline.reads_again(batch):
            from penstock.worker.pipeline.rows_on_disk import on_disk

            # A row that changes between two reads could be in no branch, or in two.
            with on_disk(batch.frame) as rows:
                self._write_rows(pipeline, replace(batch, frame=rows, kept=False, repeatable=True))
            return
        topics = pipeline.topics(batch)
        self._prepare_topics(topics)
        self._run(batch, self._writes(pipeline, batch, topics))

    def _run(self, batch: SourceBatch, writes: Sequence[Callable[[], int]]) -> None:
        self._branches = self._branches or len(writes) > 1
        if not batch.part_offsets or not self.stores_parts:
            for write in writes:
                write()
            return
        job = self._engine.next_job(self._group)
        parts = batch.part_offsets
        with PartOffsets(
            parts,
            finished=lambda: job.finished_parts(len(parts) + 1),
            put=lambda offsets: self._put(offsets, Deadline.after(STORE_PART_SECONDS)),
            scope=Scope.of(self._id),
        ):
            for write in writes:
                write()

    def _writes(
        self, pipeline: SourcePipeline, batch: SourceBatch, topics: frozenset[str]
    ) -> list[Callable[[], int]]:
        """The calls that write the batch, one for each branch of the chain."""
        from penstock.columns.catalyst import is_repeatable

        place = (batch.frame, pipeline.place(topics))
        if batch.kept and place in self._kept:
            return self._kept[place]
        frames = self._conversions.run(lambda: list(pipeline.encoded(batch, topics)))
        writes = [self._planned(frame) for frame in frames]
        if batch.kept and all(map(is_repeatable, frames)):
            if len(self._kept) >= KEPT_PLANS:
                self._kept.pop(next(iter(self._kept)))
            self._kept[place] = writes
        return writes

    def _planned(self, frame: DataFrame) -> Callable[[], int]:
        from penstock.worker.pipeline.faults import refuse_faults
        from penstock.worker.pipeline.kafka_io import KafkaWrite

        if not self._errors.tolerant:
            all_good = KafkaWrite(refuse_faults(frame, "topic"), self._parts.producer)
            return lambda: self._run_strictly(all_good, frame)
        good = KafkaWrite(frame, self._parts.producer, skip_faults=True)

        def run() -> int:
            written = good.run()
            if good.skipped and self._reports.wanted:
                self._report(frame, good.skipped)
            return written

        return run

    def _report(self, frame: DataFrame, skipped: int) -> None:
        """Report the skipped records. That reads the source again, which may have changed."""
        reported = self._reports.report(frame)
        if reported is not None and reported < skipped:
            raise RetriableError(
                "records that could not be converted have changed in the source meanwhile;"
                " the task reads the batch again"
            )

    def _run_strictly(self, write: KafkaWrite, frame: DataFrame) -> int:
        """As in Connect, report a record that is not tolerated before the task fails."""
        from penstock.worker.pipeline.faults import FaultError, translated

        try:
            return write.run()
        except Exception as error:
            failure = translated(error)
            if isinstance(failure, FaultError) and self._reports.wanted:
                self._reports.report(frame.filter("fault IS NOT NULL").limit(1))
            raise failure from error

    def _prepare_topics(self, topics: Collection[str]) -> None:
        """Create the topics the batch goes to, and report those that are new to this task."""
        new = set(topics) - self._seen_topics
        if not new:
            return
        self._parts.topics.ensure(new, Deadline.after(STORE_SECONDS))
        for topic in sorted(new):
            self._events.topic_used(self._id, topic)
        self._seen_topics |= new

    def _store(self, deadline: Deadline | None = None) -> None:
        """Store the offsets of the batch that was written.

        If that fails, only this is repeated, not the write: the records are already in Kafka.
        """
        batch = self._written
        if batch is not None:
            self._put(batch.offsets, deadline or Deadline.after(STORE_SECONDS))
        self._written = None

    def _put(self, offsets: Offsets, deadline: Deadline) -> None:
        # A task that was given up may write records twice, but must not store offsets: they may
        # have been changed meanwhile.
        if offsets and not self._control.given_up:
            entries = [(dict(partition), offset) for partition, offset in offsets.items()]
            self._offsets.put(self._id.connector, entries, deadline)
