"""Which records make up the next batch of a sink, and how they are read: decisions only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

from penstock.api.converter import Layout
from penstock.api.sink import OffsetRange
from penstock.data.record import TopicPartition

if TYPE_CHECKING:
    from penstock.kafka.clients.group_consumer import RawRecord

#: From this many waiting records on, Spark's own Kafka reader is worth its start-up time.
LARGE_BACKLOG: Final = 20_000
#: Most records of one large batch: seconds of work, so that a stop need not wait long.
LARGE_BATCH: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Layouts:
    """How the keys and the values of a batch are laid out."""

    key: Layout
    value: Layout

    @property
    def regular(self) -> bool:
        return self.key.regular and self.value.regular


@dataclass(frozen=True, slots=True)
class Run:
    """Records in a row that have the same layouts."""

    layouts: Layouts
    records: Sequence[RawRecord]


def ranges_of(records: Iterable[RawRecord]) -> tuple[OffsetRange, ...]:
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
    waiting = sum(max(0, ends.get(each.partition, 0) - each.end) for each in ranges)
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


def runs_of(records: Sequence[RawRecord], layouts: Callable[[RawRecord], Layouts]) -> list[Run]:
    """Split records where their layouts change; the order stays."""
    return [Run(each, list(group)) for each, group in groupby(records, key=layouts)]
