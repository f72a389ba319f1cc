"""Reads and writes whole records of topics, headers included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException

from penstock.kafka.clients.compacted_topic import LastError
from penstock.kafka.clients.connect import rd_consumer, rd_producer
from penstock.kafka.clients.failures import event_failure, is_transient, librdkafka_failure
from penstock.kafka.clients.raw_records import RawRecord, raw_record
from penstock.kernel.clock import Clock, Deadline, SystemClock
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import DeadlineExceededError

_BATCH: Final = 1000
_SLICE_SECONDS: Final = 0.2

_READER: Final[Mapping[str, Any]] = {
    "allow.auto.create.topics": False,
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    # Reports the end even if the last offsets hold no record (transactions).
    "enable.partition.eof": True,
}
_WRITER: Final[Mapping[str, Any]] = {
    "acks": "all",
    "enable.idempotence": True,
    # Chooses the partition of a key as Java's producer does.
    "partitioner": "murmur2_random",
}


class TopicReader:
    """Reads partitions of one topic. For one thread."""

    def __init__(
        self,
        properties: Mapping[str, str],
        topic: str,
        *,
        isolation_level: str = "read_committed",
        clock: Clock | None = None,
    ) -> None:
        self._topic = topic
        self._clock = clock or SystemClock()
        self._errors = LastError()
        # The library requires a group id; with assign() and no commits there is no group.
        fixed = {
            **_READER,
            "group.id": f"penstock-reader-{topic}",
            "isolation.level": isolation_level,
        }
        self._consumer = rd_consumer(properties, fixed, self._errors)

    def read(
        self, ranges: Mapping[TopicPartition, tuple[int, int]], patience_seconds: float
    ) -> Iterator[RawRecord]:
        """The records from the first offset to before the second, of each partition.

        Raises:
            DeadlineExceededError: nothing came for that long.
        """
        ends = {tp.partition: end for tp, (start, end) in ranges.items() if end > start}
        self._assign({tp: start for tp, (start, end) in ranges.items() if end > start})
        deadline = Deadline.after(patience_seconds, self._clock)
        while ends:
            messages = self._next(min(_SLICE_SECONDS, deadline.remaining()))
            if messages:
                yield from self._records(messages, ends)
                # The deadline is for the broker, not for what the caller does with the records.
                deadline = Deadline.after(patience_seconds, self._clock)
            else:
                self._check(deadline)

    def follow(self, starts: Mapping[TopicPartition, int]) -> Iterator[RawRecord]:
        """The records from these offsets on, and new ones; waits while the broker is away."""
        self._assign(starts)
        while True:
            messages = self._next(_SLICE_SECONDS)
            for message in messages:
                if not self._is_end(message) and message.error() is None:
                    yield raw_record(message)
            if not messages:
                self._errors.check(f"reading topic {self._topic}")

    def _assign(self, starts: Mapping[TopicPartition, int]) -> None:
        self._consumer.assign([
            confluent_kafka.TopicPartition(self._topic, tp.partition, start)
            for tp, start in starts.items()
        ])  # fmt: skip

    def _next(self, seconds: float) -> list[Any]:
        """Wait that long for a first message, and return what was fetched already; consume()
        alone would wait for a whole batch."""
        first = self._consumer.poll(seconds)
        return [] if first is None else [first, *self._consumer.consume(_BATCH, 0)]

    def _records(self, messages: Iterable[Any], ends: dict[int, int]) -> Iterator[RawRecord]:
        for message in messages:
            partition = message.partition()
            if self._is_end(message):
                ends.pop(partition, None)
            elif message.error() is None:
                if message.offset() < ends.get(partition, 0):
                    yield raw_record(message)
                if message.offset() + 1 >= ends.get(partition, 0):
                    ends.pop(partition, None)

    def _is_end(self, message: Any) -> bool:
        """Whether it only marks the end of a partition; raises if it is an error."""
        error = message.error()
        if error is None:
            return False
        if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001
            return True
        if not is_transient(error):
            raise event_failure(error, f"reading topic {self._topic}")
        return False

    def _check(self, deadline: Deadline) -> None:
        step = f"reading topic {self._topic}"
        self._errors.check(step)
        deadline.check(step + self._errors.hint())

    def close(self) -> None:
        self._consumer.close()


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record to write; the default partition is by its key, the default time (ms) is now."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    partition: int | None = None
    timestamp: int | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """Records written to one partition: their number, first and last offset."""

    topic: str
    partition: int
    count: int
    first: int
    last: int


class TopicWriter:
    """Writes records to any topic. For one thread."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._errors = LastError()
        self._producer = rd_producer(properties, _WRITER, self._errors)

    def write(self, records: Iterable[NewRecord], deadline: Deadline) -> None:
        """Write the records in their order; all are acknowledged when it returns.

        Raises:
            DeadlineExceededError: not all written in time; some may be, or may be later.
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

    def stream(
        self, records: Iterable[NewRecord], patience_seconds: float, clock: Clock | None = None
    ) -> list[Written]:
        """Write any number of records in order. Returns their places.

        Raises:
            DeadlineExceededError: for that long no record was acknowledged.
        """
        outcome = _Outcome()
        patience = _Patience(outcome, patience_seconds, clock or SystemClock())
        step = "writing records"
        try:
            for record in records:
                step = f"writing to topic {record.topic}"
                self._hand_over(record, outcome, patience, step)
        finally:
            # Also after an error of the iterator, or Ctrl-C: the records before it count.
            self._drain(outcome, patience, step)
        return outcome.written

    def _hand_over(
        self, record: NewRecord, outcome: _Outcome, patience: _Patience, step: str
    ) -> None:
        while True:
            try:
                self._produce(record, outcome)
                self._wait(outcome, patience, step, 0)
            except BufferError:
                self._wait(outcome, patience, step, _SLICE_SECONDS)
            except KafkaException as error:
                raise librdkafka_failure(error, step) from error
            else:
                return

    def _drain(self, outcome: _Outcome, patience: _Patience, step: str) -> None:
        while outcome.open:
            self._wait(outcome, patience, step, _SLICE_SECONDS)
        if outcome.error is not None:
            raise event_failure(outcome.error, step)

    def _wait(self, outcome: _Outcome, patience: _Patience, step: str, seconds: float) -> None:
        self._producer.poll(seconds)
        if outcome.error is not None:
            self._producer.purge()
            raise event_failure(outcome.error, step)
        self._errors.check(step)
        if seconds and patience.is_over():
            self._producer.purge()
            self._producer.flush(_SLICE_SECONDS)
            raise DeadlineExceededError(f"ran out of time while {step}{self._errors.hint()}")

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
        self._written: dict[tuple[str, int], Written] = {}

    def __call__(self, error: KafkaError | None, message: Any) -> None:
        self.open -= 1
        self.error = self.error or error
        if error is None:
            place, offset = (message.topic(), message.partition()), message.offset()
            known = self._written.get(place) or Written(*place, 0, offset, offset)
            self._written[place] = Written(
                *place, known.count + 1, min(known.first, offset), max(known.last, offset)
            )

    @property
    def written(self) -> list[Written]:
        """The acknowledged records, by partition."""
        return [self._written[place] for place in sorted(self._written)]


class _Patience:
    """Runs out when nothing was acknowledged for a while."""

    def __init__(self, outcome: _Outcome, seconds: float, clock: Clock) -> None:
        self._outcome = outcome
        self._seconds = seconds
        self._clock = clock
        self._open = 0
        self._deadline = Deadline.after(seconds, clock)

    def is_over(self) -> bool:
        if self._outcome.open != self._open:
            self._open = self._outcome.open
            self._deadline = Deadline.after(self._seconds, self._clock)
        return self._deadline.expired
