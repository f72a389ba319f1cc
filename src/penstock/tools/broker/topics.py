"""Lists, describes, creates, changes and deletes topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock.kafka.clients import Admin, TopicSetting, TopicSpec, TopicState
from penstock.kafka.clients.admin_topics import NO_SUCH_TOPIC
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    StorageError,
)
from penstock.tools.broker.edges import Edges, edges_of
from penstock.tools.broker.names import check_topic_name, chosen, is_internal, is_pattern


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition. Without a leader its edges are unknown."""

    number: int
    leader: int | None
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    start: int | None
    end: int | None

    @property
    def records(self) -> int | None:
        """Its size in offsets; records that compaction removed count too."""
        return None if self.start is None or self.end is None else self.end - self.start


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic with its partitions."""

    name: str
    internal: bool
    partitions: tuple[Partition, ...]

    @property
    def replication(self) -> int:
        """The least number of replicas among its partitions."""
        return min((len(each.replicas) for each in self.partitions), default=0)

    @property
    def records(self) -> int:
        """The sum of the sizes of all partitions that can be read."""
        return sum(each.records or 0 for each in self.partitions)

    @property
    def under_replicated(self) -> int:
        """How many partitions lack a replica."""
        return sum(len(each.in_sync) < len(each.replicas) for each in self.partitions)


class Topics:
    """The topics of a cluster. Every call ends within the seconds given."""

    def __init__(self, admin: Admin, seconds: float) -> None:
        self._admin = admin
        self._seconds = seconds

    def names(self, *patterns: str, internal: bool = False) -> list[str]:
        """The names that match; without a pattern all. Internal ones only if asked for or named.

        Raises:
            NotFoundError: a name or pattern matches no topic.
        """
        return self._wanted(self._all(None), patterns, internal=internal)

    def find(self, *patterns: str, internal: bool = False) -> list[Topic]:
        """The topics that match, with their partitions; see names()."""
        states = self._all(None)
        wanted = self._wanted(states, patterns, internal=internal)
        return self._viewed([states[name] for name in wanted])

    def describe(self, name: str) -> Topic:
        """One topic. Raises NotFoundError if there is none."""
        states = self._all([name])
        chosen(states, [name], "topic")
        return self._viewed([states[name]])[0]

    def settings(self, name: str) -> list[TopicSetting]:
        """All settings of a topic, defaults too; `source` says where each was set."""
        chosen(self._all([name]), [name], "topic")
        return self._admin.settings_of([name], self._deadline()).get(name, [])

    def create(
        self,
        name: str,
        *,
        partitions: int | None = None,
        replication: int | None = None,
        settings: Mapping[str, str] | None = None,
        if_not_exists: bool = False,
    ) -> bool:
        """Create a topic; for None the broker decides. False if it existed already.

        Raises:
            ConflictError: it existed already, and that was not allowed.
            BadRequestError: the name is not valid.
        """
        check_topic_name(name)
        spec = TopicSpec(name, partitions or -1, replication or -1, settings or {})
        created = self._admin.create_topic(spec, self._deadline())
        if not created and not if_not_exists:
            raise ConflictError(f"topic {name} exists already")
        return created

    def delete(self, *patterns: str, force: bool = False) -> list[str]:
        """Delete the topics that match. Returns their names.

        Raises:
            ForbiddenError: one of those named is internal and `force` is not set; none is deleted.
            StorageError: the broker refused some; the text has its reasons.
        """
        names = self.deletable(*patterns, force=force)
        if refused := self._admin.refusable_delete(names, self._deadline()):
            if set(refused.values()) == {NO_SUCH_TOPIC}:
                # Listed a moment ago, but deleted: a broker's list is a little late.
                raise NotFoundError(f"there is no topic {', '.join(sorted(refused))}")
            reasons = "; ".join(f"{name}: {reason}" for name, reason in sorted(refused.items()))
            raise StorageError(f"{len(refused)} of {len(names)} topics were not deleted: {reasons}")
        return names

    def deletable(self, *patterns: str, force: bool = False) -> list[str]:
        """The topics that delete() would delete; raises the same errors."""
        if not patterns:
            raise BadRequestError("no topics given: name those to delete")
        states = self._all(None)
        names = self._wanted(states, patterns, internal=False)
        internal = [name for name in names if _internal(states[name])]
        if internal and not force:
            raise ForbiddenError(
                f"{', '.join(internal)}: Kafka or a service of it needs this topic; --force (or"
                " force=True) deletes it anyway"
            )
        return names

    def alter(
        self,
        name: str,
        *,
        partitions: int | None = None,
        settings: Mapping[str, str] | None = None,
        remove: Sequence[str] = (),
    ) -> None:
        """Give a topic more partitions or other settings, or reset settings to their defaults.

        Raises:
            NotFoundError: there is no such topic.
            BadRequestError: a number, a name or a value is wrong.
        """
        topic = self.describe(name)
        self._check_alteration(topic, partitions, settings or {}, remove)
        if settings or remove:
            self._admin.alter_settings(name, settings or {}, remove, self._deadline())
        if partitions is not None and partitions != len(topic.partitions):
            self._admin.add_partitions(name, partitions, self._deadline())

    def _check_alteration(
        self,
        topic: Topic,
        partitions: int | None,
        settings: Mapping[str, str],
        remove: Sequence[str],
    ) -> None:
        """Raise for errors that can be detected before anything is changed."""
        if partitions is not None and partitions < len(topic.partitions):
            raise BadRequestError(
                f"topic {topic.name} has {len(topic.partitions)} partitions, and Kafka can't remove"
                f" any; {partitions} are too few"
            )
        if both := sorted(settings.keys() & set(remove)):
            raise BadRequestError(f"{', '.join(both)} can't be both set and removed")
        known = {setting.name for setting in self.settings(topic.name)}
        if unknown := sorted((settings.keys() | set(remove)) - known):
            raise BadRequestError(
                f"topics have no setting {', '.join(unknown)}; there are:"
                f" {', '.join(sorted(known))}"
            )

    def _wanted(
        self, states: Mapping[str, TopicState], patterns: Sequence[str], *, internal: bool
    ) -> list[str]:
        """The names that match; patterns match no internal topics, unless asked for."""
        shown = [name for name, state in states.items() if internal or not _internal(state)]
        if not patterns:
            return sorted(shown)
        named = [pattern for pattern in patterns if not is_pattern(pattern)]
        found = chosen(states, named, "topic")
        like = chosen(shown, [each for each in patterns if is_pattern(each)], "topic")
        return sorted({*found, *like})

    def _all(self, names: Sequence[str] | None) -> dict[str, TopicState]:
        return self._admin.topic_states(names, self._deadline())

    def _viewed(self, states: Sequence[TopicState]) -> list[Topic]:
        edges = edges_of(self._admin, states, self._deadline())
        return [_topic(state, edges) for state in states]

    def _deadline(self) -> Deadline:
        return Deadline.after(self._seconds)


def _internal(state: TopicState) -> bool:
    return state.is_internal or is_internal(state.name)


def _topic(state: TopicState, edges: Mapping[TopicPartition, Edges]) -> Topic:
    partitions = []
    for each in state.partitions:
        found = edges.get(TopicPartition(state.name, each.number))
        start, end = (None, None) if found is None else found
        partitions.append(
            Partition(each.number, each.leader, each.replicas, each.in_sync, start, end)
        )
    return Topic(state.name, _internal(state), tuple(partitions))
