"""A cluster in trouble: partitions without a leader, and replicas that are behind."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from penstock.kafka.clients import Admin, Edge, PartitionState, TopicState
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import NotFoundError
from penstock.tools.broker.goals import to_latest
from penstock.tools.broker.groups import Groups
from penstock.tools.broker.messages import Messages
from penstock.tools.broker.reset import Resets
from penstock.tools.broker.topics import Topics

HALF = TopicState(
    "half",
    is_internal=False,
    partitions=(
        PartitionState(0, 1, (1, 2, 3), (1, 2)),
        PartitionState(1, None, (2, 3), ()),
        PartitionState(2, 3, (3,), (3,)),
    ),
)


class Troubled(Admin):
    """Answers as a cluster that has lost a broker; who asks for too much gets an error."""

    def __init__(self) -> None:
        super().__init__({})

    def topic_states(
        self, names: Collection[str] | None, deadline: Deadline
    ) -> dict[str, TopicState]:
        del deadline
        return {"half": HALF} if names is None or "half" in names else {}

    def offsets(
        self, partitions: Collection[TopicPartition], edge: Edge, deadline: Deadline
    ) -> dict[TopicPartition, int]:
        del deadline
        assert TopicPartition("half", 1) not in partitions, "nobody leads it"
        return dict.fromkeys(partitions, 10 if edge is Edge.EARLIEST else 25)

    def group_offsets(self, group: str, deadline: Deadline) -> dict[TopicPartition, int]:
        del group, deadline
        return {}


def test_what_can_be_known_is_shown() -> None:
    topic = Topics(Troubled(), 1).describe("half")
    assert [(each.leader, each.start, each.end, each.records) for each in topic.partitions] == [
        (1, 10, 25, 15),
        (None, None, None, None),
        (3, 10, 25, 15),
    ]
    assert (topic.records, topic.replication, topic.under_replicated) == (30, 1, 2)


def test_records_and_offsets_nobody_can_tell_are_not_left_out_in_silence() -> None:
    admin = Troubled()
    messages, groups = Messages(admin, {}, 1), Groups(admin, 1)
    with pytest.raises(NotFoundError, match="has no partition 1, or it has no leader now"):
        messages.read("half")
    resets = Resets(admin, groups, {}, 1)
    with pytest.raises(NotFoundError, match="no partition half-1, or it has no leader now"):
        resets.plan("g", to_latest, ["half"])
    changes = resets.plan("g", to_latest, ["half:0,2"])
    assert [(each.partition, each.new) for each in changes] == [(0, 25), (2, 25)]


def test_a_group_knows_the_ends_of_partitions_that_are_led() -> None:
    edges = Groups(Troubled(), 1).edges(["half", "gone"])
    assert set(edges) == {TopicPartition("half", 0), TopicPartition("half", 2)}
