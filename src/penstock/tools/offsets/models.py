"""The offsets that are stored for connectors, and changes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import PenstockError
from penstock.worker.storage.java_json import canonical

Map = Mapping[str, Any]


class Kind(StrEnum):
    """A source has its offsets in Connect's offsets topic, a sink in its consumer group."""

    SOURCE = "source"
    SINK = "sink"


class Via(StrEnum):
    """The route to the offsets: Connect's REST API, or Kafka itself."""

    AUTO = "auto"
    REST = "rest"
    TOPIC = "topic"


class ChangeError(PenstockError):
    """A change of offsets failed; the text says what was done and the state now."""


@dataclass(frozen=True, slots=True)
class Place:
    """A record of the offsets topic; `written` is its time in milliseconds."""

    partition: int
    offset: int
    written: int


@dataclass(frozen=True, slots=True)
class StoredOffset:
    """The stored offset of one partition of a connector.

    Attributes:
        partition: of the source, or a sink's {"kafka_topic": …, "kafka_partition": …}.
        offset: None if the partition was reset, or its offset is empty (JDBC's mode bulk).
        place: the record that has it; for sources, if the topic could be read.
        end: where the partition of a sink's topic ends, if Kafka answered.
    """

    partition: Map
    offset: Map | None
    place: Place | None = None
    end: int | None = None

    @property
    def lag(self) -> int | None:
        """How many records a sink has still to read."""
        if self.end is None or self.offset is None:
            return None
        return max(0, self.end - int(self.offset["kafka_offset"]))


@dataclass(frozen=True, slots=True)
class Move:
    """The change of one partition's offset; None: no offset is stored."""

    partition: Map
    before: Map | None
    after: Map | None

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return not same(self.before, self.after)

    def back(self) -> Move:
        """The move that undoes it."""
        return Move(self.partition, self.after, self.before)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a change; `state` is the connector's afterwards, empty if it is deleted."""

    connector: str
    moves: Sequence[Move]
    via: Via
    state: str


def same(one: Map | None, other: Map | None) -> bool:
    """Whether both are equal, whatever the order of their fields."""
    return canonical(one) == canonical(other)


def sink_map(place: TopicPartition) -> dict[str, Any]:
    """A sink's partition as the REST API writes it."""
    return {"kafka_topic": place.topic, "kafka_partition": place.partition}


def sink_place(partition: Map) -> TopicPartition:
    """The partition of a topic that a sink's partition means."""
    return TopicPartition(str(partition["kafka_topic"]), int(partition["kafka_partition"]))
