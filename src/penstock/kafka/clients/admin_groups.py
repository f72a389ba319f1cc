"""Consumer groups in detail: their state, their members and the partitions of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException

from penstock.kafka.clients.admin_calls import AdminCalls, ours
from penstock.kafka.clients.compacted_topic import LastError
from penstock.kafka.clients.connect import rd_admin
from penstock.kafka.clients.failures import librdkafka_failure
from penstock.kernel.calls import within
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition

_STATES: Final = {
    "PREPARING_REBALANCING": "PreparingRebalance",
    "COMPLETING_REBALANCING": "CompletingRebalance",
}


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """A group in the cluster's list. Fields that an old broker lacks are empty."""

    name: str
    protocol: str
    state: str
    type: str


@dataclass(frozen=True, slots=True)
class GroupMember:
    """One member of a group, and the partitions it has."""

    id: str
    client_id: str
    host: str
    instance_id: str | None
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class GroupState:
    """A group as its coordinator reports it; a missing one is Dead."""

    name: str
    state: str
    type: str
    assignor: str
    coordinator: str
    members: tuple[GroupMember, ...]


class GroupDetails(AdminCalls):
    """Reads consumer groups."""

    def group_entries(self, deadline: Deadline) -> list[GroupEntry]:
        """Every group of the cluster, by name."""
        found = self.do(deadline, "listing the groups", lambda client: client.list_groups())
        entries = [
            GroupEntry(
                entry["group_id"],
                entry.get("protocol_type") or "",
                entry.get("group_state") or "",
                (entry.get("group_type") or "").lower(),
            )
            for entry in found
        ]
        return sorted(entries, key=lambda entry: entry.name)

    def group_states(self, names: Sequence[str], deadline: Deadline) -> dict[str, GroupState]:
        """The groups of these names with their members, of either protocol.

        kafka-python can't describe groups of the new protocol (KIP-848); librdkafka can.
        """
        if not names:
            return {}
        step = self.at(f"looking at {len(names)} groups")
        return within(deadline, step, lambda: self._described(list(names), deadline, step))

    def _described(self, names: list[str], deadline: Deadline, step: str) -> dict[str, GroupState]:
        errors = LastError()
        client = rd_admin(self._properties, {}, errors)
        try:
            answers = client.describe_consumer_groups(names, request_timeout=deadline.remaining())
            return {name: _answered(client, name, answers[name], deadline) for name in names}
        except KafkaException as error:
            client.poll(0)  # lets the library report its errors
            errors.check(step)
            raise librdkafka_failure(error, step + errors.hint()) from error


def _answered(client: Any, name: str, answer: Any, deadline: Deadline) -> GroupState:
    try:
        return _state(answer.result())
    except KafkaException as error:
        if error.args[0].code() != KafkaError._INVALID_ARG:  # noqa: SLF001
            raise
    # It is not a consumer group, but one of Connect workers or schema registries.
    (found,) = client.list_groups(name, timeout=deadline.remaining())
    members = [
        GroupMember(each.id, each.client_id, each.client_host.removeprefix("/"), None, ())
        for each in found.members
    ]
    return GroupState(name, found.state, "classic", found.protocol, "", tuple(members))


def _state(found: Any) -> GroupState:
    node = found.coordinator
    return GroupState(
        found.group_id,
        _STATES.get(found.state.name, found.state.name.title()),
        found.type.name.lower() if found.type != confluent_kafka.ConsumerGroupType.UNKNOWN else "",
        found.partition_assignor or "",
        f"{node.host}:{node.port} ({node.id})" if node is not None else "",
        tuple(sorted(map(_member, found.members), key=lambda each: each.id)),
    )


def _member(found: Any) -> GroupMember:
    partitions = found.assignment.topic_partitions if found.assignment else ()
    return GroupMember(
        found.member_id,
        found.client_id,
        # The broker puts a slash in front, as Java shows addresses.
        found.host.removeprefix("/"),
        found.group_instance_id or None,
        tuple(sorted(map(ours, partitions), key=lambda each: (each.topic, each.partition))),
    )
