"""Consumer groups: listed, looked at and deleted. Moving their offsets is in `reset`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from penstock.broker.edges import Edges, edges_of
from penstock.broker.names import chosen, in_order, topic_partitions
from penstock.clock import Deadline
from penstock.data.record import TopicPartition
from penstock.errors import BadRequestError, GroupActiveError, NotFoundError
from penstock.kafka.clients import Admin, GroupEntry, GroupMember, GroupState

DEAD: Final = "Dead"
_AT_REST: Final = frozenset({"Empty", DEAD})
_SHARE: Final = "share"


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """A group in a list. Members of share groups are not counted."""

    name: str
    state: str
    type: str
    protocol: str
    members: int | None


@dataclass(frozen=True, slots=True)
class GroupPartition:
    """A partition of a topic that a group has committed an offset for, or that a member has."""

    topic: str
    partition: int
    current: int | None
    end: int | None
    member: GroupMember | None
    start: int | None = None

    @property
    def lag(self) -> int | None:
        """How many offsets lie before the group; all of them if it has committed none."""
        read = self.start if self.current is None else self.current
        return None if read is None or self.end is None else self.end - read


@dataclass(frozen=True, slots=True)
class Group:
    """A group as it is now."""

    name: str
    state: str
    type: str
    assignor: str
    coordinator: str
    members: tuple[GroupMember, ...]
    partitions: tuple[GroupPartition, ...]

    @property
    def lag(self) -> int:
        """The lag of all partitions together."""
        return sum(each.lag or 0 for each in self.partitions)


class Groups:
    """The consumer groups of a cluster. Every call ends within the seconds given."""

    def __init__(self, admin: Admin, seconds: float) -> None:
        self._admin = admin
        self._seconds = seconds

    def names(self, *patterns: str) -> list[str]:
        """The names that match; without a pattern all.

        Raises:
            NotFoundError: a name or pattern stands for no group.
        """
        found = [entry.name for entry in self._entries()]
        return chosen(found, patterns, "group") if patterns else found

    def find(self, *patterns: str) -> list[GroupSummary]:
        """The groups that match, with their states; see names()."""
        entries = {entry.name: entry for entry in self._entries()}
        names = chosen(entries, patterns, "group") if patterns else sorted(entries)
        classic = [name for name in names if entries[name].type != _SHARE]
        states = self._admin.group_states(classic, self._deadline())
        return [_summary(entries[name], states.get(name)) for name in names]

    def describe(self, name: str) -> Group:
        """One group: its members, and where it stands in each partition.

        Raises:
            NotFoundError: there is none.
        """
        state = self.state(name)
        committed = self._admin.group_offsets(name, self._deadline())
        if state.state == DEAD and not committed:
            return self._listed_only(name)
        owners = {each: member for member in state.members for each in member.partitions}
        edges = self.edges({each.topic for each in (*committed, *owners)})
        partitions = [
            GroupPartition(
                each.topic,
                each.partition,
                committed.get(each),
                edges[each].end if each in edges else None,
                owners.get(each),
                edges[each].start if each in edges else None,
            )
            for each in in_order({*committed, *owners, *edges})
        ]
        return Group(
            name,
            self._told_state(state),
            state.type,
            state.assignor,
            state.coordinator,
            state.members,
            tuple(partitions),
        )

    def _listed_only(self, name: str) -> Group:
        """Of share groups only the list tells something."""
        for entry in self._entries():
            if entry.name == name:
                return Group(name, entry.state, entry.type, "", "", (), ())
        raise NotFoundError(f"there is no group {name}")

    def state(self, name: str) -> GroupState:
        """What its coordinator says; a group that is not there is Dead."""
        return self._admin.group_states([name], self._deadline())[name]

    def offsets(self, name: str) -> dict[TopicPartition, int]:
        """What the group has committed."""
        return self._admin.group_offsets(name, self._deadline())

    def edges(self, topics: Iterable[str]) -> dict[TopicPartition, Edges]:
        """Where the partitions of topics begin and end; topics that are not there are left out."""
        states = self._admin.topic_states(sorted(set(topics)), self._deadline())
        return edges_of(self._admin, list(states.values()), self._deadline())

    def check_at_rest(self, name: str) -> None:
        """Raise GroupActiveError, with the members by name, if a member could commit."""
        state = self.state(name)
        if state.members or state.state not in _AT_REST:
            raise GroupActiveError(busy(state))

    def delete(self, *patterns: str) -> list[str]:
        """Delete groups and all they have committed; their names.

        Raises:
            GroupActiveError: one has members; none is deleted then.
        """
        names = self._named(patterns)
        for name in names:
            self.check_at_rest(name)
        for name in names:
            self._admin.delete_group(name, self._deadline())
        return names

    def delete_offsets(self, name: str, topics: Sequence[str]) -> list[TopicPartition]:
        """Forget what a group has committed for topics, or partitions as `TOPIC:0,1` of them.

        Raises:
            NotFoundError: it has committed nothing for one of them.
            GroupActiveError: a member reads one of the topics.
        """
        if not topics:
            raise BadRequestError("name the topics whose offsets are to be deleted")
        committed = self.offsets(name)
        wanted: set[TopicPartition] = set()
        for text in topics:
            topic, numbers = topic_partitions(text)
            found = {
                each
                for each in committed
                if each.topic == topic and (numbers is None or each.partition in numbers)
            }
            if not found:
                raise NotFoundError(f"group {name} has committed no offset for {text}")
            wanted |= found
        self._admin.delete_group_offsets(name, wanted, self._deadline())
        return in_order(wanted)

    def _named(self, patterns: Sequence[str]) -> list[str]:
        if not patterns:
            raise BadRequestError("name the groups")
        return self.names(*patterns)

    def _told_state(self, state: GroupState) -> str:
        """The list of groups has the states of the new protocol, which librdkafka does not."""
        if state.state != "Unknown":
            return state.state
        return next((e.state for e in self._entries() if e.name == state.name), state.state)

    def _entries(self) -> list[GroupEntry]:
        return self._admin.group_entries(self._deadline())

    def _deadline(self) -> Deadline:
        return Deadline.after(self._seconds)


def busy(state: GroupState) -> str:
    """Why the offsets of a group can't be changed, and what to do about it."""
    members = ", ".join(
        f"{each.client_id or each.id} at {each.host}" for each in state.members[:10]
    )
    more = f" and {len(state.members) - 10} more" if len(state.members) > 10 else ""
    connector = state.name.removeprefix("connect-")
    hint = (
        f"stop the connector first: penstock stop {connector}"
        if connector != state.name
        else "stop them first"
    )
    return (
        f"group {state.name} is {state.state} and has members, so its offsets can't be changed:"
        f" {members or 'they are just joining'}{more}; {hint}"
    )


def _summary(entry: GroupEntry, state: GroupState | None) -> GroupSummary:
    return GroupSummary(
        entry.name,
        entry.state or (state.state if state is not None else ""),
        entry.type or (state.type if state is not None else ""),
        entry.protocol,
        None if state is None else len(state.members),
    )
