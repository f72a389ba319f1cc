"""Requests: functions from stored offsets to moves. Decisions only, no actions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any, Final, NoReturn, Protocol

from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import BadRequestError
from penstock.kernel.times import shown_moment
from penstock.tools.offsets.models import Kind, Map, Move, StoredOffset, same, sink_map, sink_place
from penstock.tools.offsets.texts import chosen, compact, listed, shown_partition, source_partition
from penstock.tools.offsets.topic import History


class Kafka(Protocol):
    """The part of Kafka that requests use. Each method raises SetupError if it can't answer."""

    def edges(self, places: Collection[TopicPartition]) -> Mapping[TopicPartition, tuple[int, int]]:
        """The first offset of each partition, and the one after its last."""
        ...

    def at(
        self, places: Collection[TopicPartition], moment: int
    ) -> Mapping[TopicPartition, int | None]:
        """The first offsets not older than a time (ms); None if all are older."""
        ...

    def earlier(self, moment: int) -> Sequence[History]:
        """The source's records, with the last before a time."""
        ...


@dataclass(frozen=True, slots=True)
class Situation:
    """A connector's current offsets. `kafka` returns None if it can't be reached."""

    name: str
    kind: Kind
    held: Sequence[StoredOffset]
    kafka: Callable[[], Kafka | None] = lambda: None
    starts_at_end: bool = False

    @property
    def partitions(self) -> list[Map]:
        """The partitions with a stored offset."""
        return [each.partition for each in self.held]

    def offset(self, partition: Map) -> Map | None:
        """The stored offset."""
        return next((each.offset for each in self.held if same(each.partition, partition)), None)

    def move(self, partition: Map, after: Map | None) -> Move:
        """The move from the stored offset to this one."""
        return Move(partition, self.offset(partition), after)

    def must(self, kind: Kind, form: str) -> None:
        """Raise BadRequestError if the connector is not of this kind."""
        if self.kind is not kind:
            raise BadRequestError(f"{self.name} is a {self.kind}: give its offsets as {form}")


_JDBC_FIELDS: Final = {"incrementing", "timestamp", "timestamp_nanos", "source_hash"}

ChangeRequest = Callable[[Situation], list[Move]]


def set_source(partition: str | None, offset: Map, *, new: bool = False) -> ChangeRequest:
    """Set one source partition to an offset; without a partition, the only one."""

    def request(situation: Situation) -> list[Move]:
        situation.must(Kind.SOURCE, "TOPIC:PARTITION=OFFSET, as in orders:0=1200")
        found = _named(situation, partition)
        if not new and not any(same(found, each) for each in situation.partitions):
            raise BadRequestError(
                f"{situation.name} has no offset for {shown_partition(Kind.SOURCE, found)}; it"
                f" has: {listed(Kind.SOURCE, situation.partitions)}. --new stores one anyway"
            )
        return [situation.move(found, offset)]

    return request


def _named(situation: Situation, partition: str | None) -> Map:
    if partition is not None:
        return source_partition(partition, situation.partitions)
    if len(situation.held) != 1:
        raise BadRequestError(
            f"name the partition with --partition; {situation.name} has:"
            f" {listed(Kind.SOURCE, situation.partitions)}"
        )
    return situation.held[0].partition


def set_sink(offsets: Mapping[TopicPartition, int]) -> ChangeRequest:
    """Set partitions of a sink's topics to existing offsets."""

    def request(situation: Situation) -> list[Move]:
        situation.must(Kind.SINK, "--partition … --offset …")
        kafka = situation.kafka()
        if kafka is not None:
            edges = kafka.edges(list(offsets))
            for place, offset in offsets.items():
                _check_inside(place, offset, edges.get(place))
        return [
            situation.move(sink_map(place), {"kafka_offset": offset})
            for place, offset in offsets.items()
        ]

    return request


def _check_inside(place: TopicPartition, offset: int, edges: tuple[int, int] | None) -> None:
    where = f"{place.topic}:{place.partition}"
    if edges is None:
        raise BadRequestError(f"there is no partition {where}")
    if not edges[0] <= offset <= edges[1]:
        raise BadRequestError(f"{where} has the offsets {edges[0]} to {edges[1]}, not {offset}")


def reset(partitions: Collection[str] = ()) -> ChangeRequest:
    """Delete the stored offsets: a source starts anew, a sink at auto.offset.reset."""

    def request(situation: Situation) -> list[Move]:
        if situation.kind is Kind.SINK and situation.starts_at_end:
            raise BadRequestError(
                f"without offsets {situation.name} would skip to the end of its topics: it has"
                " consumer.override.auto.offset.reset=latest. To read all again:"
                f" penstock offsets rewind {situation.name} --to-start"
            )
        found = chosen(situation.kind, situation.partitions, partitions)
        return [situation.move(each, None) for each in found]

    return request


