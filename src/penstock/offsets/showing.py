"""What is stored for connectors: what the workers say, with what Kafka knows of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from penstock.errors import BadRequestError, NotFoundError
from penstock.offsets.access import Access
from penstock.offsets.kafka_side import KafkaSide
from penstock.offsets.models import Held, Kind, Via, same, sink_place
from penstock.offsets.subject import Subject
from penstock.offsets.topic import Trail
from penstock.offsets.ways import RestWay, UnsupportedError

#: Enough for what a connector stores between two questions of ours.
_RECENT: Final = 50


@dataclass(frozen=True, slots=True)
class Shown:
    """What one connector has stored for one partition."""

    connector: str
    kind: Kind
    held: Held


class Showing:
    """Looks at many connectors at once: each topic of offsets is read one time."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def run(self, names: Sequence[str], history: int) -> list[Shown]:
        """Raises NotFoundError if there is neither a connector of a name nor anything of it."""
        subjects = self._access.subjects(names)
        if history:
            found = self._histories(subjects, history)
        else:
            found = {**self._sources(subjects), **self._sinks(subjects)}
        return [Shown(each.name, each.kind, held) for each in subjects for held in found[each.name]]

    # -------------------------------------------------------------------------------- sources

    def _histories(self, subjects: Sequence[Subject], count: int) -> dict[str, list[Held]]:
        """Of the sources; sinks beside them are passed over, with a note."""
        sources = [each for each in subjects if each.kind is Kind.SOURCE]
        sinks = [each.name for each in subjects if each.kind is Kind.SINK]
        if sinks:
            told = f"Kafka keeps no history of the offsets of sinks: {', '.join(sinks)}"
            if not sources:
                raise BadRequestError(told)
            self._access.note(told)
        trails = _trails(self._access.kafka(), sources, count)
        return {name: [] for name in sinks} | {
            name: [
                Held(each.partition, each.offset, each.place)
                for trail in of_connector
                for each in trail.history
            ]
            for name, of_connector in trails.items()
        }

    def _sources(self, subjects: Sequence[Subject]) -> dict[str, list[Held]]:
        sources = [each for each in subjects if each.kind is Kind.SOURCE]
        told = {each.name: self._told_by_rest(each) for each in sources}
        trails = self._known_trails(sources, needed=None in told.values())
        found: dict[str, list[Held]] = {}
        for subject in sources:
            by_rest, in_topic = told[subject.name], trails.get(subject.name)
            if by_rest is None:
                found[subject.name] = [_of_topic(trail) for trail in in_topic or ()]
            elif in_topic is None:
                found[subject.name] = by_rest
            else:
                found[subject.name] = self._merged(subject, by_rest, in_topic)
        return found

    def _told_by_rest(self, subject: Subject) -> list[Held] | None:
        if not subject.exists or self._access.via is Via.TOPIC:
            return None
        try:
            return RestWay(self._access.client, subject.name, subject.kind).read()
        except UnsupportedError:
            if not self._access.can_go_round:
                raise
            return None

    def _known_trails(
        self, sources: Sequence[Subject], *, needed: bool
    ) -> Mapping[str, Sequence[Trail]]:
        """Those of all sources; of none where that is not possible, and not needed."""
        if self._access.via is Via.REST or not sources:
            return {}
        side = self._access.kafka() if needed else self._access.kafka_or_note()
        if side is None:
            return {}
        try:
            return _trails(side, sources, _RECENT)
        except NotFoundError as error:
            if needed:
                raise
            self._access.note(str(error))
            return {}

    def _merged(
        self, subject: Subject, told: Sequence[Held], trails: Sequence[Trail]
    ) -> list[Held]:
        found, fits = merged(told, trails)
        if not fits:
            self._access.note(
                f"topic {subject.topic} holds other offsets of {subject.name} than its worker: is"
                " it the worker's offset.storage.topic?"
            )
        return found

    # ---------------------------------------------------------------------------------- sinks

    def _sinks(self, subjects: Sequence[Subject]) -> dict[str, list[Held]]:
        sinks = [each for each in subjects if each.kind is Kind.SINK]
        held = {each.name: self._access.way(each).read() for each in sinks}
        side = None if self._access.via is Via.REST or not sinks else self._access.kafka_or_note()
        if side is None:
            return held
        places = {sink_place(each.partition) for found in held.values() for each in found}
        edges = side.edges(places)

        def with_end(each: Held) -> Held:
            place = sink_place(each.partition)
            return replace(each, end=edges[place][1]) if place in edges else each

        return {name: [with_end(each) for each in found] for name, found in held.items()}


def _trails(side: KafkaSide, sources: Sequence[Subject], keep: int) -> dict[str, list[Trail]]:
    by_topic: dict[str, list[str]] = {}
    for subject in sources:
        by_topic.setdefault(subject.topic, []).append(subject.name)
    return {
        name: trails
        for topic, names in by_topic.items()
        for name, trails in side.topic(topic).trails(names, keep=keep).items()
    }


def merged(told: Sequence[Held], trails: Sequence[Trail]) -> tuple[list[Held], bool]:
    """What the worker says, with the places in the topic; and whether the two fit.

    A connector that runs may have stored more since the worker was asked; then the topic is right.
    """
    found: list[Held] = []
    fits = True
    left = list(told)
    for trail in trails:
        mine = next((each for each in left if same(each.partition, trail.latest.partition)), None)
        left = [each for each in left if each is not mine]
        if _fits(mine, trail):
            found.append(_of_topic(trail))
        else:
            fits = False
            found += [] if mine is None else [mine]
    return [*found, *left], fits and not left


def _fits(mine: Held | None, trail: Trail) -> bool:
    if mine is None:  # The API leaves out what was reset.
        return trail.latest.offset is None
    return any(same(mine.offset, each.offset) for each in trail.history)


def _of_topic(trail: Trail) -> Held:
    latest = trail.latest
    return Held(latest.partition, latest.offset, latest.place)
