"""Chooses the route to a connector's offsets, and connects to Kafka if possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from penstock.kernel.errors import NotFoundError, SetupError
from penstock.tools.client import Client
from penstock.tools.offsets.kafka_side import ConnectorKafka, KafkaSide
from penstock.tools.offsets.models import Kind, Via
from penstock.tools.offsets.requests import Situation
from penstock.tools.offsets.routes import GroupRoute, RestRoute, Route, TopicRoute, UnsupportedError
from penstock.tools.offsets.subject import Subject, sink_group

_MANY: Final = 3


class Access:
    """The workers and their Kafka. `notes` says what is unknown, and why."""

    def __init__(
        self,
        client: Client,
        kafka: Mapping[str, str] | None,
        topic: str,
        via: Via,
        seconds: float,
    ) -> None:
        self.client = client
        self.via = via
        self.seconds = seconds
        self.notes: list[str] = []
        self._topic = topic
        self._side = None if kafka is None else KafkaSide(kafka, seconds)
        self._has_rest: bool | None = None
        self._asked = False
        self._obstacle: SetupError | None = None

    def close(self) -> None:
        """Close Kafka's connections."""
        if self._side is not None:
            self._side.close()

    # ----------------------------------------------------------------------------- connectors

    def subject(self, name: str) -> Subject:
        """The connector; for a deleted one, what Kafka still has."""
        try:
            return Subject.of(self.client.connector(name), self._topic)
        except NotFoundError as missing:
            if self.via is Via.REST or self._side is None:
                raise
            try:
                return self._left_of(name)
            except SetupError as obstacle:
                raise NotFoundError(
                    f"{missing}; Kafka may still have offsets of it, but: {obstacle}"
                ) from missing

    def subjects(self, names: Sequence[str]) -> list[Subject]:
        """Many connectors, with one request if possible."""
        if len(names) < _MANY:
            return [self.subject(name) for name in names]
        infos = self.client.infos()
        return [
            Subject.of(infos[name], self._topic) if name in infos else self.subject(name)
            for name in names
        ]

    def _left_of(self, name: str) -> Subject:
        side, group = self.kafka(), sink_group(name)
        left = Subject(name, Kind.SOURCE, self._topic, group, exists=False)
        try:
            if side.topic(self._topic).histories([name])[name]:
                return left
        except NotFoundError as error:
            self.note(str(error))
        if GroupRoute(side.admin, group, self.seconds).read():
            return Subject(name, Kind.SINK, self._topic, group, exists=False)
        raise NotFoundError(
            f"there is no connector {name}, and nothing of it in topic {self._topic} or group"
            f" {group}"
        )

    # ----------------------------------------------------------------------------------- ways

    def route(self, subject: Subject) -> Route:
        """The requested route; by default the REST API if the server has it."""
        if self.via is Via.TOPIC or not subject.exists:
            return self.kafka_route(subject)
        rest = RestRoute(self.client, subject.name, subject.kind)
        if self.can_go_round and not self._rest_works(rest):
            return self.kafka_route(subject)
        return rest

    def _rest_works(self, rest: RestRoute) -> bool:
        """Whether the server has these requests; asked once for all connectors."""
        if self._has_rest is None:
            try:
                rest.read()
                self._has_rest = True
            except UnsupportedError:
                self._has_rest = False
        return self._has_rest

    @property
    def can_go_round(self) -> bool:
        """Whether Kafka itself may be used if the REST API lacks something."""
        return self.via is Via.AUTO and self._side is not None

    def kafka_route(self, subject: Subject) -> Route:
        """The route through Kafka itself. Raises SetupError if Kafka can't be used."""
        side = self.kafka()
        if subject.kind is Kind.SINK:
            return GroupRoute(side.admin, subject.group, self.seconds)
        return TopicRoute(side.topic(subject.topic), subject.name)

    def situation(self, subject: Subject, route: Route) -> Situation:
        """The input of requests."""

        def kafka() -> ConnectorKafka | None:
            side = self.kafka_or_note()
            return None if side is None else ConnectorKafka(side, subject.topic, subject.name)

        return Situation(subject.name, subject.kind, route.read(), kafka, subject.starts_at_end)

    # ---------------------------------------------------------------------------------- Kafka

    @cached_property
    def cluster_id(self) -> str | None:
        """The id of the workers' Kafka, if they report it."""
        return self.client.server().kafka_cluster_id

    def kafka(self) -> KafkaSide:
        """Raises SetupError if it can't be used, or is not the Kafka of these workers."""
        if self._side is None:
            raise SetupError("this needs Kafka itself: name it with --bootstrap-server")
        if not self._asked:
            self._asked = True
            try:
                self._side.check(self.cluster_id)
            except SetupError as error:
                self._obstacle = error
        if self._obstacle is not None:
            raise self._obstacle
        return self._side

    def kafka_or_note(self) -> KafkaSide | None:
        """None, and a note, where kafka() would raise."""
        if self._side is None:
            return None
        try:
            return self.kafka()
        except SetupError as error:
            self.note(str(error))
            return None

    def note(self, text: str) -> None:
        """Add a note, once."""
        if text not in self.notes:
            self.notes.append(text)
