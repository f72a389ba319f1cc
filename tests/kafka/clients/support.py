"""What the tests of the clients share."""

from __future__ import annotations

from collections.abc import Callable, Collection

from penstock.kafka.clients import GroupConsumer, RawRecord
from penstock.kernel.data.record import TopicPartition
from penstock.testing.waiting import soon


class Recorder:
    """Notes what the group decided."""

    def __init__(self) -> None:
        self.log: list[tuple[str, frozenset[TopicPartition]]] = []

    def assigned(self, partitions: Collection[TopicPartition]) -> None:
        self.log.append(("assigned", frozenset(partitions)))

    def revoked(self, partitions: Collection[TopicPartition]) -> None:
        self.log.append(("revoked", frozenset(partitions)))

    def lost(self, partitions: Collection[TopicPartition]) -> None:
        self.log.append(("lost", frozenset(partitions)))


def consume_until(
    consumer: GroupConsumer, done: Callable[[], bool], records: list[RawRecord] | None = None
) -> list[RawRecord]:
    """Consume until the condition holds; what came meanwhile, behind the records if given."""
    deadline = soon()
    records = [] if records is None else records
    while not done():
        deadline.check("waiting for the consumer")
        records += consumer.consume(500, 0.1)
    return records


def take(consumer: GroupConsumer, count: int) -> list[RawRecord]:
    """Exactly that many records, asked for in small portions."""
    deadline = soon()
    records: list[RawRecord] = []
    while len(records) < count:
        deadline.check("waiting for records")
        records += consumer.consume(7, 0.1)
    assert len(records) == count
    return records
