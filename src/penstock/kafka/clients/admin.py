"""Administration of a cluster, each verb with a deadline."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, TypeVar

import kafka
import kafka.errors
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient
from kafka.protocol.consumer import OffsetSpec
from kafka.structs import OffsetAndMetadata

from penstock.clock import Deadline
from penstock.data.record import TopicPartition
from penstock.errors import RetriableError, StorageError
from penstock.kafka.clients.calls import within
from penstock.kafka.clients.connect import python_admin
from penstock.kafka.clients.failures import python_failure

Result = TypeVar("Result")
_NO_SUCH_TOPIC: Final = 3
_EXISTS: Final = 36
_POLL_SECONDS: Final = 0.05
_RETRY_SECONDS: Final = 0.2
_LEAST_SECONDS: Final = 1.0


class Edge(Enum):
    """Which end of a partition."""

    EARLIEST = OffsetSpec.EARLIEST
    LATEST = OffsetSpec.LATEST


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic to create; -1 leaves the number to the broker."""

    name: str
    partitions: int = -1
    replication_factor: int = -1
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicView:
    """A topic as it is."""

    name: str
    partitions: int
    replication_factor: int
    ready: bool


class Admin:
    """One administration client. Connects at the first call; for use from any thread."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._properties = dict(properties)
        self._where = self._properties.get("bootstrap.servers", "localhost:9092")
        self._lock = threading.Lock()
        self._client: KafkaAdminClient | None = None

    # ------------------------------------------------------------------------------ cluster

    def cluster_id(self, deadline: Deadline) -> str:
        return str(self._cluster(deadline)["cluster_id"])

    def broker_count(self, deadline: Deadline) -> int:
        return len(self._cluster(deadline)["brokers"])

    def _cluster(self, deadline: Deadline) -> dict[str, Any]:
        found: dict[str, Any] = self._do(
            deadline, "asking for the cluster", lambda client: client.describe_cluster()
        )
        return found

    # ------------------------------------------------------------------------------- topics

    def topics(self, names: Collection[str], deadline: Deadline) -> dict[str, TopicView]:
        """The topics that exist, of those named."""
        if not names:
            return {}
        step = f"looking at the topics {', '.join(sorted(names))}"
        found = self._do(deadline, step, lambda client: client.describe_topics(list(names)))
        views = {}
        for topic in found:
            code = topic["error_code"]
            if code not in (0, _NO_SUCH_TOPIC, kafka.errors.LeaderNotAvailableError.errno):
                error = kafka.errors.for_code(code)(f"topic {topic['name']}")
                raise python_failure(error, self._at(step)) from error
            if code != _NO_SUCH_TOPIC:
                views[topic["name"]] = _view(topic)
        return views

    def topic_names(self, deadline: Deadline) -> set[str]:
        return set(self._do(deadline, "listing the topics", lambda client: client.list_topics()))

    def topic_settings(self, name: str, deadline: Deadline) -> dict[str, str]:
        """Every setting of a topic, defaults included."""
        resource = ConfigResource(ConfigResourceType.TOPIC, name)
        found = self._do(
            deadline,
            f"reading the settings of topic {name}",
            lambda client: client.describe_configs([resource], config_filter="all"),
        )
        settings = found.get("topic", {}).get(name, {})
        return {key: entry["value"] for key, entry in settings.items()}

    def create_topic(self, spec: TopicSpec, deadline: Deadline) -> bool:
        """Create it and wait until it can be used; False if it existed already."""
        step = f"creating topic {spec.name}"
        wanted = {
            spec.name: {
                "num_partitions": spec.partitions,
                "replication_factor": spec.replication_factor,
                "configs": dict(spec.settings),
            }
        }
        answer = self._do(
            deadline, step, lambda client: client.create_topics(wanted, raise_errors=False)
        )
        code, message = (answer["topics"][0].get(key) for key in ("error_code", "error_message"))
        if code not in (0, _EXISTS):
            error = kafka.errors.for_code(code)(message or "")
            raise python_failure(error, self._at(step)) from error
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
        self._do(deadline, step, lambda client: client.delete_topics(list(names)))

    def offsets(
        self, partitions: Collection[TopicPartition], edge: Edge, deadline: Deadline
    ) -> dict[TopicPartition, int]:
        """The first offset, or the one after the last, of each partition."""
        if not partitions:
            return {}
        wanted = {_theirs(partition): edge.value for partition in partitions}
        found = self._do(
            deadline,
            f"reading offsets of {len(wanted)} partitions",
            lambda client: client.list_partition_offsets(wanted),
        )
        return {_ours(partition): entry.offset for partition, entry in found.items()}

    # ------------------------------------------------------------------------------- groups

    def group_offsets(self, group: str, deadline: Deadline) -> dict[TopicPartition, int]:
        """The committed offsets of a group; none if there is no such group."""
        step = f"reading the offsets of group {group}"
        found = self._do(deadline, step, lambda client: client.list_group_offsets({group: None}))
        return {
            _ours(partition): entry.offset
            for partition, entry in found.get(group, {}).items()
            if entry.offset >= 0
        }

    def group_notes(self, group: str, deadline: Deadline) -> dict[TopicPartition, str]:
        """The text that was stored beside each committed offset of a group."""
        step = f"reading the offsets of group {group}"
        found = self._do(deadline, step, lambda client: client.list_group_offsets({group: None}))
        return {
            _ours(partition): str(entry.metadata or "")
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
            _theirs(tp): OffsetAndMetadata(at, texts.get(tp, ""), None)
            for tp, at in offsets.items()
        }
        step = f"setting offsets of group {group}"
        answer = self._do(deadline, step, lambda client: client.alter_group_offsets(group, wanted))
        self._check(answer.values(), step)

    def delete_group_offsets(
        self, group: str, partitions: Iterable[TopicPartition], deadline: Deadline
    ) -> None:
        """Forget committed offsets. Raises GroupActiveError while the group has members."""
        wanted = [_theirs(partition) for partition in partitions]
        step = f"deleting offsets of group {group}"
        try:
            answer = self._do(
                deadline, step, lambda client: client.delete_group_offsets(group, wanted)
            )
        except StorageError as error:
            if isinstance(error.__cause__, kafka.errors.GroupIdNotFoundError):
                return
            raise
        self._check(answer.values(), step)

    def delete_group(self, group: str, deadline: Deadline) -> None:
        """Forget the group; fine if there is none. Raises GroupActiveError if it has members."""
        step = f"deleting group {group}"
        answer = self._do(deadline, step, lambda client: client.delete_groups([group]))
        outcome = answer.get(group, "OK")
        if outcome not in ("OK", kafka.errors.GroupIdNotFoundError.__name__):
            self._check([getattr(kafka.errors, outcome, kafka.errors.UnknownError)], step)

    def group_is_empty(self, group: str, deadline: Deadline) -> bool:
        """Whether the group has no members (or does not exist)."""
        step = f"looking for members of group {group}"
        found = self._do(deadline, step, lambda client: client.describe_groups([group]))
        return not found.get(group, {}).get("members")

    # ------------------------------------------------------------------------------ calling

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _do(self, deadline: Deadline, step: str, call: Callable[[KafkaAdminClient], Any]) -> Any:
        step = self._at(step)
        return within(deadline, step, lambda: self._call(deadline, step, call))

    def _call(self, deadline: Deadline, step: str, call: Callable[[KafkaAdminClient], Any]) -> Any:
        """Repeat what the broker can't do just now (its coordinator is loading, its leader moved):
        every verb here may be repeated."""
        pause = threading.Event()
        while True:
            try:
                return call(self._connected(deadline))
            except Exception as error:
                failure = python_failure(error, step)
                if not isinstance(failure, RetriableError) or deadline.remaining() < _LEAST_SECONDS:
                    raise failure from error
            deadline.clock.wait(pause, _RETRY_SECONDS)

    def _connected(self, deadline: Deadline) -> KafkaAdminClient:
        with self._lock:
            if self._client is None:
                # A little less than there is, so that its own error is the one that is seen.
                self._client = python_admin(self._properties, 0.9 * deadline.remaining())
            return self._client

    def _check(self, outcomes: Iterable[type[Exception]], step: str) -> None:
        for outcome in outcomes:
            if outcome is not kafka.errors.NoError:
                error = outcome("refused")
                raise python_failure(error, self._at(step)) from error

    def _at(self, step: str) -> str:
        return f"{step} (Kafka at {self._where})"


def _view(topic: Mapping[str, Any]) -> TopicView:
    partitions = topic["partitions"]
    replicas = [len(partition["replica_nodes"]) for partition in partitions]
    led = all(partition["leader_id"] >= 0 for partition in partitions)
    return TopicView(
        topic["name"], len(partitions), min(replicas, default=0), bool(partitions) and led
    )


def _theirs(partition: TopicPartition) -> Any:
    return kafka.TopicPartition(partition.topic, partition.partition)


def _ours(partition: Any) -> TopicPartition:
    return TopicPartition(partition.topic, partition.partition)
