"""Connectors: they split the work into tasks and never touch a record."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from penstock.api.plugin import Plugin, PluginKind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.api.sink import SinkTask
    from penstock.api.source import SourceTask
    from penstock.data.record import TopicPartition


class ConnectorContext(Protocol):
    """What the runtime offers a connector. Every method may be called from any thread."""

    @property
    def spark(self) -> SparkSession:
        """The worker's session, started if need be: for looking at the outside world.

        Ask for it when you need it: it may be another one later.
        """
        ...

    @property
    def stopping(self) -> bool:
        """Whether the connector is to end: ask for it while start() waits for something."""
        ...

    def request_task_reconfiguration(self) -> None:
        """Ask for task_configs() to be called again, because the outside world changed."""
        ...

    def raise_error(self, error: Exception) -> None:
        """Report a failure found on a thread of the connector's own; the connector fails."""
        ...


class Connector(Plugin, ABC):
    """Common to sources and sinks. Subclass SourceConnector or SinkConnector instead.

    Life: constructed, start(), task_configs() any number of times, stop(). All on one thread of
    its own: a connector that hangs holds up nobody else.
    """

    def validate(self, config: Mapping[str, str]) -> Mapping[str, list[str]]:
        """Messages for each key that is wrong for reasons its definition can't express.

        Called without start(), on a new instance.
        """
        del config
        return {}

    def examine(self, config: Mapping[str, str], spark: SparkSession) -> Mapping[str, list[str]]:
        """Messages for each key with which the outside world does not agree: no such table, say.

        Called like validate(), and only for a config in which nothing else is wrong. What may be
        away only for a while is no mistake of the config, unless start() fails with it too.
        """
        raise NotImplementedError

    @abstractmethod
    def start(self, config: Mapping[str, str], context: ConnectorContext) -> None:
        """Make ready to answer task_configs(); raise ConfigError if that can't be."""

    @abstractmethod
    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """One configuration for each task, at most max_tasks of them."""

    def stop(self) -> None:
        """Give up what start() took. May be called twice, and after a failed start()."""
        return


class SourceConnector(Connector):
    """A connector that brings records into Kafka."""

    kind = PluginKind.SOURCE
    task_class: ClassVar[type[SourceTask]]

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Mapping[PartitionKey, Mapping[str, Any] | None],
    ) -> bool:
        """Check offsets that somebody wants to store for this (stopped) connector.

        Args:
            config: the connector's configuration; start() was not called.
            offsets: the new offset of each partition, None to forget it. The partitions are
                PartitionKey values; dict(key) gives the map.

        Returns:
            True if storing them is all there is to do, False if the connector also keeps
            offsets elsewhere (the REST answer then says so).

        Raises:
            ConfigError or DataError: the offsets are not ones this connector could have made.
        """
        del config, offsets
        return False

    def exactly_once_supported(self, config: Mapping[str, str]) -> bool | None:
        """Whether the connector can give exactly once with this config; None: it doesn't say."""
        del config
        return None


class SinkConnector(Connector):
    """A connector that takes records out of Kafka."""

    kind = PluginKind.SINK
    task_class: ClassVar[type[SinkTask]]

    def alter_offsets(
        self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]
    ) -> bool:
        """As for sources; the offsets are the consumer group's."""
        del config, offsets
        return False


class PartitionKey(tuple[tuple[str, Any], ...]):
    """A source partition (`{"filename": …}`) as a hashable value; dict(key) gives it back."""

    __slots__ = ()

    @classmethod
    def of(cls, partition: Mapping[str, Any]) -> PartitionKey:
        """The key of a partition map; its order is kept, as Connect's key bytes need."""
        return cls(partition.items())
