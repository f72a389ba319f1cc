"""The sink loop with a consumer that the test drives: what is committed, repeated and kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, cast

import pytest

from penstock.api.sink import FrameSinkTask, OffsetRange, SinkBatch, SinkContext, SinkTraits
from penstock.kafka.clients.raw_records import RawRecord
from penstock.kernel.clock import Deadline, SystemClock
from penstock.kernel.data.record import TaskId, TopicPartition
from penstock.kernel.errors import (
    DeadlineExceededError,
    GivenUpError,
    RebalancedError,
    RetriableError,
)
from penstock.testing.waiting import patient, soon
from penstock.worker.interface import State, TargetState
from penstock.worker.runtime.sink import loop
from penstock.worker.runtime.sink.dependencies import SinkParts
from penstock.worker.runtime.sink.loop import SinkWork
from penstock.worker.runtime.task_host import TaskControl
from tests.unit.worker.runtime.events import Notes

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)


def record(offset: int, partition: int = 0) -> RawRecord:
    return RawRecord("a", partition, offset, -1, 0, None, b"", None)


class Consumer:
    """The consumer's surface as the loop uses it; polls bring what the test put there."""

    max_poll_records = 500

    def __init__(self) -> None:
        self.events: Any = None
        self.assignment: frozenset[TopicPartition] = frozenset()
        self.polls: list[list[RawRecord] | Exception | Callable[[], None]] = []
        self.commits: list[dict[TopicPartition, int]] = []
        self.refusals: list[Exception] = []
        self.seeks: list[dict[TopicPartition, int]] = []
        self.paused: set[TopicPartition] = set()
        self.at: dict[TopicPartition, int] = {}
        self.missing: str | None = None

    def subscribe(self, topics: Sequence[str], events: Any) -> None:
        self.events = events
        self.assign(A0)

    def assign(self, *partitions: TopicPartition) -> None:
        self.assignment |= set(partitions)
        self.events.assigned(partitions)

    def revoke(self, *partitions: TopicPartition) -> None:
        self.events.revoked(partitions)
        self.assignment -= set(partitions)

    def lose(self, *partitions: TopicPartition) -> None:
        self.assignment -= set(partitions)
        self.events.lost(partitions)

    def consume(self, most: int, seconds: float) -> list[RawRecord]:
        found = self.polls.pop(0) if self.polls else []
        if isinstance(found, Exception):
            raise found
        if callable(found):
            found()
            return []
        for each in found:
            self.at[TopicPartition(each.topic, each.partition)] = each.offset + 1
        return found

    def positions(self, partitions: Collection[TopicPartition], deadline: Deadline) -> Any:
        return {partition: self.at[partition] for partition in partitions}

    def seek(self, offsets: Mapping[TopicPartition, int], deadline: Deadline) -> None:
        if offsets:
            self.seeks.append(dict(offsets))
            self.at.update(offsets)

    def commit(self, offsets: Mapping[TopicPartition, int], deadline: Deadline) -> None:
        if self.refusals:
            raise self.refusals.pop(0)
        self.commits.append(dict(offsets))

    def pause(self, partitions: Collection[TopicPartition]) -> None:
        self.paused |= set(partitions)

    def resume(self, partitions: Collection[TopicPartition]) -> None:
        self.paused -= set(partitions)

    def waits_for(self) -> str | None:
        return self.missing

    def close(self, deadline: Deadline) -> None:
        if self.assignment:
            self.revoke(*self.assignment)


class Batches:
    """Stands for Spark: writes nothing, remembers what it was given."""

    def __init__(self) -> None:
        self.written: list[tuple[OffsetRange, ...]] = []
        self.failures: list[Exception] = []
        self.outcome: Callable[[tuple[OffsetRange, ...]], tuple[OffsetRange, ...]] = lambda r: r
        self.gate: threading.Event | None = None
        self.begun = threading.Event()

    def write(
        self, records: Sequence[RawRecord], ranges: tuple[OffsetRange, ...]
    ) -> tuple[OffsetRange, ...]:
        self.begun.set()
        if self.gate is not None:
            self.gate.wait(patient())
        if self.failures:
            raise self.failures.pop(0)
        self.written.append(ranges)
        return self.outcome(ranges)

    def prepare(self) -> None:
        return

    def renew_plans(self) -> None:
        return


