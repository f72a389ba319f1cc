"""Records and partitions of the client library, as ours, and the way back."""

from __future__ import annotations

from typing import Any, NamedTuple

import confluent_kafka

from penstock.kernel.data.record import TopicPartition


class RawRecord(NamedTuple):
    """A record as the broker has it. `timestamp` is -1 if there is none."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    timestamp_type: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]] | None


def raw_record(message: Any) -> RawRecord:
    """A message of the library, as ours."""
    kind, timestamp = message.timestamp()
    return RawRecord(
        message.topic(),
        message.partition(),
        message.offset(),
        timestamp if kind else -1,
        kind,
        message.key(),
        message.value(),
        message.headers(),
    )


def theirs(partition: TopicPartition, offset: int | None = None) -> Any:
    if offset is None:
        return confluent_kafka.TopicPartition(partition.topic, partition.partition)
    return confluent_kafka.TopicPartition(partition.topic, partition.partition, offset)


def ours_of(message: Any) -> TopicPartition:
    return TopicPartition(message.topic() or "", message.partition() or 0)


def ours(partition: Any) -> TopicPartition:
    return TopicPartition(partition.topic, partition.partition)
