"""Kafka clients of connectors: the worker's properties, its prefixes, the connector's overrides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from penstock.kafka.client_keys import Role
from penstock.kafka.clients import Admin, GroupConsumer
from penstock.kafka.options import spark_settings
from penstock.kernel.config.prefix import under_prefix
from penstock.kernel.data.record import TaskId

#: Spark flushes the producer at the end of every batch, so no record waits for linger.ms:
#: it only lets the batches of a long job fill. Decision 011 has the figures.
PRODUCER_DEFAULTS: Final = {"batch.size": "131072", "linger.ms": "20", "buffer.memory": "16777216"}
#: Spark's reader takes records one by one; more records per poll make fewer polls.
READER_DEFAULTS: Final = {"max.poll.records": "5000"}


@dataclass(frozen=True, slots=True)
class ConnectorClients:
    """Makes the clients that connectors and their tasks use.

    Whether a connector may override a property is checked when its configuration is validated.

    Args:
        properties: the worker's client properties for each role.
    """

    properties: Mapping[Role, Mapping[str, str]]

    def group_id(self, connector: str, config: Mapping[str, str]) -> str:
        return self._of(Role.CONSUMER, config).get("group.id") or f"connect-{connector}"

    def consumer(self, task: TaskId, config: Mapping[str, str]) -> GroupConsumer:
        own = {
            **self._of(Role.CONSUMER, config),
            "group.id": self.group_id(task.connector, config),
        }
        own.setdefault("client.id", f"connector-consumer-{task}")
        return GroupConsumer(own)

    def admin(self, connector: str, config: Mapping[str, str]) -> Admin:
        own = self._of(Role.ADMIN, config)
        own.setdefault("client.id", f"connector-adminclient-{connector}")
        return Admin(own)

    def reader(self, task: TaskId, config: Mapping[str, str]) -> dict[str, str]:
        """Options for Spark's Kafka source. A constant group id saves two requests per read."""
        own = self._of(Role.CONSUMER, config)
        own["group.id"] = self.group_id(task.connector, config)
        own.setdefault("client.id", f"connector-consumer-{task}-spark")
        own = {**READER_DEFAULTS, **own}
        return _accepted(own)

    def producer(self, task: TaskId, config: Mapping[str, str]) -> dict[str, str]:
        own = self._of(Role.PRODUCER, config)
        own.setdefault("client.id", f"connector-producer-{task}")
        own = {**PRODUCER_DEFAULTS, **own}
        return _accepted(own)

    def _of(self, role: Role, config: Mapping[str, str]) -> dict[str, str]:
        return {**self.properties[role], **under_prefix(config, f"{role.value}.override.")}


def _accepted(properties: Mapping[str, str]) -> dict[str, str]:
    settings = spark_settings(properties)
    return {name.removeprefix("kafka."): str(value) for name, value in settings.values.items()}