class Nothing(FrameSinkTask):
    def __init__(self) -> None:
        self.starts: dict[TopicPartition, int] = {}
        self.away: list[Exception] = []

    def starting_offsets(self, partitions: Set[TopicPartition]) -> Mapping[TopicPartition, int]:
        if self.away:
            raise self.away.pop(0)
        return {each: at for each, at in self.starts.items() if each in partitions}

    def start(self, config: Mapping[str, str], context: SinkContext) -> None:
        return

    def write(self, batch: SinkBatch) -> None:
        raise AssertionError("the batches are the test's")


class Engine:
    def __init__(self) -> None:
        self.cancelled: list[str] = []

    def cancel(self, group: str) -> None:
        self.cancelled.append(group)


class Sink:
    def __init__(self) -> None:
        self.consumer = cast("Any", Consumer())
        self.batches = cast("Any", Batches())
        self.engine = cast("Any", Engine())
        self.notes = Notes()
        self.task = Nothing()
        self.ids = {"a": "first"}
        self.control = TaskControl(TargetState.STARTED, SystemClock())
        self.work = SinkWork(
            TaskId("orders", 0),
            {},
            SinkParts(
                make_task=lambda: self.task,
                make_consumer=lambda: self.consumer,
                make_batches=lambda *_, **__: self.batches,
                subscription=["a"],
                topic_ids=lambda topics, _: {each: self.ids[each] for each in topics},
                release=lambda: None,
            ),
            engine=self.engine,
            control=self.control,
            events=self.notes,
        )
        self.work.start()

    def close(self) -> None:
        self.work.close(soon())


