"""The routes to a connector's offsets: the REST API, the offsets topic, the consumer group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Final, Protocol

from penstock.kafka.clients import Admin
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import GroupActiveError, NotFoundError
from penstock.kernel.wire.models import OffsetEntry
from penstock.tools.client import Client, ServerError
from penstock.tools.offsets.models import Kind, Move, StoredOffset, Via, same, sink_map, sink_place
from penstock.tools.offsets.settling import repeated
from penstock.tools.offsets.topic import OffsetTopic
from penstock.worker.storage.java_json import canonical

_OLD: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)
_PATIENCE_SECONDS: Final = 10.0


class UnsupportedError(NotFoundError):
    """The server is too old for this request."""


class Route(Protocol):
    """Reads the offsets of one connector, and changes them while it does not run."""

    via: Via

    def read(self) -> list[StoredOffset]:
        """The stored offsets."""
        ...

    def write(self, moves: Sequence[Move]) -> None:
        """Store the new offsets; they are durable when this returns."""
        ...


class RestRoute:
    """GET, PATCH and DELETE of /connectors/{c}/offsets."""

    via = Via.REST

    def __init__(self, client: Client, name: str, kind: Kind) -> None:
        self._client = client
        self._name = name
        self._kind = kind

    def read(self) -> list[StoredOffset]:
        """Raises UnsupportedError if the server can't (Connect before 3.5)."""
        try:
            found = self._client.offsets(self._name).offsets
        except (NotFoundError, ServerError) as error:
            raise _unsupported(error, "show") from error
        return [StoredOffset(entry.partition or {}, entry.offset) for entry in found]

    def write(self, moves: Sequence[Move]) -> None:
        """Raises UnsupportedError if the server can't (Connect before 3.6)."""
        forgotten = {canonical(move.partition) for move in moves if move.after is None}
        known = {canonical(held.partition) for held in self.read()}
        forgets_all = len(forgotten) == len(moves) and known <= forgotten
        entries = [OffsetEntry(move.partition, move.after) for move in moves]
        try:
            repeated(
                lambda: (
                    self._client.reset_offsets(self._name)
                    if forgets_all
                    else self._client.alter_offsets(self._name, entries)
                ),
                self._passes,
                _PATIENCE_SECONDS,
            )
        except (NotFoundError, ServerError) as error:
            raise _unsupported(error, "change") from error

    def _passes(self, error: Exception) -> bool:
        """Whether to retry: a sink's tasks stay in its group for a moment after their end."""
        return (
            self._kind is Kind.SINK
            and isinstance(error, ServerError)
            and error.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        )


def _unsupported(error: Exception, verb: str) -> Exception:
    status = error.status if isinstance(error, ServerError) else HTTPStatus.NOT_FOUND
    if status not in _OLD:
        return error
    return UnsupportedError(
        f"this server can't {verb} offsets (Connect can since 3.{5 if verb == 'show' else 6});"
        " --via topic does it through Kafka"
    )


class TopicRoute:
    """A source's records in the offsets topic."""

    via = Via.TOPIC

    def __init__(self, topic: OffsetTopic, name: str) -> None:
        self._topic = topic
        self._name = name

    def read(self) -> list[StoredOffset]:
        """The last record of each partition; a tombstone has no offset."""
        found = [history.latest for history in self._topic.histories([self._name])[self._name]]
        return [StoredOffset(each.partition, each.offset, each.place) for each in found]

    def write(self, moves: Sequence[Move]) -> None:
        """Write records with the keys, and to the partitions, of the old ones."""
        self._topic.write(self._name, moves, self._topic.histories([self._name])[self._name])


class GroupRoute:
    """A sink's consumer group."""

    via = Via.TOPIC

    def __init__(self, admin: Admin, group: str, seconds: float) -> None:
        self._admin = admin
        self._group = group
        self._seconds = seconds

    def read(self) -> list[StoredOffset]:
        """The committed offsets."""
        found = self._admin.group_offsets(self._group, Deadline.after(self._seconds))
        return [
            StoredOffset(sink_map(place), {"kafka_offset": found[place]})
            for place in sorted(found, key=lambda each: (each.topic, each.partition))
        ]

    def write(self, moves: Sequence[Move]) -> None:
        """Raises GroupActiveError if the group still has members after a while."""
        changed: Mapping[TopicPartition, int] = {
            sink_place(move.partition): int(move.after["kafka_offset"])
            for move in moves
            if move.after is not None
        }
        removed = [sink_place(move.partition) for move in moves if move.after is None]
        if changed:
            self._once_empty(
                lambda deadline: self._admin.alter_group_offsets(self._group, changed, deadline)
            )
        if removed:
            self._once_empty(
                lambda deadline: self._admin.delete_group_offsets(self._group, removed, deadline)
            )

    def _once_empty(self, change: Callable[[Deadline], None]) -> None:
        """Retry until the group is empty: crashed tasks stay members until their session ends."""
        repeated(
            lambda: change(Deadline.after(self._seconds)),
            lambda error: isinstance(error, GroupActiveError),
            self._seconds,
        )


def unfinished(moves: Sequence[Move], held: Sequence[StoredOffset]) -> list[Move]:
    """The moves whose new offsets are not stored."""

    def stored(move: Move) -> bool:
        found = next((each for each in held if same(each.partition, move.partition)), None)
        return same(None if found is None else found.offset, move.after)

    return [move for move in moves if not stored(move)]
