"""Reads and writes one compacted topic: the raw clients of `kafka.log`."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import confluent_kafka
from confluent_kafka import OFFSET_BEGINNING, KafkaError, KafkaException

from penstock.kafka.clients.connect import rd_consumer, rd_producer
from penstock.kafka.clients.failures import event_failure, is_transient, librdkafka_failure
from penstock.kernel.clock import Deadline
from penstock.kernel.errors import DeadlineExceededError

_BATCH: Final = 1000
_SLICE_SECONDS: Final = 0.1

_READER: Final[Mapping[str, Any]] = {
    "allow.auto.create.topics": False,
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    # Reports the end even if the last offsets hold no record (transactions).
    "enable.partition.eof": True,
    # A broker answers at once if it has records. A longer wait would save little and slow the
    # start: a partition is not fetched before the answer for those before it.
    "fetch.wait.max.ms": 500,
    "queued.max.messages.kbytes": 8192,
}
_WRITER: Final[Mapping[str, Any]] = {
    "acks": "all",
    "enable.idempotence": False,
    "linger.ms": 0,
    "max.in.flight.requests.per.connection": 1,
}


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One record of a compacted topic; no value means that the key is deleted."""

    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of one poll: records in order, and the partition ends it reached."""

    records: tuple[LogRecord, ...] = ()
    ends: Mapping[int, int] | None = None


class LastError:
    """The latest error event of a client, for the text of a timeout."""

    def __init__(self) -> None:
        self._error: KafkaError | None = None

    def __call__(self, error: KafkaError) -> None:
        self._error = error

    def check(self, step: str) -> None:
        """Raise it if waiting does not help."""
        if self._error is not None and not is_transient(self._error):
            raise event_failure(self._error, step)

    def hint(self) -> str:
        return "" if self._error is None else f" (last error: {self._error.str()})"


class LogReader:
    """Reads every partition of one topic from its beginning. For one thread."""

    def __init__(self, properties: Mapping[str, str], topic: str) -> None:
        self._topic = topic
        self._errors = LastError()
        # The library requires a group id; with assign() and no commits there is no group.
        fixed = {**_READER, "group.id": f"penstock-reader-{topic}"}
        self._consumer = rd_consumer(properties, fixed, self._errors)

    def open(self, deadline: Deadline) -> list[int]:
        """Start at the beginning. Returns the numbers of the partitions."""
        step = f"looking for the partitions of topic {self._topic}"
        try:
            found = self._consumer.list_topics(self._topic, timeout=deadline.remaining())
        except KafkaException as error:
            self._consumer.poll(0)  # lets the library report its errors
            self._errors.check(step)
            deadline.check(step + self._errors.hint())
            raise librdkafka_failure(error, step + self._errors.hint()) from error
        topic = found.topics[self._topic]
        if topic.error is not None:
            raise event_failure(topic.error, step)
        partitions = sorted(topic.partitions)
        self._consumer.assign([
            confluent_kafka.TopicPartition(self._topic, partition, OFFSET_BEGINNING)
            for partition in partitions
        ])  # fmt: skip
        return partitions

    def poll(self, seconds: float) -> Reading:
        """Wait that long for the first record, and return what was fetched already."""
        first = self._consumer.poll(seconds)
        if first is None:
            return Reading()
        messages = [first, *self._consumer.consume(_BATCH, 0)]
        records = [_record(message) for message in messages if message.error() is None]
        ends: dict[int, int] = {}
        for message in messages:
            error = message.error()
            if error is None:
                continue
            if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001
                ends[message.partition()] = message.offset()
            elif not is_transient(error):
                raise event_failure(error, f"reading topic {self._topic}")
        return Reading(tuple(records), ends)

    def close(self) -> None:
        self._consumer.close()


def _record(message: Any) -> LogRecord:
    return LogRecord(
        message.partition(),
        message.offset(),
        message.timestamp()[1],
        message.key(),
        message.value(),
    )


class LogWriter:
    """Writes to one topic, in order, each append durable when it returns. For any thread."""

    def __init__(self, properties: Mapping[str, str], topic: str) -> None:
        self._topic = topic
        self._errors = LastError()
        self._producer = rd_producer(properties, _WRITER, self._errors)
        self._lock = threading.Lock()

    def append(
        self, records: Sequence[tuple[bytes, bytes | None]], deadline: Deadline
    ) -> dict[int, int]:
        """Write the records. Returns the last offset in each partition that got one.

        Raises:
            DeadlineExceededError: not written in time. Records that were not sent yet are
                dropped; the others may still be written.
        """
        step = f"writing to topic {self._topic}"
        if not self._lock.acquire(timeout=deadline.remaining()):
            raise DeadlineExceededError(f"ran out of time while {step}{self._errors.hint()}")
        try:
            return self._append(records, deadline, step)
        finally:
            self._lock.release()

    def _append(
        self, records: Sequence[tuple[bytes, bytes | None]], deadline: Deadline, step: str
    ) -> dict[int, int]:
        outcome = _Outcome(len(records))
        try:
            for key, value in records:
                self._producer.produce(self._topic, value, key, on_delivery=outcome)
        except (KafkaException, BufferError) as error:
            raise librdkafka_failure(error, step) from error
        while outcome.open:
            if deadline.expired:
                self._producer.purge()
                self._producer.flush(_SLICE_SECONDS)
                raise DeadlineExceededError(f"ran out of time while {step}{self._errors.hint()}")
            self._producer.poll(min(_SLICE_SECONDS, deadline.remaining()))
        if outcome.error is not None:
            raise event_failure(outcome.error, step)
        return outcome.offsets

    def close(self) -> None:
        self._producer.flush(_SLICE_SECONDS)


class _Outcome:
    """Collects the delivery reports of one append."""

    def __init__(self, expected: int) -> None:
        self.open = expected
        self.error: KafkaError | None = None
        self.offsets: dict[int, int] = {}

    def __call__(self, error: KafkaError | None, message: Any) -> None:
        self.open -= 1
        if error is not None:
            self.error = self.error or error
        else:
            known = self.offsets.get(message.partition(), -1)
            self.offsets[message.partition()] = max(known, message.offset())
