"""What is stored for connectors: what the workers say, with what Kafka knows of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from penstock.kernel.errors import BadRequestError, NotFoundError
from penstock.tools.offsets.access import Access
from penstock.tools.offsets.kafka_side import KafkaSide
from penstock.tools.offsets.models import Kind, StoredOffset, Via, same, sink_place
from penstock.tools.offsets.routes import RestRoute, UnsupportedError
from penstock.tools.offsets.subject import Subject
from penstock.tools.offsets.topic import History

#: More than a connector stores between two requests of ours.
_RECENT: Final = 50


@dataclass(frozen=True, slots=True)
class Shown:
    """The stored offset of one partition, with its connector."""

    connector: str
    kind: Kind
    held: StoredOffset


class Showing:
    """Reads the offsets of many connectors; reads each offsets topic only once."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def run(self, names: Sequence[str], history: int) -> list[Shown]:
        """Raises NotFoundError for a name without a connector and without offsets."""
        subjects = self._access.subjects(names)
        if history:
            found = self._histories(subjects, history)
        else:
            found = {**self._sources(subjects), **self._sinks(subjects)}
        return [Shown(each.name, each.kind, held) for each in subjects for held in found[each.name]]

    # -------------------------------------------------------------------------------- sources

    def _histories(self, subjects: Sequence[Subject], count: int) -> dict[str, list[StoredOffset]]:
        """The histories of the sources; sinks are skipped, with a note."""
        sources = [each for each in subjects if each.kind is Kind.SOURCE]
        sinks = [each.name for each in subjects if each.kind is Kind.SINK]
        if sinks:
            message = f"Kafka keeps no history of the offsets of sinks: {', '.join(sinks)}"
            if not sources:
                raise BadRequestError(message)
            self._access.note(message)
        histories = _histories(self._access.kafka(), sources, count)
        return {name: [] for name in sinks} | {
            name: [
                StoredOffset(each.partition, each.offset, each.place)
                for history in of_connector
                for each in history.history
            ]
            for name, of_connector in histories.items()
        }

    def _sources(self, subjects: Sequence[Subject]) -> dict[str, list[StoredOffset]]:
        sources = [each for each in subjects if each.kind is Kind.SOURCE]
        by_worker = {each.name: self._read_by_rest(each) for each in sources}
        histories = self._known_histories(sources, needed=None in by_worker.values())
        found: dict[str, list[StoredOffset]] = {}
        for subject in sources:
            by_rest, in_topic = by_worker[subject.name], histories.get(subject.name)
            if by_rest is None:
                found[subject.name] = [_of_topic(history) for history in in_topic or ()]
            elif in_topic is None:
                found[subject.name] = by_rest
            else:
                found[subject.name] = self._merged(subject, by_rest, in_topic)
        return found

    def _read_by_rest(self, subject: Subject) -> list[StoredOffset] | None:
        if not subject.exists or self._access.via is Via.TOPIC:
            return None
        try:
            return RestRoute(self._access.client, subject.name, subject.kind).read()
        except UnsupportedError:
            if not self._access.can_go_round:
                raise
            return None

    def _known_histories(
        self, sources: Sequence[Subject], *, needed: bool
    ) -> Mapping[str, Sequence[History]]:
        """The histories of all sources; empty if Kafka can't be read and they are not needed."""
        if self._access.via is Via.REST or not sources:
            return {}
        side = self._access.kafka() if needed else self._access.kafka_or_note()
        if side is None:
            return {}
        try:
            return _histories(side, sources, _RECENT)
        except NotFoundError as error:
            if needed:
                raise
            self._access.note(str(error))
            return {}

    def _merged(
        self, subject: Subject, by_worker: Sequence[StoredOffset], histories: Sequence[History]
    ) -> list[StoredOffset]:
        found, fits = merged(by_worker, histories)
        if not fits:
            self._access.note(
                f"topic {subject.topic} has other offsets of {subject.name} than its worker; check"
                " that it is the worker's offset.storage.topic"
            )
        return found

    # ---------------------------------------------------------------------------------- sinks

    def _sinks(self, subjects: Sequence[Subject]) -> dict[str, list[StoredOffset]]:
        sinks = [each for each in subjects if each.kind is Kind.SINK]
        held = {each.name: self._access.route(each).read() for each in sinks}
        side = None if self._access.via is Via.REST or not sinks else self._access.kafka_or_note()
        if side is None:
            return held
        places = {sink_place(each.partition) for found in held.values() for each in found}
        edges = side.edges(places)

        def with_end(each: StoredOffset) -> StoredOffset:
            place = sink_place(each.partition)
            return replace(each, end=edges[place][1]) if place in edges else each

        return {name: [with_end(each) for each in found] for name, found in held.items()}


def _histories(side: KafkaSide, sources: Sequence[Subject], keep: int) -> dict[str, list[History]]:
    by_topic: dict[str, list[str]] = {}
    for subject in sources:
        by_topic.setdefault(subject.topic, []).append(subject.name)
    return {
        name: histories
        for topic, names in by_topic.items()
        for name, histories in side.topic(topic).histories(names, keep=keep).items()
    }


def merged(
    by_worker: Sequence[StoredOffset], histories: Sequence[History]
) -> tuple[list[StoredOffset], bool]:
    """The worker's offsets with their places in the topic, and whether the two agree.

    A running connector may have stored more since the worker answered; then the topic is right.
    """
    found: list[StoredOffset] = []
    fits = True
    left = list(by_worker)
    for history in histories:
        mine = next((each for each in left if same(each.partition, history.latest.partition)), None)
        left = [each for each in left if each is not mine]
        if _fits(mine, history):
            found.append(_of_topic(history))
        else:
            fits = False
            found += [] if mine is None else [mine]
    return [*found, *left], fits and not left


def _fits(mine: StoredOffset | None, history: History) -> bool:
    if mine is None:  # The API leaves out what was reset.
        return history.latest.offset is None
    return any(same(mine.offset, each.offset) for each in history.history)


def _of_topic(history: History) -> StoredOffset:
    latest = history.latest
    return StoredOffset(latest.partition, latest.offset, latest.place)
