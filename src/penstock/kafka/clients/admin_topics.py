"""Topics in detail, and changes of them, for the operator's tools."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import kafka.errors
from kafka.admin import AlterConfigOp, ConfigResource, ConfigResourceType, KafkaAdminClient

from penstock.kafka.clients.admin_calls import AdminCalls, ours, theirs
from penstock.kafka.clients.failures import python_failure
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import BadRequestError, NotFoundError

_BAD_REQUESTS: Final = (
    kafka.errors.InvalidPartitionsError,
    kafka.errors.InvalidReplicationFactorError,
    kafka.errors.InvalidConfigurationError,
    kafka.errors.InvalidRequestError,
    kafka.errors.InvalidTopicError,
    kafka.errors.PolicyViolationError,
)

#: Why a topic could not be deleted.
NO_SUCH_TOPIC: Final = "there is no such topic"


@dataclass(frozen=True, slots=True)
class PartitionState:
    """One partition; without a leader it can't be read or written."""

    number: int
    leader: int | None
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TopicState:
    """A topic with its partitions, in their order."""

    name: str
    is_internal: bool
    partitions: tuple[PartitionState, ...]


@dataclass(frozen=True, slots=True)
class TopicSetting:
    """A setting of a topic, and where it comes from: `topic`, `broker` or `default`.

    A value that the broker hides is None.
    """

    name: str
    value: str | None
    source: str


class TopicDetails(AdminCalls):
    """Reads and changes topics."""

    def topic_states(
        self, names: Collection[str] | None, deadline: Deadline
    ) -> dict[str, TopicState]:
        """Those of the named topics that exist; None means all.

        Raises:
            BadRequestError: a topic can't have this name.
            StorageError: the broker does not let this client see one of them.
        """
        if names is not None and not names:
            return {}
        wanted = None if names is None else list(names)
        step = "looking at topics"

        def found(client: KafkaAdminClient) -> dict[str, TopicState]:
            topics = [each for each in client.describe_topics(wanted) if not _is_unknown(each)]
            for topic in topics:
                # A temporary error, such as an unknown leader, is retried.
                self._refuse(topic["error_code"], None, f"{step}, {topic['name']}")
            return {topic["name"]: _state(topic) for topic in topics}

        states: dict[str, TopicState] = self.do(deadline, step, found)
        return states

    def settings_of(
        self, names: Collection[str], deadline: Deadline
    ) -> dict[str, list[TopicSetting]]:
        """Every setting of each of the topics, by name."""
        if not names:
            return {}
        resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
        found = self.do(
            deadline,
            "reading the settings of topics",
            lambda client: client.describe_configs(resources, config_filter="all"),
        )
        return {
            topic: [_setting(name, entry) for name, entry in sorted(settings.items())]
            for topic, settings in found.get("topic", {}).items()
        }

    def add_partitions(self, topic: str, count: int, deadline: Deadline) -> None:
        """Give the topic this total number of partitions.

        Raises:
            BadRequestError: the broker refuses the number; the text has its reason.
        """
        step = f"giving topic {topic} {count} partitions"
        answer = self.do(
            deadline,
            step,
            lambda client: client.create_partitions({topic: count}, raise_errors=False),
        )
        for result in answer.results:
            self._refuse(result.error_code, result.error_message, step)

    def alter_settings(
        self,
        topic: str,
        settings: Mapping[str, str],
        removed: Iterable[str],
        deadline: Deadline,
    ) -> None:
        """Set some settings of a topic and return others to their defaults.

        Raises:
            BadRequestError: a name or a value is wrong; the text has the broker's reason.
        """
        step = f"changing the settings of topic {topic}"
        operations: dict[str, Any] = {
            **{name: (AlterConfigOp.SET, value) for name, value in settings.items()},
            **dict.fromkeys(removed, (AlterConfigOp.DELETE, None)),
        }
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, operations)
        answer = self.do(
            deadline,
            step,
            lambda client: client.alter_configs([resource], raise_on_unknown=False),
        )
        outcome = answer.get("topic", {}).get(topic, "OK")
        if outcome != "OK":
            raise BadRequestError(f"{self.at(step)}: {outcome}")

    def refusable_delete(self, names: Collection[str], deadline: Deadline) -> dict[str, str]:
        """Delete topics. Returns those that could not be deleted, with the broker's reason."""
        step = f"deleting {len(names)} topics"
        answer = self.do(
            deadline, step, lambda client: client.delete_topics(list(names), raise_errors=False)
        )
        return {
            entry["name"]: _reason(entry["error_code"], entry.get("error_message"))
            for entry in answer["topics"]
            if entry["error_code"]
        }

    def offsets_at(
        self, moments: Mapping[TopicPartition, int], deadline: Deadline
    ) -> dict[TopicPartition, int | None]:
        """The first offset whose record is not older than a time (ms); None if all are older."""
        if not moments:
            return {}
        wanted = {theirs(partition): moment for partition, moment in moments.items()}
        found = self.do(
            deadline,
            f"looking for times in {len(wanted)} partitions",
            lambda client: client.list_partition_offsets(wanted),
        )
        return {
            ours(partition): entry.offset if entry.offset >= 0 else None
            for partition, entry in found.items()
        }

    def _refuse(self, code: int, message: str | None, step: str) -> None:
        if not code:
            return
        kind = kafka.errors.for_code(code)
        if kind is kafka.errors.UnknownTopicOrPartitionError:
            raise NotFoundError(f"{self.at(step)}: there is no such topic")
        if issubclass(kind, _BAD_REQUESTS):
            raise BadRequestError(f"{self.at(step)}: {message or kind.__name__}")
        error = kind(message or "")
        raise python_failure(error, self.at(step)) from error


def _is_unknown(topic: Mapping[str, Any]) -> bool:
    return bool(topic["error_code"] == kafka.errors.UnknownTopicOrPartitionError.errno)


def _state(topic: Mapping[str, Any]) -> TopicState:
    partitions = [
        PartitionState(
            each["partition_index"],
            each["leader_id"] if each["leader_id"] >= 0 else None,
            tuple(each["replica_nodes"]),
            tuple(each["isr_nodes"]),
        )
        for each in topic["partitions"]
    ]
    ordered = tuple(sorted(partitions, key=lambda each: each.number))
    return TopicState(topic["name"], bool(topic.get("is_internal")), ordered)


def _setting(name: str, entry: Mapping[str, Any]) -> TopicSetting:
    source = entry.get("config_source", "")
    if source == "DEFAULT_CONFIG":
        return TopicSetting(name, entry["value"], "default")
    origin = "topic" if source == "DYNAMIC_TOPIC_CONFIG" else "broker"
    return TopicSetting(name, entry["value"], origin)


def _reason(code: int, message: str | None) -> str:
    if code == kafka.errors.UnknownTopicOrPartitionError.errno:
        return NO_SUCH_TOPIC
    return message or kafka.errors.for_code(code).__name__
