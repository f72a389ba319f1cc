"""Lists, describes and deletes consumer groups. `reset` moves their offsets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from penstock.kafka.clients import Admin, GroupEntry, GroupMember, GroupState
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import BadRequestError, GroupActiveError, NotFoundError
from penstock.tools.broker.edges import Edges, edges_of
from penstock.tools.broker.names import chosen, in_order, topic_partitions

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
        """How many offsets the group has still to read; all if it has committed none."""
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
            NotFoundError: a name or pattern matches no group.
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
        """One group: its members, and its offset in each partition.

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
            self._known_state(state),
            state.type,
            state.assignor,
            state.coordinator,
            state.members,
            tuple(partitions),
        )

    def _listed_only(self, name: str) -> Group:
        """A share group: Kafka returns nothing of it but the entry in the list."""
        for entry in self._entries():
            if entry.name == name:
                return Group(name, entry.state, entry.type, "", "", (), ())
        raise NotFoundError(f"there is no group {name}")

    def state(self, name: str) -> GroupState:
        """The state from its coordinator; a missing group is Dead."""
        return self._admin.group_states([name], self._deadline())[name]

    def offsets(self, name: str) -> dict[TopicPartition, int]:
        """The committed offsets."""
        return self._admin.group_offsets(name, self._deadline())

    def edges(self, topics: Iterable[str]) -> dict[TopicPartition, Edges]:
        """Where the partitions of topics begin and end; missing topics are left out."""
        states = self._admin.topic_states(sorted(set(topics)), self._deadline())
        return edges_of(self._admin, list(states.values()), self._deadline())

    def check_at_rest(self, name: str) -> None:
        """Raise GroupActiveError, with the members by name, if a member could commit."""
        state = self.state(name)
        if state.members or state.state not in _AT_REST:
            raise GroupActiveError(busy(state))

    def delete(self, *patterns: str) -> list[str]:
        """Delete groups and their offsets. Returns their names.

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
        """Delete the offsets of a group for topics, or for partitions as `TOPIC:0,1`.

        Raises:
            NotFoundError: it has committed nothing for one of them.
            GroupActiveError: a member reads one of the topics.
        """
        if not topics:
            raise BadRequestError("no topics given: name those whose offsets to delete")
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
            raise BadRequestError("no groups given: name at least one")
        return self.names(*patterns)

    def _known_state(self, state: GroupState) -> str:
        """The state; only the list of groups has those of the new protocol, not librdkafka."""
        if state.state != "Unknown":
            return state.state
        return next((e.state for e in self._entries() if e.name == state.name), state.state)

    def _entries(self) -> list[GroupEntry]:
        return self._admin.group_entries(self._deadline())

    def _deadline(self) -> Deadline:
        return Deadline.after(self._seconds)


def busy(state: GroupState) -> str:
    """The message that the offsets of a group can't be changed, and what to do."""
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
        f"the offsets of group {state.name} can't be changed: it is {state.state} and has members"
        f" ({members or 'still joining'}{more}); {hint}"
    )


def _summary(entry: GroupEntry, state: GroupState | None) -> GroupSummary:
    return GroupSummary(
        entry.name,
        entry.state or (state.state if state is not None else ""),
        entry.type or (state.type if state is not None else ""),
        entry.protocol,
        None if state is None else len(state.members),
    )
