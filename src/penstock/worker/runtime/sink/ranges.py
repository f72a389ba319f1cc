"""Chooses, shortens, splits and counts ranges of offsets. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from penstock.api.sink import OffsetRange
from penstock.kernel.data.record import TopicPartition

if TYPE_CHECKING:
    from penstock.kernel.data.record import KafkaRecord

#: From this many waiting records on, Spark's own Kafka reader is worth its start-up time; fewer
#: are taken as the consumer returns them, all at once.
LARGE_BACKLOG: Final = 10_000
#: Most records of one large batch: seconds of work, so that a stop need not wait long.
LARGE_BATCH: Final = 2_000_000


def ranges_of(records: Iterable[KafkaRecord]) -> tuple[OffsetRange, ...]:
    """The range of each partition, from its first record to its last."""
    edges: dict[TopicPartition, tuple[int, int]] = {}
    for record in records:
        partition = TopicPartition(record.topic, record.partition)
        first, _ = edges.get(partition, (record.offset, 0))
        edges[partition] = (first, record.offset + 1)
    return tuple(OffsetRange(partition, *edge) for partition, edge in edges.items())


def large_ranges(
    ranges: Sequence[OffsetRange], ends: Mapping[TopicPartition, int]
) -> tuple[OffsetRange, ...] | None:
    """The ranges of a large batch that begins where these do; None if too little is waiting."""
    waiting = sum(max(each.end, ends.get(each.partition, 0)) - each.start for each in ranges)
    if waiting < LARGE_BACKLOG:
        return None
    most = max(1, LARGE_BATCH // len(ranges))
    return tuple(
        OffsetRange(
            each.partition,
            each.start,
            max(each.end, min(ends.get(each.partition, 0), each.start + most)),
        )
        for each in ranges
    )


def of_one_topic(ranges: Sequence[OffsetRange]) -> tuple[OffsetRange, ...]:
    """The ranges of the topic with most records; the others empty."""
    sizes: dict[str, int] = {}
    for each in ranges:
        topic = each.partition.topic
        sizes[topic] = sizes.get(topic, 0) + each.end - each.start
    most = max(sizes, key=lambda topic: sizes[topic])
    return tuple(
        each
        if each.partition.topic == most
        else OffsetRange(each.partition, each.start, each.start)
        for each in ranges
    )


def cut(
    ranges: Sequence[OffsetRange], partition: TopicPartition, offset: int
) -> tuple[OffsetRange, ...] | None:
    """The ranges up to this offset of the partition; None if too little is left."""
    shorter = tuple(
        OffsetRange(each.partition, each.start, max(each.start, min(each.end, offset)))
        if each.partition == partition
        else each
        for each in ranges
    )
    return shorter if size_of(shorter) >= LARGE_BACKLOG else None


def parted(
    ranges: Sequence[OffsetRange], count: int
) -> tuple[tuple[OffsetRange, ...], tuple[OffsetRange, ...]]:
    """The first `count` offsets of the ranges, and the others; without empty ranges."""
    first: list[OffsetRange] = []
    others: list[OffsetRange] = []
    for each in ranges:
        middle = min(each.end, each.start + max(0, count))
        count -= middle - each.start
        first.append(OffsetRange(each.partition, each.start, middle))
        others.append(OffsetRange(each.partition, middle, each.end))
    return not_empty(first), not_empty(others)


def not_empty(ranges: Iterable[OffsetRange]) -> tuple[OffsetRange, ...]:
    return tuple(each for each in ranges if each.end > each.start)


def size_of(ranges: Iterable[OffsetRange]) -> int:
    return sum(each.end - each.start for each in ranges)


def ends_of(ranges: Iterable[OffsetRange]) -> dict[TopicPartition, int]:
    return {each.partition: each.end for each in ranges}


def partly(
    ranges: Sequence[OffsetRange], ends: Mapping[TopicPartition, int]
) -> tuple[OffsetRange, ...]:
    """The ranges as far as they were written; empty if nothing was."""
    return tuple(
        OffsetRange(each.partition, each.start, ends.get(each.partition, each.start))
        for each in ranges
    )
