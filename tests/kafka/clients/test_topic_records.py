"""Reading a topic to its end: who takes long over the records does not use up the patience."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from penstock.kafka.clients import TopicReader
from penstock.kernel.data.record import TopicPartition
from penstock.testing.fakes import ManualClock
from tests.cluster import topics


def test_a_slow_reader_is_not_taken_for_a_slow_broker(
    kafka: str, unique: Callable[[str], str]
) -> None:
    topic, clock = unique("slow"), ManualClock()
    topics.create(kafka, topic)
    for _ in range(20):  # batches of their own: a fetch takes a few of them
        topics.produce(kafka, topic, [bytes(5000)] * 10)
    small = {"bootstrap.servers": kafka, "max.partition.fetch.bytes": "60000"}
    read = 0
    with closing(TopicReader(small, topic, clock=clock)) as reader:
        for _ in reader.read({TopicPartition(topic, 0): (0, 200)}, 5):
            clock.advance(60)
            read += 1
    assert read == 200
