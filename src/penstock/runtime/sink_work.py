"""The sink loop: wake when records are there, hand them to the task through Spark, commit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any, Protocol

from penstock.api.sink import FrameSinkTask, OffsetRange
from penstock.clock import Deadline
from penstock.data.record import TaskId, TopicPartition
from penstock.errors import RebalancedError
from penstock.runtime.job_thread import JobThread
from penstock.runtime.progress import FirstStep
from penstock.runtime.sink_batches import SinkBatches
from penstock.runtime.sink_plan import ranges_of
from penstock.runtime.task_host import PASSING, TaskControl
from penstock.worker_port import State, WorkerEvents

if TYPE_CHECKING:
    import re

    from pyspark.sql import SparkSession

    from penstock.kafka.clients.group_consumer import GroupConsumer, RawRecord
    from penstock.plan.session import SparkEngine
    from penstock.runtime.source_work import Progress

log = logging.getLogger(__name__)

BROKER_SECONDS = 120.0
POLL_SECONDS = 1.0
#: A batch that takes longer is waited for with polls in between.
QUICK_SECONDS = 5.0
REVOKE_SECONDS = 20.0
#: A task that its group does not know for so long, while the broker answers, joins anew.
REJOIN_SECONDS = 60.0
#: How often it is looked whether the topics are there, and are still those that they were.
TOPICS_SECONDS = 10.0


class MakeBatches(Protocol):
    """Makes what writes the batches of a task; see SinkBatches."""

    def __call__(
        self,
        task: FrameSinkTask,
        spark: Callable[[], SparkSession],
        ends: Callable[[Collection[TopicPartition]], Mapping[TopicPartition, int]],
    ) -> SinkBatches: ...


class SinkWork:
    """Satisfies TaskWork for sinks whose task writes frames."""

    def __init__(
        self,
        task: TaskId,
        config: Mapping[str, str],
        *,
        make_task: Callable[[], FrameSinkTask],
        make_consumer: Callable[[], GroupConsumer],
        make_batches: MakeBatches,
        subscription: Sequence[str] | re.Pattern[str],
        topic_ids: Callable[[Collection[str], Deadline], Mapping[str, str]],
        engine: SparkEngine,
        control: TaskControl,
        events: WorkerEvents,
        progress: Progress,
        release: Callable[[], None],
    ) -> None:
        self._id = task
        self._config = config
        self._make_task = make_task
        self._make_consumer = make_consumer
        self._make_batches = make_batches
        self._subscription = subscription
        self._ask_topic_ids = topic_ids
        self._engine = engine
        self._control = control
        self._events = events
        self._progress = progress
        self._release = release
        self._task: FrameSinkTask | None = None
        self._consumer: GroupConsumer | None = None
        self._batches: SinkBatches | None = None
        self._opened: set[TopicPartition] = set()
        #: Partitions for which the task was not yet asked where to begin.
        self._unplaced: set[TopicPartition] = set()
        self._seen_topics: set[str] = set()
        self._topic_ids: dict[str, str] = {}
        self._look_again = Deadline.after(0)
        self._waits_for: str | None = None
        #: Where the next batch of each partition begins.
        self._next: dict[TopicPartition, int] = {}
        #: What is written but not committed; not written again while the partition is ours.
        self._uncommitted: dict[TopicPartition, int] = {}
        self._first_step = FirstStep(task, events)
        self._joined = False
        self._paused = False
        self._holding = False
        self._leaving: frozenset[TopicPartition] = frozenset()
        self._cancelled = False
        #: Set while the group does not know us: it lost us, or takes no commit.
        self._stray_until: Deadline | None = None
        self._group = f"penstock-{task}"
        self._jobs = JobThread(f"task-{task}-job")
        self._job: Future[tuple[OffsetRange, ...]] | None = None

    # What a sink task may ask for (api.SinkContext).

    @property
    def spark(self) -> SparkSession:
        session = self._engine.session_for(self._group, self._id.connector)
        self._control.check()
        return session

    @property
    def stopping(self) -> bool:
        return self._control.stopping

    def topic_ids(self, topics: Collection[str]) -> Mapping[str, str]:
        found = self._ask_topic_ids(topics, _deadline())
        self._topic_ids |= found
        return found

    # What the group decides (kafka.clients.PartitionEvents); called inside consume().

    def assigned(self, partitions: Collection[TopicPartition]) -> None:
        assert self._task is not None  # noqa: S101 - there is a task while there is a consumer
        self._joined = True
        self._stray_until = None
        self._opened |= set(partitions)
        self._unplaced |= set(partitions)
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
        self._stray_until = Deadline.after(REJOIN_SECONDS)
        self._forget(partitions)

    def _forget(self, partitions: Collection[TopicPartition]) -> None:
        for partition in partitions:
            self._next.pop(partition, None)
            self._uncommitted.pop(partition, None)
        if self._task is not None and self._opened & set(partitions):
            self._task.closed(frozenset(self._opened & set(partitions)))
        self._opened -= set(partitions)
        self._unplaced -= set(partitions)

    # What the host asks for (TaskWork).

    def start(self) -> None:
        self._leave(_deadline())
        self._stray_until = None
        self._task = self._make_task()
        self._task.start(self._config, self)
        self._batches = self._make_batches(self._task, lambda: self.spark, self._known_ends)
        self._batches.prepare()
        self._consumer = self._make_consumer()
        self._consumer.subscribe(self._subscription, self)

    def step(self) -> None:
        consumer = self._live_consumer()
        self._commit()
        self._first_step.begin()
        if self._paused:
            self._paused = False
            consumer.resume(consumer.assignment)
        joined = self._joined
        records = consumer.consume(consumer.max_poll_records, POLL_SECONDS)
        ranges = ranges_of(records)
        for each in ranges:
            self._next.setdefault(each.partition, each.start)
        self._look_at_topics(consumer)
        if self._begins_elsewhere(consumer):
            return
        if not records:
            if joined:
                self._first_step.end()
            if self._is_stray():
                self.start()
            return
        self._job = self._jobs.submit(lambda: self._write(records, ranges))
        self._stay_in_group(consumer)
        self._settle()

    def _look_at_topics(self, consumer: GroupConsumer) -> None:
        """Tell which are missing; where one was made anew, have the task asked where to begin."""
        assert self._task is not None  # noqa: S101 - there is a task while there is a consumer
        if not self._look_again.expired:
            return
        self._look_again = Deadline.after(TOPICS_SECONDS)
        missing = consumer.waits_for()
        if missing != self._waits_for:
            self._waits_for = missing
            told = None if missing is None else f"waiting: {missing}"
            log.warning("Task %s: %s", self._id, told or "all its topics are there now")
            self._events.task_state(self._id, State.RUNNING, told)
        if self._task.keeps_offsets and self._opened:
            before = dict(self._topic_ids)
            now = self.topic_ids({each.topic for each in self._opened})
            anew = {topic for topic, known in now.items() if before.get(topic, known) != known}
            self._unplaced |= {each for each in self._opened if each.topic in anew}

    def _begins_elsewhere(self, consumer: GroupConsumer) -> bool:
        """Go where the task wants to begin; whether that is not where the consumer is."""
        assert self._task is not None  # noqa: S101 - there is a task while there is a consumer
        asked = self._unplaced & self._opened
        if not asked:
            return False
        starts = self._task.starting_offsets(frozenset(asked))
        self._unplaced -= asked
        elsewhere = {p: at for p, at in starts.items() if self._next.get(p) != at}
        if not elsewhere:
            return False
        log.info("Task %s begins where its target says: %s", self._id, elsewhere)
        self._next.update(elsewhere)
        here = consumer.assignment
        back = {partition: at for partition, at in self._next.items() if partition in here}
        consumer.seek(back, _deadline())
        return True

    def _is_stray(self) -> bool:
        """Whether the group has not known us for long, although the broker answers.

        Seen after a broker had hung and its coordinators moved: the library waited for ever.
        """
        if self._stray_until is None or not self._stray_until.expired:
            return False
        if self._seen_topics:
            self._ask_topic_ids(self._seen_topics, _deadline())  # raises if it does not answer
        log.warning("Task %s: its group does not know it any more; it joins anew", self._id)
        return True

    def idle(self) -> None:
        consumer = self._live_consumer()
        self._commit()
        if not self._paused:
            self._paused = True
            consumer.pause(consumer.assignment)
            # When it goes on its state is told anew, and so must this be.
            self._waits_for, self._look_again = None, Deadline.after(0)
        self._poll_without_reading(consumer, POLL_SECONDS)

    def recover(self) -> None:
        """Go back to where the failed batch began; the session may be another one by now."""
        if self._consumer is None or self._is_stray():
            self.start()
            return
        consumer = self._live_consumer()
        if self._uncommitted:
            # A commit fails until the group has taken us in again; the library tells that we are
            # out, and joins, only while somebody polls.
            self._poll_without_reading(consumer, POLL_SECONDS)
        if self._job is not None:
            # A poll failed, not the batch: it need not be written again.
            self._stay_in_group(consumer)
            self._settle()
        if self._batches is not None:
            self._batches.renew_plans()
        self._unplaced |= self._opened
        here = consumer.assignment
        back = {partition: at for partition, at in self._next.items() if partition in here}
        consumer.seek(back, _deadline())

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
            # Those of a consumer that did not end in time.
            self._forget(frozenset(self._opened))
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

    def _write(
        self, records: Sequence[RawRecord], ranges: tuple[OffsetRange, ...]
    ) -> tuple[OffsetRange, ...]:
        assert self._batches is not None  # noqa: S101 - start() made them
        self._control.check()
        return self._batches.write(records, ranges)

    def _finish(self, ranges: tuple[OffsetRange, ...]) -> None:
        # Partitions that left meanwhile are someone else's: those records come again there.
        ranges = tuple(each for each in ranges if each.partition in self._opened)
        written = {each.partition: each.end for each in ranges if each.end > each.start}
        self._next.update(written)
        self._uncommitted.update(written)
        self._progress.moved(sum(each.end - each.start for each in ranges))
        self._tell_topics(ranges)
        self._commit()
        self._first_step.end()
        self._go_on_at({each.partition: each.end for each in ranges})

    def _go_on_at(self, ends: Mapping[TopicPartition, int]) -> None:
        """Spark read more than the consumer did, or a part of what it returned was not written."""
        consumer = self._live_consumer()
        staying = [partition for partition in ends if partition not in self._leaving]
        fetched = consumer.positions(staying, _deadline())
        consumer.seek({p: ends[p] for p in staying if fetched[p] != ends[p]}, _deadline())

    def _commit(self) -> None:
        """Commit what is written. While that can't be, only this is repeated, not the write."""
        if not self._uncommitted or self._control.given_up:
            return
        try:
            self._live_consumer().commit(self._uncommitted, _deadline())
        except RebalancedError as error:
            # The next poll tells which partitions stay; what was written for others is theirs.
            log.info("Task %s: %s", self._id, error)
        except PASSING:
            self._stray_until = self._stray_until or Deadline.after(REJOIN_SECONDS)
            raise
        else:
            self._uncommitted.clear()
            self._stray_until = None

    def _tell_topics(self, ranges: tuple[OffsetRange, ...]) -> None:
        for topic in {each.partition.topic for each in ranges} - self._seen_topics:
            self._seen_topics.add(topic)
            self._events.topic_used(self._id, topic)

    def _known_ends(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        return self._live_consumer().end_offsets(partitions, _deadline(), cached=True)

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