def rewind(moment: int | None, partitions: Collection[str] = ()) -> ChangeRequest:
    """Back to a time in milliseconds, or to the start (None); never forward."""

    def request(situation: Situation) -> list[Move]:
        found = chosen(situation.kind, situation.partitions, partitions)
        if situation.kind is Kind.SINK:
            return _rewound_sink(situation, found, moment)
        if moment is None:
            return [situation.move(each, None) for each in found]
        return _rewound_source(situation, found, moment)

    return request


def put_back(moves: Sequence[Move]) -> ChangeRequest:
    """Restore the offsets before some moves."""
    return lambda situation: [situation.move(move.partition, move.before) for move in moves]


def _rewound_sink(
    situation: Situation, partitions: Sequence[Map], moment: int | None
) -> list[Move]:
    kafka = situation.kafka()
    if kafka is None:
        raise BadRequestError(
            "only Kafka has the times of a sink's records; name it with --bootstrap-server"
        )
    places = {sink_place(each): each for each in partitions}
    edges = kafka.edges(list(places))
    at = {} if moment is None else kafka.at(list(places), moment)
    moves = []
    for place, partition in places.items():
        if place not in edges:
            raise BadRequestError(f"there is no partition {place.topic}:{place.partition} any more")
        start, end = edges[place]
        wanted = start if moment is None else at.get(place)
        now = situation.offset(partition) or {"kafka_offset": end}
        offset = min(int(now["kafka_offset"]), end if wanted is None else wanted)
        moves.append(situation.move(partition, {"kafka_offset": offset}))
    return moves


def _rewound_source(situation: Situation, partitions: Sequence[Map], moment: int) -> list[Move]:
    moves = []
    histories: Sequence[History] | None = None
    for partition in partitions:
        offset = situation.offset(partition)
        if offset is None:
            moves.append(situation.move(partition, None))
        elif _has_time(offset):
            moves.append(situation.move(partition, _at_time(offset, moment)))
        else:
            if histories is None:
                histories = _histories(situation, moment)
            after = _from_history(situation.name, histories, partition, offset, moment)
            moves.append(situation.move(partition, after))
    return moves


def _has_time(offset: Map) -> bool:
    """Whether it is the offset of a JDBC source; in others, a time may mean anything."""
    stamp = offset.get("timestamp")
    of_jdbc = offset.keys() <= _JDBC_FIELDS
    return of_jdbc and isinstance(stamp, int) and not isinstance(stamp, bool)


def _at_time(offset: Map, moment: int) -> Map:
    """The time of a JDBC offset set to just before a moment, so that its rows are read again.

    Rows of the same time with smaller numbers would be skipped, so the time is a millisecond
    earlier.
    """
    before = moment - 1
    if before >= offset["timestamp"]:
        return offset
    found: dict[str, Any] = {**offset, "timestamp": before}
    if "timestamp_nanos" in offset:
        found["timestamp_nanos"] = before % 1000 * 1_000_000
    return found


def _histories(situation: Situation, moment: int) -> Sequence[History]:
    kafka = situation.kafka()
    if kafka is None:
        raise BadRequestError(
            f"the offsets of {situation.name} have no time; only the offsets topic has the one of"
            f" {shown_moment(moment)}: name Kafka with --bootstrap-server"
        )
    return kafka.earlier(moment)


def _from_history(
    name: str, histories: Sequence[History], partition: Map, now: Map, moment: int
) -> Map | None:
    """The offset of that time, or the current one if it is not further."""
    history = next((each for each in histories if same(each.latest.partition, partition)), None)
    if history is None or history.earlier is None:
        _refuse(name, history, partition, moment)
    then = history.earlier.offset
    if then is None:
        return None
    differ = {key for key in then.keys() | now.keys() if then.get(key) != now.get(key)}
    if differ == _larger(then, now):
        return now
    # A later offset may be a smaller one, if somebody set it back. Only numbers can be compared.
    if differ != _larger(now, then):
        _refuse_unclear(name, partition, then, differ)
    return then


def _larger(one: Map, other: Map) -> set[str]:
    """The numbers in both that are larger in the first."""
    return {
        key
        for key in one.keys() & other.keys()
        if _is_number(one[key]) and _is_number(other[key]) and one[key] > other[key]
    }


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _refuse_unclear(name: str, partition: Map, then: Map, differ: Collection[str]) -> NoReturn:
    where, offset = compact(partition), compact(then)
    raise BadRequestError(
        f"the offset of {where} was {offset} then; it is unclear whether that lies before the"
        f" current one: they differ in {', '.join(sorted(differ))}. If it does: penstock offsets"
        f" set {name} --partition {quote(where)} --offset {quote(offset)}"
    )


def _refuse(name: str, history: History | None, partition: Map, moment: int) -> NoReturn:
    known = (
        ""
        if history is None
        else f" The oldest is from {shown_moment(history.begins)}: the connector started then, or"
        " compaction removed older ones."
    )
    raise BadRequestError(
        f"the offsets topic holds no offset of {shown_partition(Kind.SOURCE, partition)} from"
        f" before {shown_moment(moment)}.{known} `penstock offsets show {name} --history 20` shows"
        " what there is; set one of these, or rewind --to-start"
    )
