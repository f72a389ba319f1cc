"""The times of the records at the ends of a range of offsets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import confluent_kafka
from confluent_kafka import OFFSET_INVALID, KafkaError

from penstock.kafka.clients.compacted_topic import LastError
from penstock.kafka.clients.connect import rd_consumer
from penstock.kafka.clients.failures import event_failure, is_transient
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition

_SLICE_SECONDS: Final = 0.1
#: How far to look back for a last record: compaction and transactions leave offsets without one.
_LOOK_BACK: Final = 200
_READER: Final[Mapping[str, Any]] = {
    "allow.auto.create.topics": False,
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "fetch.message.max.bytes": 65_536,
    "fetch.queue.backoff.ms": 10,
    "fetch.wait.max.ms": 100,
    "queued.min.messages": 1,
}

Span = tuple[int, int]
Take = Callable[[TopicPartition, Any], bool]


class RecordTimes:
    """Reads as few records as it can. For one thread."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._errors = LastError()
        # The library requires a group id; with assign() and no commits there is no group.
        fixed = {**_READER, "group.id": "penstock-times"}
        self._consumer = rd_consumer(properties, fixed, self._errors)

    def of(
        self, spans: Mapping[TopicPartition, Span], deadline: Deadline
    ) -> dict[TopicPartition, tuple[int | None, int | None]]:
        """The times (ms) of the first and the last record of each span; None if it has none.

        Raises:
            DeadlineExceededError: the records did not come in time.
        """
        firsts = self._first(spans, deadline)
        lasts = self._last({each: (end - 1, end) for each, (_, end) in spans.items()}, deadline)
        missing = {
            each: (max(start, end - _LOOK_BACK), end)
            for each, (start, end) in spans.items()
            if each in firsts and each not in lasts
        }
        lasts |= self._last(missing, deadline)
        return {each: (firsts.get(each), lasts.get(each)) for each in spans}

    def _first(
        self, spans: Mapping[TopicPartition, Span], deadline: Deadline
    ) -> dict[TopicPartition, int]:
        found: dict[TopicPartition, int] = {}

        def take(each: TopicPartition, message: Any) -> bool:
            if message.offset() < spans[each][1]:
                found[each] = message.timestamp()[1]
            return True

        self._read(spans, take, deadline)
        return found

    def _last(
        self, spans: Mapping[TopicPartition, Span], deadline: Deadline
    ) -> dict[TopicPartition, int]:
        found: dict[TopicPartition, int] = {}

        def take(each: TopicPartition, message: Any) -> bool:
            end = spans[each][1]
            if message.offset() < end:
                found[each] = message.timestamp()[1]
            return bool(message.offset() >= end - 1)

        self._read(spans, take, deadline)
        return found

    def _read(self, spans: Mapping[TopicPartition, Span], take: Take, deadline: Deadline) -> None:
        """Pass records of each partition to `take` until it has enough, or there are no more."""
        waiting = set(spans)
        places = [_theirs(each, max(0, start)) for each, (start, _) in spans.items()]
        self._consumer.assign(places)
        self._consumer.resume(places)  # those that were paused by an earlier read
        step = f"reading the times of records in {len(spans)} partitions"
        while waiting:
            message = self._consumer.poll(min(_SLICE_SECONDS, deadline.remaining()))
            if message is None:
                self._errors.check(step)
                deadline.check(step + self._errors.hint())
                continue
            each = TopicPartition(message.topic(), message.partition())
            if each in waiting and self._is_done(each, message, take, step):
                waiting.discard(each)
                self._consumer.pause([_theirs(each)])

    def _is_done(self, each: TopicPartition, message: Any, take: Take, step: str) -> bool:
        error = message.error()
        if error is None:
            return take(each, message)
        if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001
            return True
        if not is_transient(error):
            raise event_failure(error, step)
        return False

    def close(self) -> None:
        self._consumer.close()


def _theirs(partition: TopicPartition, offset: int = OFFSET_INVALID) -> Any:
    return confluent_kafka.TopicPartition(partition.topic, partition.partition, offset)
