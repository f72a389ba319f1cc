"""Administration of a cluster, each call with a deadline."""

from __future__ import annotations

import base64
import threading
import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

import kafka
import kafka.errors
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.protocol.consumer import OffsetSpec
from kafka.structs import OffsetAndMetadata

from penstock.kafka.clients.admin_calls import ours, theirs
from penstock.kafka.clients.admin_groups import GroupDetails
from penstock.kafka.clients.admin_topics import TopicDetails
from penstock.kafka.clients.connect import no_answer
from penstock.kafka.clients.failures import python_failure
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import DeadlineExceededError, StorageError

_NO_SUCH_TOPIC: Final = 3
_EXISTS: Final = 36
_POLL_SECONDS: Final = 0.05


class Edge(Enum):
    """Which end of a partition."""

    EARLIEST = OffsetSpec.EARLIEST
    LATEST = OffsetSpec.LATEST


_NO_ID: Final = uuid.UUID(int=0)


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic to create; -1 means the broker's default."""

    name: str
    partitions: int = -1
    replication_factor: int = -1
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicView:
    """An existing topic."""

    name: str
    partitions: int
    replication_factor: int
    ready: bool
    #: In Kafka's own form. A topic that is deleted and created again has another one; None if the
    #: broker is too old to have ids.
    id: str | None = None


