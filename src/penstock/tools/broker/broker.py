"""A Kafka cluster for people: its topics, its records and its consumer groups."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

from penstock.kafka.clients import Admin
from penstock.tools.broker.groups import Groups
from penstock.tools.broker.messages import Messages
from penstock.tools.broker.reset import Resets
from penstock.tools.broker.topics import Topics

SERVERS_VARIABLE: Final = "PENSTOCK_BOOTSTRAP_SERVERS"
_DEFAULT_SERVERS: Final = "localhost:9092"
_SECONDS: Final = 30.0


def client_properties(
    servers: str | None = None, properties: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Properties of a Kafka client.

    The servers are those of the argument, of the properties, or of the environment variable
    PENSTOCK_BOOTSTRAP_SERVERS; without any of these localhost:9092.
    """
    given = dict(properties or {})
    found = servers or given.get("bootstrap.servers") or os.environ.get(SERVERS_VARIABLE)
    return {
        "client.id": "penstock-broker",
        **given,
        "bootstrap.servers": found or _DEFAULT_SERVERS,
    }


class Broker:
    """A Kafka cluster. Use it in a `with` statement, or close it.

    Args:
        properties: those of a Kafka client, under Java's names: bootstrap.servers, sasl.*, ssl.*
        seconds: how long each request to the cluster may take.

    Attributes:
        topics: list, describe, create, change and delete topics.
        groups: list, describe and delete consumer groups.
        resets: plan and make changes of committed offsets.
        messages: read and write records.
    """

    def __init__(
        self, properties: Mapping[str, str] | None = None, *, seconds: float = _SECONDS
    ) -> None:
        self.properties = client_properties(None, properties)
        self.seconds = seconds
        self._admin = Admin(self.properties)
        self.topics = Topics(self._admin, seconds)
        self.groups = Groups(self._admin, seconds)
        self.messages = Messages(self._admin, self.properties, seconds)
        self.resets = Resets(self._admin, self.groups, self.properties, seconds)

    def close(self) -> None:
        """Close the connections."""
        self._admin.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
