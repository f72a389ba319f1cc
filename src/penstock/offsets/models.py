"""What is stored for connectors, and what is to become of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from penstock.data.record import TopicPartition
from penstock.errors import PenstockError
from penstock.storage.java_json import canonical

Map = Mapping[str, Any]


class Kind(StrEnum):
    """A source has its offsets in Connect's offsets topic, a sink in its consumer group."""

    SOURCE = "source"
    SINK = "sink"


class Via(StrEnum):
    """The way to the offsets: Connect's REST API, or Kafka itself."""

    AUTO = "auto"
    REST = "rest"
    TOPIC = "topic"


class ChangeError(PenstockError):
    """A change of offsets went wrong; the text says what was done and what holds now."""


@dataclass(frozen=True, slots=True)
class Place:
    """A record of the offsets topic; `written` is its time in milliseconds."""

    partition: int
    offset: int
    written: int


@dataclass(frozen=True, slots=True)
class Held:
    """What a connector has stored for one of its partitions.

    Attributes:
        partition: of the source, or a sink's {"kafka_topic": …, "kafka_partition": …}.
        offset: None if the partition was reset, or its offset is empty (JDBC's mode bulk).
        place: the record it stands in; for sources, if the topic could be read.
        end: where the partition of a sink's topic ends, if Kafka could be asked.
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
    """The change of one partition's offset; None stands for none stored."""

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
    """What a change has done; `state` is that of the connector afterwards, empty if it is gone."""

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