class Admin(TopicDetails, GroupDetails):
    """One administration client. Connects at the first call; for use from any thread."""

    # ------------------------------------------------------------------------------ cluster

    def cluster_id(self, deadline: Deadline) -> str:
        return str(self._cluster(deadline)["cluster_id"])

    def broker_count(self, deadline: Deadline) -> int:
        return len(self._cluster(deadline)["brokers"])

    def _cluster(self, deadline: Deadline) -> dict[str, Any]:
        try:
            found: dict[str, Any] = self.do(
                deadline, "asking for the cluster", lambda client: client.describe_cluster()
            )
        except DeadlineExceededError as error:
            raise DeadlineExceededError(no_answer(self._where)) from error
        return found

    # ------------------------------------------------------------------------------- topics

    def topics(self, names: Collection[str], deadline: Deadline) -> dict[str, TopicView]:
        """Those of the named topics that exist."""
        if not names:
            return {}
        step = f"looking at the topics {', '.join(sorted(names))}"
        found = self.do(deadline, step, lambda client: client.describe_topics(list(names)))
        views = {}
        for topic in found:
            code = topic["error_code"]
            if code not in (0, _NO_SUCH_TOPIC, kafka.errors.LeaderNotAvailableError.errno):
                error = kafka.errors.for_code(code)(f"topic {topic['name']}")
                raise python_failure(error, self.at(step)) from error
            if code != _NO_SUCH_TOPIC:
                views[topic["name"]] = _view(topic)
        return views

    def topic_names(self, deadline: Deadline) -> set[str]:
        return set(self.do(deadline, "listing the topics", lambda client: client.list_topics()))

    def topic_settings(self, name: str, deadline: Deadline) -> dict[str, str]:
        """Every setting of a topic, defaults included."""
        resource = ConfigResource(ConfigResourceType.TOPIC, name)
        found = self.do(
            deadline,
            f"reading the settings of topic {name}",
            lambda client: client.describe_configs([resource], config_filter="all"),
        )
        settings = found.get("topic", {}).get(name, {})
        return {key: entry["value"] for key, entry in settings.items()}

    def create_topic(
        self, spec: TopicSpec, deadline: Deadline, *, only_check: bool = False
    ) -> bool:
        """Create it and wait until it can be used; False if it existed already.

        With `only_check` the brokers only check whether they could create it.
        """
        step = f"creating topic {spec.name}"
        wanted = {
            spec.name: {
                "num_partitions": spec.partitions,
                "replication_factor": spec.replication_factor,
                "configs": dict(spec.settings),
            }
        }
        answer = self.do(
            deadline,
            step,
            lambda client: client.create_topics(
                wanted, validate_only=only_check, raise_errors=False
            ),
        )
        code, message = (answer["topics"][0].get(key) for key in ("error_code", "error_message"))
        if code not in (0, _EXISTS):
            error = kafka.errors.for_code(code)(message or "")
            raise python_failure(error, self.at(step)) from error
        if not only_check:
            self._wait_until_ready(spec.name, deadline)
        return bool(code == 0)

    def _wait_until_ready(self, name: str, deadline: Deadline) -> None:
        pause = threading.Event()
        while True:
            view = self.topics([name], deadline).get(name)
            if view is not None and view.ready:
                return
            deadline.check(f"waiting for the leaders of topic {name}")
            deadline.clock.wait(pause, min(_POLL_SECONDS, deadline.remaining()))

    def delete_topics(self, names: Collection[str], deadline: Deadline) -> None:
        step = f"deleting the topics {', '.join(sorted(names))}"
        self.do(deadline, step, lambda client: client.delete_topics(list(names)))

    def offsets(
        self, partitions: Collection[TopicPartition], edge: Edge, deadline: Deadline
    ) -> dict[TopicPartition, int]:
        """The first offset, or the one after the last, of each partition."""
        if not partitions:
            return {}
        wanted = {theirs(partition): edge.value for partition in partitions}
        found = self.do(
            deadline,
            f"reading offsets of {len(wanted)} partitions",
            lambda client: client.list_partition_offsets(wanted),
        )
        return {ours(partition): entry.offset for partition, entry in found.items()}

    # ------------------------------------------------------------------------------- groups

    def group_offsets(self, group: str, deadline: Deadline) -> dict[TopicPartition, int]:
        """The committed offsets of a group; none if there is no such group."""
        step = f"reading the offsets of group {group}"
        found = self.do(deadline, step, lambda client: client.list_group_offsets({group: None}))
        return {
            ours(partition): entry.offset
            for partition, entry in found.get(group, {}).items()
            if entry.offset >= 0
        }

    def group_notes(self, group: str, deadline: Deadline) -> dict[TopicPartition, str]:
        """The text stored beside each committed offset of a group."""
        step = f"reading the offsets of group {group}"
        found = self.do(deadline, step, lambda client: client.list_group_offsets({group: None}))
        return {
            ours(partition): str(entry.metadata or "")
            for partition, entry in found.get(group, {}).items()
            if entry.offset >= 0
        }

    def alter_group_offsets(
        self,
        group: str,
        offsets: Mapping[TopicPartition, int],
        deadline: Deadline,
        notes: Mapping[TopicPartition, str] | None = None,
    ) -> None:
        """Set committed offsets, with a text beside each if `notes` has one.

        Raises:
            GroupActiveError: the group has members.
        """
        texts = notes or {}
        wanted = {
            theirs(tp): OffsetAndMetadata(at, texts.get(tp, ""), None) for tp, at in offsets.items()
        }
        step = f"setting offsets of group {group}"
        answer = self.do(deadline, step, lambda client: client.alter_group_offsets(group, wanted))
        self.check(answer.values(), step)

    def delete_group_offsets(
        self, group: str, partitions: Iterable[TopicPartition], deadline: Deadline
    ) -> None:
        """Delete committed offsets. Raises GroupActiveError if the group has members."""
        wanted = [theirs(partition) for partition in partitions]
        step = f"deleting offsets of group {group}"
        try:
            answer = self.do(
                deadline, step, lambda client: client.delete_group_offsets(group, wanted)
            )
        except StorageError as error:
            if isinstance(error.__cause__, kafka.errors.GroupIdNotFoundError):
                return
            raise
        self.check(answer.values(), step)

    def delete_group(self, group: str, deadline: Deadline) -> None:
        """Delete the group, if it exists. Raises GroupActiveError if it has members."""
        step = f"deleting group {group}"
        answer = self.do(deadline, step, lambda client: client.delete_groups([group]))
        outcome = answer.get(group, "OK")
        if outcome not in ("OK", kafka.errors.GroupIdNotFoundError.__name__):
            self.check([getattr(kafka.errors, outcome, kafka.errors.UnknownError)], step)


def _view(topic: Mapping[str, Any]) -> TopicView:
    partitions = topic["partitions"]
    replicas = [len(partition["replica_nodes"]) for partition in partitions]
    led = all(partition["leader_id"] >= 0 for partition in partitions)
    return TopicView(
        topic["name"],
        len(partitions),
        min(replicas, default=0),
        bool(partitions) and led,
        _topic_id(topic.get("topic_id")),
    )


def _topic_id(found: uuid.UUID | str | None) -> str | None:
    number = uuid.UUID(str(found or _NO_ID))
    return base64.urlsafe_b64encode(number.bytes).decode().rstrip("=") if number.int else None
