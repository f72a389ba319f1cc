"""Moves the offsets of groups: plans the changes first, then makes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from penstock.kafka.clients import Admin, RecordTimes
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import BadRequestError, NotFoundError, PenstockError
from penstock.tools.broker.edges import Edges
from penstock.tools.broker.goals import Goal, Partitions, Situation
from penstock.tools.broker.groups import Groups, busy
from penstock.tools.broker.names import in_order, topic_partitions

_TIMES_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one partition. `old` is None if the group had committed nothing.

    `wanted` is the requested offset, if it lies outside of the partition; `first` and `last`
    are the times (ms) of the records between the old and the new offset, if known.
    """

    group: str
    topic: str
    partition: int
    old: int | None
    new: int
    edges: Edges
    wanted: int | None = None
    first: int | None = None
    last: int | None = None

    @property
    def place(self) -> TopicPartition:
        """The partition."""
        return TopicPartition(self.topic, self.partition)

    @property
    def read_again(self) -> int:
        """How many offsets the group will read again."""
        return 0 if self.old is None else max(0, self._old_inside - self.new)

    @property
    def skipped(self) -> int:
        """How many offsets the group will skip."""
        return 0 if self.old is None else max(0, self.new - self._old_inside)

    @property
    def between(self) -> tuple[int, int] | None:
        """The offsets that are read again or skipped; the second is the first after them."""
        if self.old is None or self._old_inside == self.new:
            return None
        return min(self._old_inside, self.new), max(self._old_inside, self.new)

    @property
    def _old_inside(self) -> int:
        """The old offset within the edges: deleted records can't be read again, nor skipped."""
        return min(max(self.old or 0, self.edges.start), self.edges.end)

    @property
    def warning(self) -> str:
        """Why the offset is not the requested one."""
        if self.wanted is None or self.wanted == self.new:
            return ""
        edge = "higher than the latest" if self.wanted > self.new else "lower than the earliest"
        return (
            f"{self.topic}-{self.partition}: offset {self.wanted} is {edge} one; {self.new} is used"
        )


class Resets:
    """Plans changes of offsets, and carries plans out."""

    def __init__(
        self, admin: Admin, groups: Groups, properties: Mapping[str, str], seconds: float
    ) -> None:
        self._admin = admin
        self._groups = groups
        self._properties = properties
        self._seconds = seconds

    def plan(
        self,
        group: str,
        goal: Goal,
        topics: Sequence[str] = (),
        *,
        all_topics: bool = False,
        times: bool = True,
    ) -> list[Change]:
        """The changes of the partitions of these topics (`TOPIC` or `TOPIC:0,1`).

        Args:
            group: its name; it need not exist if topics are named.
            goal: the target offsets.
            topics: which partitions.
            all_topics: all topics that the group has committed offsets for.
            times: whether to look up the times of the records in between.

        Raises:
            NotFoundError: no such topic, partition, or group.
        """
        committed = self._groups.offsets(group)
        partitions = self._partitions(group, topics, committed, all_topics=all_topics)
        return self._changes(group, goal, partitions, committed, times=times)

    def plan_offsets(
        self, group: str, offsets: Mapping[TopicPartition, int], *, times: bool = True
    ) -> list[Change]:
        """The same, with an offset for each partition."""
        committed = self._groups.offsets(group)
        partitions = self._existing(offsets)
        return self._changes(group, lambda _: offsets, partitions, committed, times=times)

    def obstacle(self, group: str) -> str:
        """Why execute() would refuse now; empty if it would not."""
        state = self._groups.state(group)
        return busy(state) if state.members else ""

    def check(self, changes: Iterable[Change]) -> None:
        """Raise GroupActiveError, with the members by name, if a group has some."""
        for group in dict.fromkeys(each.group for each in changes):
            self._groups.check_at_rest(group)

    def execute(self, changes: Sequence[Change]) -> None:
        """Commit the new offsets.

        Raises:
            GroupActiveError: a group has members; nothing is changed then.
        """
        self.check(changes)
        by_group: dict[str, dict[TopicPartition, int]] = {}
        for each in changes:
            by_group.setdefault(each.group, {})[each.place] = each.new
        for group, offsets in by_group.items():
            self._admin.alter_group_offsets(group, offsets, self._deadline())

    def _partitions(
        self,
        group: str,
        topics: Sequence[str],
        committed: Mapping[TopicPartition, int],
        *,
        all_topics: bool,
    ) -> Partitions:
        if all_topics == bool(topics):
            raise BadRequestError("no topics given: name them, or use all topics of the group")
        if not all_topics:
            return self._named(topics)
        if not committed:
            raise NotFoundError(
                f"group {group} has committed no offsets, or does not exist; name the topics"
            )
        return self._existing(committed)

    def _named(self, topics: Sequence[str]) -> Partitions:
        chosen = [topic_partitions(text) for text in topics]
        states = self._admin.topic_states([topic for topic, _ in chosen], self._deadline())
        wanted: set[TopicPartition] = set()
        for topic, numbers in chosen:
            if topic not in states:
                raise NotFoundError(f"there is no topic {topic}")
            if numbers is None:
                numbers = tuple(each.number for each in states[topic].partitions)
            wanted |= {TopicPartition(topic, number) for number in numbers}
        return self._existing(wanted)

    def _existing(self, partitions: Iterable[TopicPartition]) -> Partitions:
        wanted = set(partitions)
        edges = self._groups.edges(each.topic for each in wanted)
        _check_known(wanted, edges)
        return {each: edges[each] for each in wanted}

    def _changes(
        self,
        group: str,
        goal: Goal,
        partitions: Partitions,
        committed: Mapping[TopicPartition, int],
        *,
        times: bool,
    ) -> list[Change]:
        offsets = goal(Situation(group, partitions, committed, self._at))
        changes = []
        for each in in_order(partitions):
            edges, wanted = partitions[each], offsets[each]
            new = min(max(wanted, edges.start), edges.end)
            old = committed.get(each)
            clamped = None if wanted == new else wanted
            changes.append(Change(group, each.topic, each.partition, old, new, edges, clamped))
        return self._with_times(changes) if times else changes

    def _at(self, moments: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int | None]:
        return self._admin.offsets_at(moments, self._deadline())

    def _with_times(self, changes: Sequence[Change]) -> list[Change]:
        """With times, which are only shown to people: without an answer, there are none."""
        spans = {each.place: span for each in changes if (span := each.between) is not None}
        if not spans:
            return list(changes)
        times = RecordTimes(self._properties)
        try:
            found = times.of(spans, Deadline.after(min(self._seconds, _TIMES_SECONDS)))
        except PenstockError:
            return list(changes)
        finally:
            times.close()
        timed = []
        for each in changes:
            first, last = found.get(each.place, (None, None))
            timed.append(replace(each, first=first, last=last))
        return timed

    def _deadline(self) -> Deadline:
        return Deadline.after(self._seconds)


def _check_known(wanted: Iterable[TopicPartition], known: Iterable[TopicPartition]) -> None:
    missing = in_order(set(wanted) - set(known))
    if missing:
        raise NotFoundError(
            f"there is no partition {', '.join(map(str, missing))}, or it has no leader now"
        )
