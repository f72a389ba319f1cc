"""Which records make up the next batch of a sink, and how they are read: decisions only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final

from penstock.api.converter import Converter, Layout
from penstock.api.sink import OffsetRange
from penstock.columns.types import arrow_type
from penstock.data.record import TopicPartition
from penstock.errors import DataError
from penstock.plan.faults import Fault
from penstock.plan.inline_records import Retry, once, why

if TYPE_CHECKING:
    from penstock.data.record import KafkaRecord
    from penstock.plan.pipeline import Converters

#: From this many waiting records on, Spark's own Kafka reader is worth its start-up time; fewer
#: are taken as the consumer returns them, all at once.
LARGE_BACKLOG: Final = 5_000
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
    records: Sequence[KafkaRecord]


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
    return shorter if size_of(shorter) >= LARGE_BACKLOG else None


def parted(
    ranges: Sequence[OffsetRange], count: int
) -> tuple[tuple[OffsetRange, ...], tuple[OffsetRange, ...]]:
    """The first so many offsets of the ranges, and the others; without empty ranges."""
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
    """The ranges as far as they were written: an empty one where nothing was."""
    return tuple(
        OffsetRange(each.partition, each.start, ends.get(each.partition, each.start))
        for each in ranges
    )


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A record that no converter can read, and why."""

    record: KafkaRecord
    fault: Fault


@dataclass(frozen=True, slots=True)
class SortedOut:
    """Records by how they are to be read. Those that can't be read stand in no run.

    If they are not tolerated there is at most one of them, and no run goes beyond it.
    """

    runs: Sequence[Run]
    unreadable: Sequence[Unreadable] = ()


def sort_out(
    records: Sequence[KafkaRecord],
    converters: Converters,
    *,
    tolerant: bool,
    retry: Retry = once,
) -> SortedOut:
    """Split records where their layouts change; the order stays.

    Args:
        records: in their order.
        converters: those of the connector.
        tolerant: whether to go on behind a record that can't be read.
        retry: calls a converter, more than once if it asks for that.
    """
    if converters.uniform:
        layouts = retry(lambda: Layouts(converters.key.layout(None), converters.value.layout(None)))
        return SortedOut([Run(layouts, records)])
    known: Layouts | None = None
    readable: list[tuple[Layouts, KafkaRecord]] = []
    unreadable: list[Unreadable] = []
    for record in records:
        found = _looked_at(record, converters, known, retry)
        if isinstance(found, Layouts):
            known = found
            readable.append((found, record))
            continue
        unreadable.append(Unreadable(record, found))
        if not tolerant:
            break
    groups = groupby(readable, key=lambda entry: entry[0])
    runs = [Run(layouts, [record for _, record in group]) for layouts, group in groups]
    return SortedOut(runs, unreadable)


def _looked_at(
    record: KafkaRecord,
    converters: Converters,
    known: Layouts | None,
    retry: Retry,
) -> Layouts | Fault:
    """How the record is laid out, or why it can't be read."""
    usual_key, usual_value = (known.key, known.value) if known else (None, None)
    sides = (
        ("KEY_CONVERTER", converters.key, record.key, usual_key),
        ("VALUE_CONVERTER", converters.value, record.value, usual_value),
    )
    layouts: list[Layout] = []
    for stage, converter, data, usual in sides:
        try:
            layouts.append(retry(partial(_layout, converter, data, usual)))
        except DataError as error:
            place = (record.topic, record.partition, record.offset)
            return Fault(stage, converter.class_name(), why(error), *place)
    return Layouts(*layouts)


def _layout(converter: Converter, data: bytes | None, usual: Layout | None) -> Layout:
    # Null bytes decode to null in every layout: they need no run of their own.
    layout = usual if data is None and usual is not None else converter.layout(data)
    if layout == usual and layout.regular:
        return usual
    schema = layout.schema if layout.regular else converter.decode_one(data).schema
    if schema is not None:
        arrow_type(schema)  # It raises for what no column holds.
    return layout
