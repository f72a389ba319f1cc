"""Topics as cluster tests look at them: with a client of their own, not with Penstock's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import confluent_kafka
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from penstock.testing.waiting import eventually, patient, soon

#: A topic that was just made has no leader yet, and one whose broker hung has none for a moment.
_WITHOUT_LEADER = {
    confluent_kafka.KafkaError.NOT_LEADER_FOR_PARTITION,
    confluent_kafka.KafkaError.LEADER_NOT_AVAILABLE,
    confluent_kafka.KafkaError.UNKNOWN_TOPIC_OR_PART,
    confluent_kafka.KafkaError._UNKNOWN_PARTITION,
}

Headers = list[tuple[str, bytes | None]]


@dataclass(frozen=True)
class Record:
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: dict[str, bytes | None]
    timestamp: int


def create(
    kafka: str, topic: str, partitions: int = 1, settings: Mapping[str, str] | None = None
) -> None:
    admin = AdminClient({"bootstrap.servers": kafka})
    wanted = NewTopic(topic, partitions, 1, config=dict(settings or {}))
    for future in admin.create_topics([wanted]).values():
        future.result(patient())


def delete(kafka: str, topic: str) -> None:
    """It is gone when this returns.

    As Java's, a sink's consumer makes a topic that it asks for, also in the moment of its end.
    """
    admin = AdminClient({"bootstrap.servers": kafka})

    def gone() -> bool:
        if partitions_of(kafka, topic) == 0:
            return True
        for future in admin.delete_topics([topic]).values():
            with suppress(confluent_kafka.KafkaException):
                future.result(patient())
        return False

    eventually(gone)


def partitions_of(kafka: str, topic: str) -> int:
    """0 if there is no such topic."""
    found = AdminClient({"bootstrap.servers": kafka}).list_topics(timeout=patient()).topics
    return len(found[topic].partitions) if topic in found else 0


def end(kafka: str, topic: str) -> int:
    """How many records partition 0 has ever got."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": kafka, "group.id": "tests-look"})
    try:
        return _ends(consumer, confluent_kafka.TopicPartition(topic, 0))[1]
    finally:
        consumer.close()


def committed(kafka: str, group: str, topic: str) -> int:
    """A group's offset for partition 0; negative if it has none."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": kafka, "group.id": group})
    try:
        place = confluent_kafka.TopicPartition(topic, 0)
        return int(consumer.committed([place], timeout=patient())[0].offset)
    finally:
        consumer.close()


def produce(
    kafka: str,
    topic: str,
    values: Iterable[bytes | None],
    *,
    key: Callable[[int], bytes | None] = lambda _: None,
    headers: Headers | None = None,
    partition: int | None = None,
) -> None:
    """Write the values in order; they are in the topic when it returns."""
    producer: Any = confluent_kafka.Producer(
        {"bootstrap.servers": kafka, "linger.ms": 5, "acks": "all"}
    )
    place = {} if partition is None else {"partition": partition}
    for number, value in enumerate(values):
        while True:
            try:
                producer.produce(topic, value, key(number), headers=headers, **place)
                break
            except BufferError:
                producer.poll(0.5)
    assert producer.flush(patient()) == 0


def records(kafka: str, topic: str) -> list[Record]:
    """All there are now, by partition and offset; none if there is no such topic."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": kafka,
            "group.id": "tests-read-all",
            "enable.auto.commit": False,
            "allow.auto.create.topics": False,
        }
    )
    try:
        return _read(consumer, topic)
    finally:
        consumer.close()


def _read(consumer: Any, topic: str) -> list[Record]:
    found = consumer.list_topics(topic, timeout=patient()).topics[topic]
    if found.error is not None:
        return []
    parts = [confluent_kafka.TopicPartition(topic, number, 0) for number in found.partitions]
    ends = {part.partition: _ends(consumer, part) for part in parts}
    left = {number for number, (low, high) in ends.items() if high > low}
    consumer.assign([part for part in parts if part.partition in left])
    read: list[Record] = []
    end = soon()
    while left:
        end.check(f"reading {topic} to its end")
        # It waits for as many as that, however few there are.
        for message in consumer.consume(5000, 0.02):
            assert message.error() is None, message.error()
            read.append(
                Record(
                    message.partition(),
                    message.offset(),
                    message.key(),
                    message.value(),
                    dict(message.headers() or ()),
                    message.timestamp()[1],
                )
            )
            if message.offset() + 1 >= ends[message.partition()][1]:
                left.discard(message.partition())
    return sorted(read, key=lambda record: (record.partition, record.offset))


def _ends(consumer: Any, part: Any) -> tuple[int, int]:
    """The first offset of a partition, and the one after its last."""
    end = soon()
    while True:
        try:
            low, high = consumer.get_watermark_offsets(part, timeout=patient())
        except confluent_kafka.KafkaException as error:
            if error.args[0].code() not in _WITHOUT_LEADER:
                raise
            end.check(f"waiting for a leader of {part.topic}-{part.partition}")
        else:
            return int(low), int(high)


def values(kafka: str, topic: str) -> list[bytes | None]:
    return [record.value for record in records(kafka, topic)]


def await_values(
    kafka: str, topic: str, count: int, seconds: float = 120
) -> Sequence[bytes | None]:
    """Wait until the topic has that many records; all of them."""
    return eventually(lambda: values(kafka, topic), lambda now: len(now) >= count, seconds=seconds)
