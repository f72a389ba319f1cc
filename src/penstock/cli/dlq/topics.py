"""Dead letter topics, and the letters in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from penstock.cli.dlq.letters import Letter
from penstock.cli.dlq.marks import Replayed, group_of
from penstock.kafka.clients import Admin, Edge, TopicReader
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import NotFoundError
from penstock.kernel.wire.models import ConnectorInfo

_KEY: Final = "errors.deadletterqueue.topic.name"


def topics_of(connectors: Mapping[str, ConnectorInfo]) -> dict[str, list[str]]:
    """The dead letter topics that connectors name, and those connectors."""
    found: dict[str, list[str]] = {}
    for name, info in sorted(connectors.items()):
        topic = (info.config.get(_KEY) or "").strip()
        if topic:
            found.setdefault(topic, []).append(name)
    return found


@dataclass(frozen=True, slots=True)
class LetterTopic:
    """A topic now: where each partition begins and ends, and which letters were replayed."""

    name: str
    edges: Mapping[TopicPartition, tuple[int, int]]
    replayed: Mapping[TopicPartition, Replayed]

    @property
    def size(self) -> int:
        return sum(end - start for start, end in self.edges.values())

    @property
    def behind_the_floor(self) -> dict[TopicPartition, tuple[int, int]]:
        """The edges without the replayed letters at the beginning."""
        return {
            each: (max(start, self.replayed.get(each, Replayed()).floor), end)
            for each, (start, end) in self.edges.items()
        }

    def was_replayed(self, letter: Letter) -> bool:
        partition = TopicPartition(letter.topic, letter.partition)
        return letter.offset in self.replayed.get(partition, Replayed())


class Letters:
    """Reads dead letter topics, each call with a deadline."""

    def __init__(self, properties: Mapping[str, str], seconds: float) -> None:
        self._properties = properties
        self._seconds = seconds
        self._admin = Admin(properties)

    def topic(self, name: str) -> LetterTopic:
        """Raises NotFoundError if there is no such topic."""
        self.check([name])
        view = self._admin.topics([name], self.deadline())[name]
        partitions = [TopicPartition(name, number) for number in range(view.partitions)]
        starts = self._admin.offsets(partitions, Edge.EARLIEST, self.deadline())
        ends = self._admin.offsets(partitions, Edge.LATEST, self.deadline())
        edges = {each: (starts[each], ends[each]) for each in partitions}
        return LetterTopic(name, edges, self._replayed(name, starts))

    def check(self, names: Sequence[str]) -> None:
        """Raises NotFoundError unless all these topics exist."""
        missing = set(names) - self._admin.topics(names, self.deadline()).keys()
        if missing:
            where = self._properties.get("bootstrap.servers", "")
            raise NotFoundError(
                f"there is no topic {', '.join(sorted(missing))} in Kafka at {where}"
            )

    def exists(self, name: str) -> bool:
        return name in self._admin.topics([name], self.deadline())

    def partitions(self, names: Sequence[str]) -> dict[str, int]:
        """How many partitions topics have; those that are gone are left out."""
        found = self._admin.topics(names, self.deadline())
        return {name: view.partitions for name, view in found.items()}

    def read(
        self,
        topic: LetterTopic,
        edges: Mapping[TopicPartition, tuple[int, int]] | None = None,
    ) -> Iterator[Letter]:
        """The letters of a topic, or those between some edges; one partition after another, so
        that the order is the same each time."""
        with closing(TopicReader(self._properties, topic.name)) as reader:
            for partition, (start, end) in (topic.edges if edges is None else edges).items():
                for record in reader.read({partition: (start, end)}, self._seconds):
                    yield Letter.of(record)

    def mark(self, name: str, replayed: Mapping[TopicPartition, Replayed]) -> None:
        """Store which letters were replayed."""
        floors = {partition: each.floor for partition, each in replayed.items()}
        notes = {partition: each.note for partition, each in replayed.items()}
        self._admin.alter_group_offsets(group_of(name), floors, self.deadline(), notes)

    def _replayed(
        self, name: str, starts: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, Replayed]:
        group = group_of(name)
        floors = self._admin.group_offsets(group, self.deadline())
        notes = self._admin.group_notes(group, self.deadline())
        return {
            each: Replayed.parse(max(floors.get(each, 0), start), notes.get(each, ""))
            for each, start in starts.items()
        }

    def deadline(self) -> Deadline:
        return Deadline.after(self._seconds)

    def close(self) -> None:
        self._admin.close()
