"""Which records make up the next batch of a sink, and how they are read: decisions only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

from penstock.api.converter import Layout
from penstock.api.sink import OffsetRange
from penstock.data.record import TopicPartition
from penstock.errors import DataError
from penstock.plan.faults import Fault

if TYPE_CHECKING:
    from penstock.kafka.clients.group_consumer import RawRecord
    from penstock.plan.pipeline import Converters

#: From this many waiting records on, Spark's own Kafka reader is worth its start-up time.
LARGE_BACKLOG: Final = 20_000
#: Most records of one large batch: seconds of work, so that a stop need not wait long.
LARGE_BATCH: Final = 2_000_000


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


def of_one_topic(ranges: Sequence[OffsetRange]) -> tuple[OffsetRange, ...]:
    """The ranges of the topic that has most, the others empty."""
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
    """The ranges without what begins at this offset; None if too little is left."""
    shorter = tuple(
        OffsetRange(each.partition, each.start, max(each.start, min(each.end, offset)))
        if each.partition == partition
        else each
        for each in ranges
    )
    left = sum(each.end - each.start for each in shorter)
    return shorter if left >= LARGE_BACKLOG else None


def partly(
    ranges: Sequence[OffsetRange], written: Sequence[OffsetRange]
) -> tuple[OffsetRange, ...]:
    """The ranges as far as they were written: an empty one where nothing was."""
    ends = {each.partition: each.end for each in written}
    return tuple(
        OffsetRange(each.partition, each.start, ends.get(each.partition, each.start))
        for each in ranges
    )


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A record that no converter can read, and why."""

    record: RawRecord
    fault: Fault


@dataclass(frozen=True, slots=True)
class SortedOut:
    """Records by how they are to be read. Those that can't be read stand in no run.

    If they are not tolerated there is at most one of them, and no run goes beyond it.
    """

    runs: Sequence[Run]
    unreadable: Sequence[Unreadable] = ()


def sort_out(records: Sequence[RawRecord], converters: Converters, *, tolerant: bool) -> SortedOut:
    """Split records where their layouts change; the order stays."""
    if converters.uniform:
        layouts = Layouts(converters.key.layout(None), converters.value.layout(None))
        return SortedOut([Run(layouts, records)])
    known: Layouts | None = None
    readable: list[tuple[Layouts, RawRecord]] = []
    unreadable: list[Unreadable] = []
    for record in records:
        layouts = _layouts(record, converters, known)
        fault = None if layouts.regular else fault_in(record, converters)
        if fault is None:
            known = layouts
            readable.append((layouts, record))
            continue
        unreadable.append(Unreadable(record, fault))
        if not tolerant:
            break
    groups = groupby(readable, key=lambda entry: entry[0])
    runs = [Run(layouts, [record for _, record in group]) for layouts, group in groups]
    return SortedOut(runs, unreadable)


def _layouts(record: RawRecord, converters: Converters, known: Layouts | None) -> Layouts:
    key, value = converters.key.layout(record.key), converters.value.layout(record.value)
    if known is not None:
        # Null bytes decode to null in every layout: they need no run of their own.
        key = known.key if record.key is None else key
        value = known.value if record.value is None else value
    return Layouts(key, value)


def fault_in(record: RawRecord, converters: Converters) -> Fault | None:
    """Why the record can't be read; None if it can."""
    sides = (
        ("KEY_CONVERTER", converters.key, record.key),
        ("VALUE_CONVERTER", converters.value, record.value),
    )
    for stage, converter, data in sides:
        try:
            converter.decode_one(data)
        except DataError as error:
            place = (record.topic, record.partition, record.offset)
            return Fault(stage, converter.class_name(), str(error), *place)
    return None
