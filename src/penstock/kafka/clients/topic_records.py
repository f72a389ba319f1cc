"""Whole records of a topic, headers included: read up to where it ends now, and written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException

from penstock.clock import Clock, Deadline, SystemClock
from penstock.data.record import TopicPartition
from penstock.errors import DeadlineExceededError
from penstock.kafka.clients.connect import rd_consumer, rd_producer
from penstock.kafka.clients.failures import event_failure, is_transient, librdkafka_failure
from penstock.kafka.clients.group_consumer import RawRecord, raw_record
from penstock.kafka.clients.records import LastError

_BATCH: Final = 1000
_SLICE_SECONDS: Final = 0.2

_READER: Final[Mapping[str, Any]] = {
    "allow.auto.create.topics": False,
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    # Tells that a partition is read even where the last offsets hold no record (transactions).
    "enable.partition.eof": True,
    "isolation.level": "read_committed",
}
_WRITER: Final[Mapping[str, Any]] = {
    "acks": "all",
    "enable.idempotence": True,
    # As Java's producer chooses the partition of a key.
    "partitioner": "murmur2_random",
}


class TopicReader:
    """Reads partitions of one topic. For one thread."""

    def __init__(
        self, properties: Mapping[str, str], topic: str, *, clock: Clock | None = None
    ) -> None:
        self._topic = topic
        self._clock = clock or SystemClock()
        self._errors = LastError()
        # The library wants a group id; with assign() and no commits there is no group.
        fixed = {**_READER, "group.id": f"penstock-reader-{topic}"}
        self._consumer = rd_consumer(properties, fixed, self._errors)

    def read(
        self, ranges: Mapping[TopicPartition, tuple[int, int]], patience_seconds: float
    ) -> Iterator[RawRecord]:
        """The records from the first offset to before the second, of each partition.

        Raises:
            DeadlineExceededError: nothing came for that long.
        """
        ends = {tp.partition: end for tp, (start, end) in ranges.items() if end > start}
        self._consumer.assign([
            confluent_kafka.TopicPartition(self._topic, tp.partition, start)
            for tp, (start, end) in ranges.items()
            if end > start
        ])  # fmt: skip
        deadline = Deadline.after(patience_seconds, self._clock)
        while ends:
            messages = self._consumer.consume(_BATCH, min(_SLICE_SECONDS, deadline.remaining()))
            if messages:
                deadline = Deadline.after(patience_seconds, self._clock)
                yield from self._records(messages, ends)
            else:
                self._check(deadline)

    def _records(self, messages: Iterable[Any], ends: dict[int, int]) -> Iterator[RawRecord]:
        for message in messages:
            partition, error = message.partition(), message.error()
            if error is None:
                if message.offset() < ends.get(partition, 0):
                    yield raw_record(message)
                if message.offset() + 1 >= ends.get(partition, 0):
                    ends.pop(partition, None)
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001
                ends.pop(partition, None)
            elif not is_transient(error):
                raise event_failure(error, f"reading topic {self._topic}")

    def _check(self, deadline: Deadline) -> None:
        step = f"reading topic {self._topic}"
        self._errors.check(step)
        deadline.check(step + self._errors.hint())

    def close(self) -> None:
        self._consumer.close()


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record to write; without a partition its key decides, without a time (ms) it is now."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    partition: int | None = None
    timestamp: int | None = None


class TopicWriter:
    """Writes records to any topic. For one thread."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._errors = LastError()
        self._producer = rd_producer(properties, _WRITER, self._errors)

    def write(self, records: Iterable[NewRecord], deadline: Deadline) -> None:
        """Write the records in their order; all are acknowledged when it returns.

        Raises:
            DeadlineExceededError: not written in time; some of them may be, or come to be.
        """
        step = "writing records"
        outcome = _Outcome()
        try:
            for record in records:
                step = f"writing to topic {record.topic}"
                self._produce(record, outcome)
        except (KafkaException, BufferError) as error:
            raise librdkafka_failure(error, step) from error
        while outcome.open:
            if outcome.error is None:
                self._errors.check(step)
            if deadline.expired:
                self._producer.purge()
                self._producer.flush(_SLICE_SECONDS)
                raise DeadlineExceededError(f"ran out of time while {step}{self._errors.hint()}")
            self._producer.poll(min(_SLICE_SECONDS, deadline.remaining()))
        if outcome.error is not None:
            raise event_failure(outcome.error, step)

    def _produce(self, record: NewRecord, outcome: _Outcome) -> None:
        place = {} if record.partition is None else {"partition": record.partition}
        if record.timestamp is not None:
            place["timestamp"] = record.timestamp
        self._producer.produce(
            record.topic,
            record.value,
            record.key,
            headers=list(record.headers),
            on_delivery=outcome,
            **place,
        )
        outcome.open += 1

    def close(self) -> None:
        self._producer.flush(_SLICE_SECONDS)


class _Outcome:
    """Collects delivery reports."""

    def __init__(self) -> None:
        self.open = 0
        self.error: KafkaError | None = None

    def __call__(self, error: KafkaError | None, message: Any) -> None:
        del message
        self.open -= 1
        self.error = self.error or error
