"""Where partitions begin and end; missing ones, and those without a leader, are left out."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from penstock.kafka.clients import Admin, Edge, TopicState
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition


class Edges(NamedTuple):
    """The first offset of a partition, and the one its next record will have."""

    start: int
    end: int


def edges_of(
    admin: Admin,
    states: Collection[TopicState],
    deadline: Deadline,
) -> dict[TopicPartition, Edges]:
    """The edges of all partitions of these topics."""
    led = [
        TopicPartition(state.name, partition.number)
        for state in states
        for partition in state.partitions
        if partition.leader is not None
    ]
    starts = admin.offsets(led, Edge.EARLIEST, deadline)
    ends = admin.offsets(led, Edge.LATEST, deadline)
    return {each: Edges(starts[each], ends[each]) for each in led}
