"""Reads records of topics from any place, and writes records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from typing import Final

from penstock.kafka.clients import (
    Admin,
    GroupConsumer,
    NewRecord,
    RawRecord,
    TopicReader,
    TopicState,
    TopicWriter,
    Written,
)
from penstock.kernel.clock import Clock, Deadline, SystemClock
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import (
    BadRequestError,
    DeadlineExceededError,
    NotFoundError,
    RebalancedError,
)
from penstock.tools.broker.edges import Edges, edges_of
from penstock.tools.broker.goals import Goal, Situation, to_earliest

Records = Generator[RawRecord, None, None]
_BATCH: Final = 500
_SLICE_SECONDS: Final = 0.2
#: How long a group's member waits for more: transaction markers may hide that it is at the end.
_QUIET_SECONDS: Final = 3.0


class Messages:
    """Reads and writes records. Records are returned as they are fetched: memory stays small."""

    def __init__(
        self,
        admin: Admin,
        properties: Mapping[str, str],
        seconds: float,
        clock: Clock | None = None,
    ) -> None:
        self._admin = admin
        self._properties = properties
        self._seconds = seconds
        self._clock = clock or SystemClock()

    def read(
        self,
        topic: str,
        start: Goal = to_earliest,
        *,
        partitions: Collection[int] = (),
        follow: bool = False,
        uncommitted: bool = False,
    ) -> Records:
        """The records of a topic from a place on, by partition in their order.

        Args:
            topic: its name.
            start: where to begin; see `goals`.
            partitions: which of them; none means all.
            follow: wait for new records, until the iterator is closed. Otherwise it ends at
                the current end of the partitions.
            uncommitted: also records of transactions that are open or were aborted.

        Raises:
            NotFoundError: there is no such topic or partition.
            DeadlineExceededError: nothing came for so many seconds, and the end was not reached.
        """
        edges = self._edges(topic, partitions)
        found = start(Situation("", edges, {}, self._at))
        starts = {each: min(max(found[each], at.start), at.end) for each, at in edges.items()}
        level = _level(uncommitted=uncommitted)
        return self._read(topic, starts, edges, level, follow=follow)

    def _read(
        self,
        topic: str,
        starts: Mapping[TopicPartition, int],
        edges: Mapping[TopicPartition, Edges],
        level: str,
        *,
        follow: bool,
    ) -> Records:
        with closing(TopicReader(self._properties, topic, isolation_level=level)) as reader:
            if follow:
                yield from reader.follow(starts)
            else:
                ranges = {each: (start, edges[each].end) for each, start in starts.items()}
                yield from reader.read(ranges, self._seconds)

    def read_as(
        self,
        group: str,
        topic: str,
        *,
        from_beginning: bool = False,
        follow: bool = False,
        uncommitted: bool = False,
    ) -> Records:
        """The records that a group has not read yet, as a member of it.

        Returned records count as read: they are committed when the next batch is fetched, and
        when the iterator is closed. Other members of the group get other partitions.

        Args:
            group: its name; Kafka creates it if it does not exist.
            topic: its name.
            from_beginning: start at the beginning, not the end, if nothing is committed.
            follow: wait for new records, until the iterator is closed.
            uncommitted: also records of transactions that are open or were aborted.
        """
        edges = self._edges(topic, ())
        properties = {
            **self._properties,
            "group.id": group,
            "auto.offset.reset": "earliest" if from_beginning else "latest",
            "isolation.level": _level(uncommitted=uncommitted),
        }
        return self._read_as(properties, topic, edges, follow=follow)

    def _read_as(
        self,
        properties: Mapping[str, str],
        topic: str,
        edges: Mapping[TopicPartition, Edges],
        *,
        follow: bool,
    ) -> Records:
        consumer = GroupConsumer(properties)
        member = _Member(consumer, self._deadline)
        try:
            consumer.subscribe([topic], member)
            yield from self._records_of(member, edges, follow=follow)
        finally:
            member.commit()
            consumer.close(self._deadline())

    def _records_of(
        self, member: _Member, edges: Mapping[TopicPartition, Edges], *, follow: bool
    ) -> Records:
        """Records until a member has read up to the edges, or for ever."""
        deadline = self._deadline()
        while follow or not (member.has_all(edges) or deadline.expired):
            was_joined = member.joined
            records = member.next()
            for record in records:
                member.read(record)
                yield record
            member.commit()
            if records or member.joined != was_joined:
                deadline = Deadline.after(_QUIET_SECONDS, self._clock)
        if not member.joined:
            raise DeadlineExceededError(f"ran out of time while joining group {member.group}")

    def write(
        self, topic: str, records: Iterable[NewRecord], *, compression: str = "none"
    ) -> list[Written]:
        """Write records in order, acknowledged by all replicas. Returns their places.

        Args:
            topic: where to.
            records: all for this topic.
            compression: none, gzip, snappy, lz4 or zstd.

        Raises:
            NotFoundError: there is no such topic, or partition of it.
            DeadlineExceededError: the cluster took none for so many seconds.
        """
        try:
            known = {each.number for each in self._state(topic).partitions}
        except NotFoundError as error:
            raise NotFoundError(f"{error}; `penstock topics create {topic}` makes it") from None
        properties = {**self._properties, "compression.type": compression}
        with closing(TopicWriter(properties)) as writer:
            return writer.stream(_checked(topic, records, known), self._seconds)

    def _edges(self, topic: str, partitions: Collection[int]) -> dict[TopicPartition, Edges]:
        state = self._state(topic)
        edges = edges_of(self._admin, [state], self._deadline())
        wanted = partitions or [each.number for each in state.partitions]
        missing = sorted(set(wanted) - {each.partition for each in edges})
        if missing:
            raise NotFoundError(
                f"topic {topic} has no partition {', '.join(map(str, missing))}, or it has no"
                " leader now"
            )
        return {each: at for each, at in edges.items() if each.partition in wanted}

    def _state(self, topic: str) -> TopicState:
        states = self._admin.topic_states([topic], self._deadline())
        if topic not in states:
            raise NotFoundError(f"there is no topic {topic}")
        return states[topic]

    def _at(self, moments: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int | None]:
        return self._admin.offsets_at(moments, self._deadline())

    def _deadline(self) -> Deadline:
        return Deadline.after(self._seconds)


class _Member:
    """One member of a group, with what it has read and not committed yet."""

    def __init__(self, consumer: GroupConsumer, deadline: Callable[[], Deadline]) -> None:
        self._consumer = consumer
        self._deadline = deadline
        self._read: dict[TopicPartition, int] = {}
        self._positions: dict[TopicPartition, int] = {}
        self._mine: frozenset[TopicPartition] = frozenset()
        self.group = consumer.group_id
        self.joined = False

    def next(self) -> list[RawRecord]:
        """The records that come within a moment."""
        return self._consumer.consume(_BATCH, _SLICE_SECONDS)

    def read(self, record: RawRecord) -> None:
        place = TopicPartition(record.topic, record.partition)
        self._read[place] = self._positions[place] = record.offset + 1

    def commit(self) -> None:
        offsets, self._read = self._read, {}
        try:
            self._consumer.commit(offsets, self._deadline())
        except RebalancedError:
            # Another member has the partitions now, and will read these records again.
            return

    def has_all(self, edges: Mapping[TopicPartition, Edges]) -> bool:
        """Whether each of our partitions was read up to its end at the start."""
        mine = [each for each in self._mine if each in edges]
        if not mine:
            return False
        missing = [each for each in mine if each not in self._positions]
        if missing:
            self._positions |= self._consumer.positions(missing, self._deadline())
        return all(self._positions[each] >= edges[each].end for each in mine)

    def assigned(self, partitions: Collection[TopicPartition]) -> None:
        self._mine |= set(partitions)
        self.joined = True

    def revoked(self, partitions: Collection[TopicPartition]) -> None:
        self.commit()
        self.lost(partitions)

    def lost(self, partitions: Collection[TopicPartition]) -> None:
        self._mine -= set(partitions)
        for each in partitions:
            self._read.pop(each, None)
            self._positions.pop(each, None)


def _level(*, uncommitted: bool) -> str:
    return "read_uncommitted" if uncommitted else "read_committed"


def _checked(topic: str, records: Iterable[NewRecord], known: set[int]) -> Iterator[NewRecord]:
    for record in records:
        if record.topic != topic:
            raise BadRequestError(f"a record for topic {record.topic} among those for {topic}")
        if record.partition is not None and record.partition not in known:
            raise NotFoundError(f"topic {topic} has no partition {record.partition}")
        yield record
