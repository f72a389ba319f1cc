"""Connect's offsets topic: reads a connector's records, and writes new ones."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from penstock.kafka.clients import Admin, Edge, NewRecord, RawRecord, TopicReader, TopicWriter
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import NotFoundError
from penstock.tools.offsets.models import Map, Move, Place
from penstock.worker.storage.java_json import canonical, decode, encode


@dataclass(frozen=True, slots=True)
class Stored:
    """A record of the topic."""

    connector: str
    key: bytes
    partition: Map
    offset: Map | None
    place: Place


@dataclass(frozen=True, slots=True)
class History:
    """The records of one partition of a source.

    Attributes:
        standing: the last record of each key in each partition of the topic. There is only one,
            unless somebody wrote the same partition in other bytes or to another place.
        history: the last records, the newest first.
        begins: when the oldest one of all was written (ms).
        earlier: the last one that was written before the given time.
    """

    standing: tuple[Stored, ...]
    history: tuple[Stored, ...]
    begins: int
    earlier: Stored | None = None

    @property
    def latest(self) -> Stored:
        """The valid record: the last of a topic partition; if there are several, the newest."""
        return max(self.standing, key=lambda each: each.place.written)


class OffsetTopic:
    """The topic of `offset.storage.topic`."""

    def __init__(
        self, admin: Admin, properties: Mapping[str, str], name: str, seconds: float
    ) -> None:
        self.name = name
        self._admin = admin
        self._properties = properties
        self._seconds = seconds

    def histories(
        self, connectors: Collection[str], *, keep: int = 1, before: int | None = None
    ) -> dict[str, list[History]]:
        """The records of these connectors, by connector and in the order of partitions.

        Args:
            connectors: their names.
            keep: how many records of each partition to keep as history.
            before: the time (ms) for `earlier`.

        Raises:
            NotFoundError: there is no such topic.
        """
        found: dict[str, dict[str, _Kept]] = {name: {} for name in connectors}
        keys = Keys(found)
        for record in self._records():
            key = keys.find(record.key)
            stored = None if key is None else key.stored(record)
            if key is None or stored is None:
                continue
            of_connector = found[key.connector]
            of_connector.setdefault(key.name, _Kept(deque(maxlen=keep))).add(stored, before)
        return {
            connector: [partitions[name].found() for name in sorted(partitions)]
            for connector, partitions in found.items()
        }

    def write(self, connector: str, moves: Sequence[Move], histories: Sequence[History]) -> None:
        """Write the new offsets with the key bytes, and to the partitions, of the old ones."""
        known = {canonical(history.latest.partition): history for history in histories}
        records = [
            record
            for move in moves
            for record in self._new(connector, move, known.get(canonical(move.partition)))
        ]
        with closing(TopicWriter(self._properties)) as writer:
            writer.write(records, Deadline.after(self._seconds))

    def _new(self, connector: str, move: Move, history: History | None) -> list[NewRecord]:
        value = None if move.after is None else encode(move.after)
        key = encode([connector, move.partition]) if history is None else own_key(history)
        standing = () if history is None else history.standing
        places = sorted({each.place.partition for each in standing if each.key == key})
        if not places:
            # By its hash, as in Java's producer.
            return [NewRecord(self.name, key, value)]
        return [NewRecord(self.name, key, value, partition=place) for place in places]

    def _records(self) -> Iterator[RawRecord]:
        deadline = Deadline.after(self._seconds)
        view = self._admin.topics([self.name], deadline).get(self.name)
        if view is None:
            raise NotFoundError(
                f"there is no topic {self.name} in this Kafka; name the offset.storage.topic of"
                " the workers with --offset-topic"
            )
        places = [TopicPartition(self.name, number) for number in range(view.partitions)]
        starts = self._admin.offsets(places, Edge.EARLIEST, deadline)
        ends = self._admin.offsets(places, Edge.LATEST, deadline)
        ranges = {place: (starts[place], ends[place]) for place in places}
        with closing(TopicReader(self._properties, self.name)) as reader:
            yield from reader.read(ranges, self._seconds)


@dataclass(slots=True)
class _Kept:
    history: deque[Stored]
    standing: dict[tuple[bytes, int], Stored] = field(default_factory=dict)
    begins: int = sys.maxsize
    earlier: Stored | None = None

    def add(self, stored: Stored, before: int | None) -> None:
        self.begins = min(self.begins, stored.place.written)
        self.standing[stored.key, stored.place.partition] = stored
        self.history.append(stored)
        if before is not None and stored.place.written < before:
            known = self.earlier
            if known is None or known.place.written <= stored.place.written:
                self.earlier = stored

    def found(self) -> History:
        newest = sorted(self.history, key=_age, reverse=True)
        return History(tuple(self.standing.values()), tuple(newest), self.begins, self.earlier)


def _age(stored: Stored) -> tuple[int, int]:
    return stored.place.written, stored.place.offset


def own_key(history: History) -> bytes:
    """The bytes that Connect itself uses as the key: those without optional spaces.

    People who use kcat often write a space after the comma. Java's workers never read such a key.
    """
    written_by_connect = [each for each in history.standing if _tidy(each.key) == each.key]
    if not written_by_connect:
        return _tidy(history.latest.key)
    return max(written_by_connect, key=lambda each: each.place.written).key


def _tidy(key: bytes) -> bytes:
    return encode(decode(key))


@dataclass(frozen=True, slots=True)
class Key:
    """The key of an offset; `name` is the same for all spellings of a partition."""

    data: bytes
    connector: str
    partition: Map
    name: str

    @classmethod
    def of(cls, data: bytes) -> Key | None:
        """None if it is not the key of an offset."""
        try:
            found = decode(data)
        except ValueError:
            return None
        if not (isinstance(found, list) and len(found) == 2):
            return None
        connector, partition = found
        if not (isinstance(connector, str) and isinstance(partition, dict)):
            return None
        return cls(data, connector, partition, canonical(partition))

    def stored(self, record: RawRecord) -> Stored | None:
        """A record with this key; None if its value is not an offset."""
        try:
            offset = None if record.value is None else decode(record.value)
        except ValueError:
            return None
        if not isinstance(offset, dict | None):
            return None
        place = Place(record.partition, record.offset, record.timestamp)
        return Stored(self.connector, self.data, self.partition, offset, place)


class Keys:
    """The keys of some connectors. Each is parsed once."""

    def __init__(self, connectors: Collection[str]) -> None:
        self._connectors = connectors
        self._known: dict[bytes, Key] = {}

    def find(self, data: bytes | None) -> Key | None:
        """None for keys of others, and for bytes that are not a key."""
        if data is None:
            return None
        known = self._known.get(data)
        if known is not None:
            return known
        key = Key.of(data)
        if key is None or key.connector not in self._connectors:
            return None
        # Only these are cached: a topic may have millions of keys of others.
        return self._known.setdefault(data, key)
