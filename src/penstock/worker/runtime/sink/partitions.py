"""The partitions of a sink task: the next offset of each, and offsets to commit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from penstock.api.sink import OffsetRange
from penstock.kernel.data.record import TopicPartition


@dataclass(slots=True)
class Partitions:
    """The partitions that the group assigned to the task.

    Attributes:
        ours: the assigned partitions that the task has opened.
        unplaced: those for which the task was not yet asked where to begin.
        next: where the next batch of each begins.
        uncommitted: ends of what is written but not committed; the task does not write it again.
    """

    ours: set[TopicPartition] = field(default_factory=set)
    unplaced: set[TopicPartition] = field(default_factory=set)
    next: dict[TopicPartition, int] = field(default_factory=dict)
    uncommitted: dict[TopicPartition, int] = field(default_factory=dict)

    @property
    def topics(self) -> set[str]:
        return {each.topic for each in self.ours}

    def add(self, partitions: Collection[TopicPartition]) -> None:
        self.ours |= set(partitions)
        self.unplaced |= set(partitions)

    def remove(self, partitions: Collection[TopicPartition]) -> frozenset[TopicPartition]:
        """Forget partitions; return those that were ours."""
        gone = frozenset(self.ours & set(partitions))
        for partition in partitions:
            self.next.pop(partition, None)
            self.uncommitted.pop(partition, None)
        self.ours -= gone
        self.unplaced -= set(partitions)
        return gone

    def place_again(self, topics: Collection[str] | None = None) -> None:
        """Let the loop ask the task again where to begin: in these topics, or in all."""
        self.unplaced |= {each for each in self.ours if topics is None or each.topic in topics}

    def begin(self, ranges: Iterable[OffsetRange]) -> None:
        """Partitions without a place begin with these records."""
        for each in ranges:
            self.next.setdefault(each.partition, each.start)

    def written(self, ranges: Iterable[OffsetRange]) -> tuple[OffsetRange, ...]:
        """Note that the ranges are written; return those that are still ours."""
        # Other tasks have the partitions that left meanwhile, and read those records again.
        ours = tuple(each for each in ranges if each.partition in self.ours)
        ends = {each.partition: each.end for each in ours if each.end > each.start}
        self.next.update(ends)
        self.uncommitted.update(ends)
        return ours

    def places(self, assigned: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        """The next offsets of the assigned partitions, as far as known."""
        return {partition: at for partition, at in self.next.items() if partition in assigned}
