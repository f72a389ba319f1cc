"""Target offsets: where to move a group, or where to begin to read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from penstock.kernel.clock import Clock, SystemClock
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import BadRequestError
from penstock.tools.broker.edges import Edges
from penstock.tools.broker.names import in_order

Partitions = Mapping[TopicPartition, Edges]


@dataclass(frozen=True, slots=True)
class Situation:
    """The input of a goal: a group, the partitions to change and its committed offsets."""

    group: str
    partitions: Partitions
    committed: Mapping[TopicPartition, int]
    at: Callable[[Mapping[TopicPartition, int]], Mapping[TopicPartition, int | None]]


Goal = Callable[[Situation], Mapping[TopicPartition, int]]
"""Returns the target offset of each partition of a situation."""


def to_earliest(situation: Situation) -> dict[TopicPartition, int]:
    """The first record there is."""
    return {each: edges.start for each, edges in situation.partitions.items()}


def to_latest(situation: Situation) -> dict[TopicPartition, int]:
    """After the last record."""
    return {each: edges.end for each, edges in situation.partitions.items()}


def to_last(count: int) -> Goal:
    """This number of offsets before the end of each partition."""
    return lambda situation: {
        each: max(edges.start, edges.end - count) for each, edges in situation.partitions.items()
    }


def to_current(situation: Situation) -> dict[TopicPartition, int]:
    """The committed offset; without one the end, as in Kafka's own tool."""
    return {
        each: situation.committed.get(each, edges.end)
        for each, edges in situation.partitions.items()
    }


def to_offset(offset: int) -> Goal:
    """The same offset in each partition."""
    return lambda situation: dict.fromkeys(situation.partitions, offset)


def shift_by(count: int) -> Goal:
    """Forward by this number of offsets, or back."""

    def goal(situation: Situation) -> dict[TopicPartition, int]:
        missing = in_order(set(situation.partitions) - set(situation.committed))
        if missing:
            raise BadRequestError(
                f"group {situation.group} has committed no offset for"
                f" {', '.join(map(str, missing))}, so it can't be shifted"
            )
        return {each: situation.committed[each] + count for each in situation.partitions}

    return goal


def to_time(moment: int) -> Goal:
    """The first record that is not older than a time (ms); the end if all are older."""

    def goal(situation: Situation) -> dict[TopicPartition, int]:
        found = situation.at(dict.fromkeys(situation.partitions, moment))
        offsets = {}
        for each, edges in situation.partitions.items():
            offset = found.get(each)
            offsets[each] = edges.end if offset is None else offset
        return offsets

    return goal


def by_duration(millis: int, clock: Clock | None = None) -> Goal:
    """The first record that is not older than this long ago."""
    return to_time((clock or SystemClock()).wall_ms() - millis)
