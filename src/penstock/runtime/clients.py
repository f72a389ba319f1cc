"""Kafka clients of connectors: the worker's properties, its prefixes, the connector's overrides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from penstock.data.record import TaskId
from penstock.kafka.clients import Admin, GroupConsumer
from penstock.kafka.options import Role, spark_settings

#: Spark flushes the producer at the end of every batch, so a record never waits for the linger:
#: it only lets the batches of a long job fill. Decision 011 has the figures.
PRODUCER_DEFAULTS: Final = {"batch.size": "131072", "linger.ms": "20", "buffer.memory": "16777216"}
#: Spark's reader asks for records one by one; each poll it needs for that has a price.
READER_DEFAULTS: Final = {"max.poll.records": "5000"}


@dataclass(frozen=True, slots=True)
class ConnectorClients:
    """Makes the clients that connectors and their tasks use.

    Args:
        properties: the worker's client properties for each role.
        overrides: whether connectors may override them is checked when they are validated.
    """

    properties: Mapping[Role, Mapping[str, str]]
    cluster_group: str = ""

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
        """For Spark's Kafka source. A constant group id spares it two requests for each read."""
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
        prefix = f"{role.value}.override."
        own = {k.removeprefix(prefix): v for k, v in config.items() if k.startswith(prefix)}
        return {**self.properties[role], **own}


def _accepted(properties: Mapping[str, str]) -> dict[str, str]:
    settings = spark_settings(properties)
    return {name.removeprefix("kafka."): str(value) for name, value in settings.values.items()}
