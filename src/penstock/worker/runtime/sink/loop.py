"""The sink loop: poll for records, pass them to the task through Spark, commit."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any

from penstock.api.sink import FrameSinkTask, OffsetRange
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TaskId, TopicPartition
from penstock.kernel.errors import RebalancedError, RetriableError
from penstock.worker.interface import State, WorkerEvents
from penstock.worker.runtime.first_step import FirstStep
from penstock.worker.runtime.job_thread import JobThread
from penstock.worker.runtime.sink.batches import SinkBatches
from penstock.worker.runtime.sink.dependencies import SinkParts
from penstock.worker.runtime.sink.partitions import Partitions
from penstock.worker.runtime.sink.ranges import ranges_of
from penstock.worker.runtime.task_host import PASSING, TaskControl

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.kafka.clients.group_consumer import GroupConsumer
    from penstock.kafka.clients.raw_records import RawRecord
    from penstock.worker.engine.session import SparkEngine

log = logging.getLogger(__name__)

BROKER_SECONDS = 120.0
POLL_SECONDS = 1.0
#: While a batch takes longer than this, the loop polls to stay in the group.
QUICK_SECONDS = 5.0
REVOKE_SECONDS = 20.0
#: A task that its group does not know for so long, while the broker answers, joins again.
REJOIN_SECONDS = 60.0
#: How often the loop checks whether its topics exist, and whether one was created again.
TOPICS_SECONDS = 10.0


class SinkWork:
    """Satisfies TaskWork for sinks whose task writes frames."""

    def __init__(
        self,
        task: TaskId,
        config: Mapping[str, str],
        parts: SinkParts,
        *,
        engine: SparkEngine,
        control: TaskControl,
        events: WorkerEvents,
    ) -> None:
        self._id = task
        self._config = config
        self._parts = parts
        self._engine = engine
        self._control = control
        self._events = events
        self._task: FrameSinkTask | None = None
        self._consumer: GroupConsumer | None = None
        self._batches: SinkBatches | None = None
        self._partitions = Partitions()
        self._seen_topics: set[str] = set()
        self._topic_ids: dict[str, str] = {}
        self._look_again = Deadline.after(0)
        self._waits_for: str | None = None
        self._first_step = FirstStep(task, events)
        self._joined = False
        self._paused = False
        self._holding = False
        self._leaving: frozenset[TopicPartition] = frozenset()
        self._cancelled = False
        #: Set while the group does not know this task: it lost it, or takes no commit.
        self._stray_until: Deadline | None = None
        self._group = f"penstock-{task}"
        self._jobs = JobThread(f"task-{task}-job")
        self._job: Future[tuple[OffsetRange, ...]] | None = None

    # Called by the sink task (api.SinkContext).

    @property
    def spark(self) -> SparkSession:
        session = self._engine.session_for(self._group, self._id.connector)
        self._control.check()
        return session

    @property
    def stopping(self) -> bool:
        return self._control.stopping

    def topic_ids(self, topics: Collection[str]) -> Mapping[str, str]:
        found = self._parts.topic_ids(topics, _deadline())
        self._topic_ids |= found
        return found

    # Called by consume() when the group assigns partitions (kafka.clients.PartitionEvents).

    def assigned(self, partitions: Collection[TopicPartition]) -> None:
        assert self._task is not None  # noqa: S101 - there is a task while there is a consumer
        self._joined = True
        self._stray_until = None
        self._partitions.add(partitions)
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
        closed = self._partitions.remove(partitions)
        if self._task is not None and closed:
            self._task.closed(closed)

    # Called by the host (TaskWork).

    def start(self) -> None:
        self._leave(_deadline())
        self._stray_until = None
        self._task = self._parts.make_task()
        self._task.start(self._config, self)
        self._batches = self._parts.make_batches(self._task, lambda: self.spark, self._known_ends)
        self._batches.prepare()
        if self._control.stopping:
            raise RetriableError("the task is stopping, so it does not join its group")
        self._consumer = self._parts.make_consumer()
        self._consumer.subscribe(self._parts.subscription, self)

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
        self._partitions.begin(ranges)
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
        """Report missing topics; if one was created again, ask the task where to begin."""
        assert self._task is not None  # noqa: S101 - there is a task while there is a consumer
        if not self._look_again.expired:
            return
        self._look_again = Deadline.after(TOPICS_SECONDS)
        missing = consumer.waits_for()
        if missing != self._waits_for:
            self._waits_for = missing
            reason = None if missing is None else f"waiting: {missing}"
            log.warning("Task %s: %s", self._id, reason or "all its topics exist now")
            self._events.task_state(self._id, State.RUNNING, reason)
        if self._task.traits.keeps_offsets and self._partitions.ours:
            before = dict(self._topic_ids)
            now = self.topic_ids(self._partitions.topics)
            recreated = {topic for topic, known in now.items() if before.get(topic, known) != known}
            self._partitions.place_again(recreated)

    def _begins_elsewhere(self, consumer: GroupConsumer) -> bool:
        """Seek to where the task wants to begin; return whether that is another offset."""
        assert self._task is not None  # noqa: S101 - there is a task while there is a consumer
        asked = self._partitions.unplaced & self._partitions.ours
        if not asked:
            return False
        starts = self._task.starting_offsets(frozenset(asked))
        self._partitions.unplaced -= asked
        places = self._partitions.next
        elsewhere = {p: at for p, at in starts.items() if places.get(p) != at}
        if not elsewhere:
            return False
        log.info("Task %s begins where its target says: %s", self._id, elsewhere)
        places.update(elsewhere)
        consumer.seek(self._partitions.places(consumer.assignment), _deadline())
        return True

    def _is_stray(self) -> bool:
        """Whether the group has not known this task for long, although the broker answers.

        Seen after a broker had hung and its coordinators moved: the library waited forever.
        """
        if self._stray_until is None or not self._stray_until.expired:
            return False
        if self._seen_topics:
            self._parts.topic_ids(self._seen_topics, _deadline())  # raises if it does not answer
        log.warning("Task %s: its group does not know it any more; it joins again", self._id)
        return True

    def idle(self) -> None:
        consumer = self._live_consumer()
        self._commit()
        if not self._paused:
            self._paused = True
            consumer.pause(consumer.assignment)
            # On resume the host reports RUNNING, which clears this reason: report it again then.
            self._waits_for, self._look_again = None, Deadline.after(0)
        self._poll_without_reading(consumer, POLL_SECONDS)

    def recover(self) -> None:
        """Go back to where the failed batch began; the session may be a new one."""
        if self._consumer is None or self._is_stray():
            self.start()
            return
        consumer = self._live_consumer()
        if self._partitions.uncommitted:
            # A commit fails until the task is back in its group; the library reports the loss,
            # and joins again, only in a poll.
            self._poll_without_reading(consumer, POLL_SECONDS)
        if self._job is not None:
            # A poll failed, not the batch: it need not be written again.
            self._stay_in_group(consumer)
            self._settle()
        if self._batches is not None:
            self._batches.renew_plans()
        self._partitions.place_again()
        consumer.seek(self._partitions.places(consumer.assignment), _deadline())

    def cancel(self) -> None:
        self._engine.cancel(self._group)

    def close(self, deadline: Deadline) -> None:
        self._jobs.close()
        try:
            self._leave(deadline)
        finally:
            self._parts.release()

    def _leave(self, deadline: Deadline) -> None:
        """Leave the group, which commits what is written, and stop the task."""
        try:
            if self._consumer is not None:
                self._consumer.close(deadline)
        finally:
            self._consumer = None
            # A consumer that did not close in time reports no revocation.
            self._forget(frozenset(self._partitions.ours))
            task, self._task = self._task, None
            if task is not None:
                task.stop()

    # While a batch is being written.

    def _stay_in_group(self, consumer: GroupConsumer) -> None:
        """Wait for the batch; if it takes long, poll meanwhile, or the group drops the task."""
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
            # Fetched before the pause took effect: it is fetched again after the pause.
            ranges = ranges_of(dropped)
            self._partitions.begin(ranges)
            consumer.seek({each.partition: each.start for each in ranges}, _deadline())

    def _busy_after(self, seconds: float) -> bool:
        """Whether the batch is still being written after so many seconds."""
        return self._job is not None and not _done_within(self._job, seconds)

    def _settle(self) -> None:
        """Commit the batch if it was written; else raise its error."""
        job, self._job = self._job, None
        if job is not None:
            self._finish(job.result())
        elif self._cancelled:
            self._cancelled = False
            raise RebalancedError("the partitions moved while a batch of them was being written")

    def _settle_before_revocation(self) -> None:
        """Finish the batch, or cancel it, before another task gets its partitions."""
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
            # Cancelling caused its failure: the next owner of the partitions writes it again.
            self._job = None

    def _write(
        self, records: Sequence[RawRecord], ranges: tuple[OffsetRange, ...]
    ) -> tuple[OffsetRange, ...]:
        assert self._batches is not None  # noqa: S101 - start() made them
        self._control.check()
        return self._batches.write(records, ranges)

    def _finish(self, ranges: tuple[OffsetRange, ...]) -> None:
        ranges = self._partitions.written(ranges)
        self._report_topics(ranges)
        self._commit()
        self._first_step.end()
        self._go_on_at({each.partition: each.end for each in ranges})

    def _go_on_at(self, ends: Mapping[TopicPartition, int]) -> None:
        """Seek behind what was written: Spark read more than the consumer, or not all."""
        consumer = self._live_consumer()
        staying = [partition for partition in ends if partition not in self._leaving]
        fetched = consumer.positions(staying, _deadline())
        consumer.seek({p: ends[p] for p in staying if fetched[p] != ends[p]}, _deadline())

    def _commit(self) -> None:
        """Commit what is written. If that fails, only the commit is repeated, not the write."""
        if not self._partitions.uncommitted or self._control.given_up:
            return
        try:
            self._live_consumer().commit(self._partitions.uncommitted, _deadline())
        except RebalancedError as error:
            # The next poll reports which partitions stay; other tasks write the rest again.
            log.info("Task %s: %s", self._id, error)
        except PASSING:
            self._stray_until = self._stray_until or Deadline.after(REJOIN_SECONDS)
            raise
        else:
            self._partitions.uncommitted.clear()
            self._stray_until = None

    def _report_topics(self, ranges: tuple[OffsetRange, ...]) -> None:
        for topic in {each.partition.topic for each in ranges} - self._seen_topics:
            self._seen_topics.add(topic)
            self._events.topic_used(self._id, topic)

    def _known_ends(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        return self._live_consumer().end_offsets(partitions, _deadline(), cached=True)

    def _live_consumer(self) -> GroupConsumer:
        assert self._consumer is not None, "start() comes first"  # noqa: S101
        return self._consumer


def _done_within(job: Future[Any], seconds: float) -> bool:
    wait([job], seconds)
    return job.done()


def _deadline() -> Deadline:
    return Deadline.after(BROKER_SECONDS)
