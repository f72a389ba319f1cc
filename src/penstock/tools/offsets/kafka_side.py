"""Reads and writes a connector's offsets in Kafka itself."""

from __future__ import annotations

import socket
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from penstock.kafka.clients import Admin, Edge
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import PenstockError, SetupError
from penstock.tools.offsets.topic import History, OffsetTopic

_REACH_SECONDS: Final = 8.0
_CONNECT_SECONDS: Final = 3.0


class KafkaSide:
    """One Kafka cluster; connects at the first call."""

    def __init__(self, properties: Mapping[str, str], seconds: float) -> None:
        self.properties = {"client.id": "penstock-offsets", **properties}
        self.admin = Admin(self.properties)
        self.seconds = seconds
        self._servers = properties.get("bootstrap.servers", "localhost:9092")

    def check(self, cluster_id: str | None) -> None:
        """Check that it answers, and that the workers use it.

        Raises:
            SetupError: it does not, or they do not.
        """
        if not any(map(_listens, self._servers.split(","))):
            raise SetupError(
                f"no Kafka listens at {self._servers}; name it with --bootstrap-server"
            )
        try:
            found = self.admin.cluster_id(Deadline.after(min(self.seconds, _REACH_SECONDS)))
        except PenstockError as error:
            raise SetupError(f"Kafka at {self._servers} does not answer: {error}") from error
        if cluster_id is not None and found != cluster_id:
            raise SetupError(
                f"Kafka at {self._servers} is not the one of these workers (its id is {found},"
                f" theirs {cluster_id}); name theirs with --bootstrap-server"
            )

    def topic(self, name: str) -> OffsetTopic:
        """A topic with offsets of sources."""
        return OffsetTopic(self.admin, self.properties, name, self.seconds)

    def edges(self, places: Collection[TopicPartition]) -> Mapping[TopicPartition, tuple[int, int]]:
        """First offset, and the one after the last, of the partitions that exist."""
        deadline = Deadline.after(self.seconds)
        topics = self.admin.topics({place.topic for place in places}, deadline)
        there = [
            place
            for place in places
            if place.topic in topics and place.partition < topics[place.topic].partitions
        ]
        starts = self.admin.offsets(there, Edge.EARLIEST, deadline)
        ends = self.admin.offsets(there, Edge.LATEST, deadline)
        return {place: (starts[place], ends[place]) for place in there}

    def close(self) -> None:
        """Close the connections."""
        self.admin.close()


def _listens(address: str) -> bool:
    """Whether a server listens; unlike a Kafka client, this returns at once."""
    host, _, port = address.strip().rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
    except (OSError, ValueError):
        return False
    return True


class ConnectorKafka:
    """Kafka's answers to requests, for one connector."""

    def __init__(self, side: KafkaSide, topic: str, name: str) -> None:
        self._side = side
        self._topic = topic
        self._name = name

    def edges(self, places: Collection[TopicPartition]) -> Mapping[TopicPartition, tuple[int, int]]:
        """First offset, and the one after the last, of the partitions that exist."""
        return self._side.edges(places)

    def at(
        self, places: Collection[TopicPartition], moment: int
    ) -> Mapping[TopicPartition, int | None]:
        """The first offsets that are not older than a time."""
        deadline = Deadline.after(self._side.seconds)
        return self._side.admin.offsets_at(dict.fromkeys(places, moment), deadline)

    def earlier(self, moment: int) -> Sequence[History]:
        """The source's records, with the last before a time."""
        return self._side.topic(self._topic).histories([self._name], before=moment)[self._name]
