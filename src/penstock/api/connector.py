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
    from penstock.kernel.data.record import TopicPartition


class ConnectorContext(Protocol):
    """The runtime's services for a connector. Any thread may call any method."""

    @property
    def spark(self) -> SparkSession:
        """The worker's Spark session, started if necessary, for checks of the outside world.

        Do not keep it: it may be replaced by a new one.
        """
        ...

    @property
    def stopping(self) -> bool:
        """Whether the connector should stop; check it while start() waits for something."""
        ...

    def request_task_reconfiguration(self) -> None:
        """Let the runtime call task_configs() again, because the outside world changed."""
        ...

    def raise_error(self, error: Exception) -> None:
        """Report an error from one of the connector's own threads; the connector fails."""
        ...


class Connector(Plugin, ABC):
    """The base of sources and sinks. Subclass SourceConnector or SinkConnector instead.

    Life: constructed, start(), task_configs() any number of times, stop(). All on one thread of
    its own: a connector that hangs blocks no other.
    """

    def validate(self, config: Mapping[str, str]) -> Mapping[str, list[str]]:
        """Messages for each key with an error that its definition can't express.

        Called without start(), on a new instance.
        """
        del config
        return {}

    def examine(self, config: Mapping[str, str], spark: SparkSession) -> Mapping[str, list[str]]:
        """Messages for each key that does not fit the outside world, such as a missing table.

        Called like validate(), only if the config has no other error. Do not report a server that
        may be away only for a while, unless start() fails with it too.
        """
        raise NotImplementedError

    @abstractmethod
    def start(self, config: Mapping[str, str], context: ConnectorContext) -> None:
        """Prepare for task_configs(); raise ConfigError if that is impossible."""

    @abstractmethod
    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """One configuration for each task, at most max_tasks of them."""

    def without_tasks(self) -> str:
        """Why task_configs() returned none; shown in the status."""
        return "the connector has nothing to do"

    def stop(self) -> None:
        """Release what start() acquired. May be called twice, and after a failed start()."""
        return


class SourceConnector(Connector):
    """A connector that writes records to Kafka."""

    kind = PluginKind.SOURCE
    task_class: ClassVar[type[SourceTask]]

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Mapping[PartitionKey, Mapping[str, Any] | None],
    ) -> bool:
        """Check offsets that a user wants to store for this (stopped) connector.

        Args:
            config: the connector's configuration; start() was not called.
            offsets: the new offset of each partition, None to delete it. The partitions are
                PartitionKey values; dict(key) returns the map.

        Returns:
            True if only the framework has to store them, False if the connector also keeps
            offsets elsewhere (the REST answer then says so).

        Raises:
            ConfigError or DataError: this connector could not have made these offsets.
        """
        del config, offsets
        return False

    def exactly_once_supported(self, config: Mapping[str, str]) -> bool | None:
        """Whether the connector supports exactly once with this config; None: unknown."""
        del config
        return None


class SinkConnector(Connector):
    """A connector that reads records from Kafka."""

    kind = PluginKind.SINK
    task_class: ClassVar[type[SinkTask]]

    def alter_offsets(
        self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]
    ) -> bool:
        """As for sources; the offsets are the consumer group's."""
        del config, offsets
        return False


class PartitionKey(tuple[tuple[str, Any], ...]):
    """A source partition (`{"filename": …}`) as a hashable value; dict(key) returns it."""

    __slots__ = ()

    @classmethod
    def of(cls, partition: Mapping[str, Any]) -> PartitionKey:
        """The key of a partition map, in the same order, which Connect's key bytes depend on."""
        return cls(partition.items())