@pytest.fixture
def sink(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sink]:
    monkeypatch.setattr(loop, "QUICK_SECONDS", 0.02)
    monkeypatch.setattr(loop, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(loop, "REVOKE_SECONDS", 0.4)
    made = Sink()
    yield made
    made.close()


def test_a_batch_is_written_then_committed(sink: Sink) -> None:
    sink.consumer.polls = [[record(5), record(6)]]
    sink.work.step()
    assert sink.batches.written == [(OffsetRange(A0, 5, 7),)]
    assert sink.consumer.commits == [{A0: 7}]
    assert sink.consumer.seeks == []
    assert sink.notes.topics == [("orders-0", "a")]


def test_a_larger_batch_moves_the_consumer(sink: Sink) -> None:
    sink.consumer.polls = [[record(0)]]
    sink.batches.outcome = lambda ranges: (OffsetRange(A0, 0, 90_000),)
    sink.work.step()
    assert sink.consumer.commits == [{A0: 90_000}]
    assert sink.consumer.seeks == [{A0: 90_000}]


def test_a_batch_written_in_part_goes_on_there(sink: Sink) -> None:
    sink.consumer.assign(A1)
    sink.consumer.polls = [[record(0), record(1), record(7, 1)]]
    sink.batches.outcome = lambda ranges: (OffsetRange(A0, 0, 1), OffsetRange(A1, 7, 7))
    sink.work.step()
    assert sink.consumer.commits == [{A0: 1}]
    assert sink.consumer.seeks == [{A0: 1, A1: 7}]


def test_a_failed_batch_is_repeated_from_its_beginning(sink: Sink) -> None:
    sink.consumer.polls = [[record(5), record(6)], [record(5), record(6)]]
    sink.batches.failures = [RetriableError("later")]
    with pytest.raises(RetriableError):
        sink.work.step()
    assert sink.consumer.commits == []
    sink.work.recover()
    assert sink.consumer.seeks == [{A0: 5}]
    sink.work.step()
    assert sink.consumer.commits == [{A0: 7}]


def test_a_task_begins_where_its_target_says(sink: Sink) -> None:
    sink.task.starts = {A0: 9}
    sink.consumer.polls = [[record(5), record(6)], [record(9)], [record(10)]]
    sink.work.step()
    assert sink.batches.written == []
    assert sink.consumer.seeks == [{A0: 9}]
    sink.task.starts = {A0: 100}
    sink.work.step()
    sink.work.step()
    assert sink.batches.written == [(OffsetRange(A0, 9, 10),), (OffsetRange(A0, 10, 11),)]


def told(sink: Sink) -> str | None:
    return sink.notes.traces["orders-0"]


def test_missing_topics_are_told_in_the_status(sink: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "TOPICS_SECONDS", 0.0)
    sink.consumer.missing = "there is no topic b"
    sink.work.step()
    sink.work.step()
    assert sink.notes.of("orders-0") == [State.RUNNING]
    assert told(sink) == "waiting: there is no topic b"
    sink.consumer.missing = None
    sink.work.step()
    assert told(sink) is None
    sink.consumer.missing = "there is no topic b"
    sink.work.step()
    sink.work.idle()
    sink.work.step()
    assert len(sink.notes.of("orders-0")) == 4


def test_a_topic_made_anew_begins_where_its_target_says(
    sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "TOPICS_SECONDS", 0.0)
    sink.task.traits = SinkTraits(keeps_offsets=True)
    sink.consumer.polls = [[record(5)], [record(6)], [record(0)]]
    sink.work.step()
    sink.ids["a"] = "second"
    sink.task.starts = {A0: 0}
    sink.work.step()
    assert sink.batches.written == [(OffsetRange(A0, 5, 6),)]
    assert sink.consumer.seeks == [{A0: 0}]
    sink.work.step()
    assert sink.batches.written[1:] == [(OffsetRange(A0, 0, 1),)]


def test_a_task_that_is_where_its_target_says_loses_no_time(sink: Sink) -> None:
    sink.task.starts = {A0: 5}
    sink.consumer.polls = [[record(5)]]
    sink.work.step()
    assert sink.batches.written == [(OffsetRange(A0, 5, 6),)]
    assert sink.consumer.seeks == []


def test_where_to_begin_is_asked_again_after_a_failure(sink: Sink) -> None:
    sink.consumer.polls = [[record(5)], [], [record(7)]]
    sink.batches.failures = [RetriableError("somebody else wrote that")]
    with pytest.raises(RetriableError):
        sink.work.step()
    sink.task.starts = {A0: 7}
    sink.work.recover()
    sink.work.step()
    assert sink.consumer.seeks == [{A0: 5}, {A0: 7}]
    sink.work.step()
    assert sink.batches.written == [(OffsetRange(A0, 7, 8),)]


def test_a_target_that_is_away_is_asked_again(sink: Sink) -> None:
    sink.task.starts, sink.task.away = {A0: 5}, [RetriableError("away")]
    sink.consumer.polls = [[record(4)], [record(4)], [record(5)]]
    with pytest.raises(RetriableError):
        sink.work.step()
    sink.work.recover()
    assert sink.consumer.seeks == [{A0: 4}]
    sink.work.step()
    sink.work.step()
    assert sink.batches.written == [(OffsetRange(A0, 5, 6),)]


def test_a_failed_commit_is_repeated_without_the_write(sink: Sink) -> None:
    sink.consumer.polls = [[record(5)]]
    sink.consumer.refusals = [RetriableError("the broker is away")] * 2
    with pytest.raises(RetriableError):
        sink.work.step()
    sink.work.recover()
    assert sink.consumer.at[A0] == 6
    with pytest.raises(RetriableError):
        sink.work.step()
    sink.work.recover()
    sink.work.step()
    assert sink.consumer.commits == [{A0: 6}]
    assert len(sink.batches.written) == 1


def test_a_commit_that_fails_does_not_keep_the_task_from_joining_its_group_again(
    sink: Sink,
) -> None:
    sink.consumer.polls = [[record(5)], lambda: sink.consumer.lose(A0), [record(5)]]
    sink.consumer.refusals = [RetriableError("waiting for the coordinator")]
    with pytest.raises(RetriableError):
        sink.work.step()
    sink.work.recover()
    sink.consumer.assign(A0)
    sink.work.step()
    assert sink.consumer.commits == [{A0: 6}]
    assert len(sink.batches.written) == 2


def test_a_commit_during_a_rebalance_waits_for_the_next_poll(sink: Sink) -> None:
    sink.consumer.polls = [[record(5)], lambda: sink.consumer.revoke(A0)]
    sink.consumer.refusals = [RebalancedError("in progress")] * 3
    sink.work.step()
    sink.work.step()
    assert sink.consumer.commits == []
    sink.work.step()
    # The partition is someone else's now: nothing is committed for it.
    assert sink.consumer.commits == []


def test_records_polled_while_a_batch_is_written_come_again(sink: Sink) -> None:
    gate = sink.batches.gate = threading.Event()

    def assign() -> None:
        sink.consumer.assign(A1)

    sink.consumer.polls = [[record(5)], assign, [record(9, 1)], gate.set]
    sink.work.step()
    assert sink.consumer.seeks == [{A1: 9}]
    assert sink.consumer.commits == [{A0: 6}]
    assert sink.consumer.paused == set()


def test_a_poll_that_fails_does_not_repeat_the_batch(sink: Sink) -> None:
    gate = sink.batches.gate = threading.Event()
    sink.consumer.polls = [[record(5)], RetriableError("the broker is away")]
    with pytest.raises(RetriableError):
        sink.work.step()
    gate.set()
    sink.work.recover()
    assert sink.consumer.commits == [{A0: 6}]
    assert sink.consumer.at[A0] == 6
    assert len(sink.batches.written) == 1


def test_a_batch_is_finished_and_committed_before_its_partitions_leave(sink: Sink) -> None:
    gate = sink.batches.gate = threading.Event()

    def revoke() -> None:
        threading.Timer(0.05, gate.set).start()
        sink.consumer.revoke(A0)

    sink.consumer.polls = [[record(5)], revoke]
    sink.work.step()
    assert sink.consumer.commits == [{A0: 6}]
    assert sink.consumer.seeks == []
    assert sink.engine.cancelled == []


def test_a_batch_that_takes_too_long_is_cancelled_when_its_partitions_leave(sink: Sink) -> None:
    gate = sink.batches.gate = threading.Event()
    sink.batches.failures = [RuntimeError("job cancelled")]
    sink.engine.cancel = lambda group: gate.set()
    sink.consumer.polls = [[record(5)], lambda: sink.consumer.revoke(A0)]
    # It does not fail the task: whoever has the partitions now repeats it.
    with pytest.raises(RebalancedError):
        sink.work.step()
    sink.work.recover()
    assert sink.consumer.commits == []
    sink.work.step()


def test_a_paused_task_stays_in_the_group_and_reads_nothing(sink: Sink) -> None:
    sink.consumer.polls = [[record(5)]]
    sink.work.idle()
    assert sink.consumer.paused == {A0}
    assert sink.consumer.seeks == [{A0: 5}]
    sink.consumer.polls = [lambda: sink.consumer.assign(A1)]
    sink.work.idle()
    assert sink.consumer.paused == {A0, A1}
    sink.work.step()
    assert sink.consumer.paused == set()
    assert sink.batches.written == []


def test_what_a_paused_task_polled_comes_again_also_if_it_can_not_go_back_at_once(
    sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(offsets: object, deadline: object) -> None:
        raise RetriableError("the broker is away")

    sink.consumer.polls = [[record(5)]]
    with monkeypatch.context() as patch:
        patch.setattr(sink.consumer, "seek", away)
        with pytest.raises(RetriableError):
            sink.work.idle()
    sink.work.recover()
    assert sink.consumer.seeks == [{A0: 5}]


def test_leaving_commits_what_a_lost_broker_kept_back(sink: Sink) -> None:
    sink.consumer.polls = [[record(5)]]
    sink.consumer.refusals = [RetriableError("the broker is away")]
    with pytest.raises(RetriableError):
        sink.work.step()
    sink.close()
    assert sink.consumer.commits == [{A0: 6}]


@pytest.fixture
def impatient(sink: Sink, monkeypatch: pytest.MonkeyPatch) -> list[Consumer]:
    """The consumers that a task makes which does not wait before it joins anew."""
    monkeypatch.setattr(loop, "REJOIN_SECONDS", 0.0)
    made: list[Consumer] = []

    def make() -> Any:
        made.append(Consumer())
        return made[-1]

    sink.work._parts = replace(sink.work._parts, make_consumer=make)
    return made


def test_a_task_whose_commits_its_group_does_not_take_joins_anew(
    sink: Sink, impatient: list[Consumer]
) -> None:
    sink.consumer.polls = [[record(5)]]
    sink.consumer.refusals = [RetriableError("waiting for the coordinator")] * 2
    with pytest.raises(RetriableError):
        sink.work.step()
    # It tries once more to commit when it leaves.
    with pytest.raises(RetriableError):
        sink.work.recover()
    sink.work.recover()
    (consumer,) = impatient
    consumer.polls = [[record(5)]]
    sink.work.step()
    assert consumer.commits == [{A0: 6}]


def test_a_task_that_its_group_lost_joins_anew(sink: Sink, impatient: list[Consumer]) -> None:
    sink.consumer.polls = [lambda: sink.consumer.lose(A0)]
    sink.work.step()
    (consumer,) = impatient

    def lose_and_find() -> None:
        consumer.lose(A0)
        consumer.assign(A0)

    consumer.polls = [lose_and_find]
    sink.work.step()
    assert len(impatient) == 1


def test_a_broker_that_is_away_is_waited_for_and_nothing_is_written_again(
    sink: Sink, impatient: list[Consumer], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> dict[str, str]:
        raise RetriableError("no broker answered")

    sink.consumer.polls = [[record(5)]]
    sink.consumer.refusals = [RetriableError("no broker answered")]
    with pytest.raises(RetriableError):
        sink.work.step()
    with monkeypatch.context() as patch:
        patch.setattr(sink.work, "_parts", replace(sink.work._parts, topic_ids=away))
        with pytest.raises(RetriableError):
            sink.work.recover()
    sink.work._stray_until = None
    sink.work.recover()
    sink.work.step()
    assert sink.consumer.commits == [{A0: 6}]
    assert impatient == []
    assert len(sink.batches.written) == 1


def test_a_consumer_that_does_not_end_in_time_is_left_behind(
    sink: Sink, impatient: list[Consumer]
) -> None:
    def hang(deadline: Deadline) -> None:
        raise DeadlineExceededError("leaving the group")

    sink.consumer.close = hang
    sink.consumer.polls = [[record(5)]]
    sink.consumer.refusals = [RetriableError("waiting for the coordinator")]
    with pytest.raises(RetriableError):
        sink.work.step()
    with pytest.raises(DeadlineExceededError):
        sink.work.recover()
    sink.work.recover()
    impatient[0].polls = [[record(5)]]
    sink.work.step()
    assert impatient[0].commits == [{A0: 6}]


def test_a_task_that_was_given_up_neither_writes_nor_commits(sink: Sink) -> None:
    sink.consumer.polls = [[record(0)], [record(1)]]
    sink.consumer.refusals = [RetriableError("the broker is away")]
    with pytest.raises(RetriableError):
        sink.work.step()
    sink.control.give_up()
    with pytest.raises(GivenUpError):
        sink.work.step()
    sink.close()
    assert sink.batches.written == [(OffsetRange(A0, 0, 1),)]
    assert sink.consumer.commits == []


def test_a_task_that_is_to_end_while_it_starts_joins_no_group(sink: Sink) -> None:
    sink.consumer = Consumer()
    sink.control.stop()
    with pytest.raises(RetriableError, match="it does not join its group"):
        sink.work.start()
    assert sink.consumer.events is None


def test_a_task_is_starting_until_its_first_batch_is_committed(sink: Sink) -> None:
    sink.batches.failures = [RetriableError("away")]
    sink.consumer.polls = [[record(0)], [record(0)]]
    with pytest.raises(RetriableError):
        sink.work.step()
    assert sink.notes.figures == [{"starting": 1}]
    sink.work.recover()
    sink.work.step()
    assert sink.notes.figures == [{"starting": 1}, {}]


def test_a_task_without_records_is_starting_until_its_first_poll(sink: Sink) -> None:
    sink.work.step()
    sink.work.step()
    assert sink.notes.figures == [{"starting": 1}, {}]
