"""JdbcSinkConnector, by Confluent's name and by Aiven's."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from penstock.api.connector import ConnectorContext, SinkConnector
from penstock.api.plugin import CONNECT_VERSION
from penstock.config import Config
from penstock.connectors.jdbc.sink.task import AivenSinkTask, JdbcSinkTask
from penstock.connectors.jdbc.sink_config import (
    AivenSinkConfig,
    JdbcSinkConfig,
    SinkConfig,
    problems,
)
from penstock.errors import ConfigError

if TYPE_CHECKING:
    from penstock.data.record import TopicPartition

log = logging.getLogger(__name__)


class JdbcSinkConnector(SinkConnector):
    """Writes topics to tables; any number of tasks."""

    java_name = "io.confluent.connect.jdbc.JdbcSinkConnector"
    version = CONNECT_VERSION
    Config: ClassVar[type[Config]] = JdbcSinkConfig
    task_class = JdbcSinkTask

    def validate(self, config: Mapping[str, str]) -> Mapping[str, list[str]]:
        try:
            return problems(self._parsed(config))
        except ConfigError:
            return {}  # The keys have their own messages.

    def start(self, config: Mapping[str, str], context: ConnectorContext) -> None:
        del context
        self._props = dict(config)
        parsed = self._parsed(config)
        parsed.warn(config)
        found = problems(parsed)
        if found:
            texts = [text for messages in found.values() for text in messages]
            raise ConfigError("; ".join(dict.fromkeys(texts)), found)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self._props) for _ in range(max_tasks)]

    def alter_offsets(
        self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]
    ) -> bool:
        del offsets
        parsed = self._parsed(config)
        if parsed.exactly_once:
            raise ConfigError(
                f"with exactly.once=true the offsets stand in the table {parsed.exactly_once_table}"
                " of the target database, and count there: change them in it, in the rows whose"
                f" connector is {config.get('name', '')}"
            )
        return True

    @classmethod
    def _parsed(cls, config: Mapping[str, str]) -> SinkConfig:
        parsed = cls.Config.parse(config)
        assert isinstance(parsed, SinkConfig)  # noqa: S101 - both classes name one
        return parsed


class AivenJdbcSinkConnector(JdbcSinkConnector):
    """The same with Aiven's keys."""

    java_name = "io.aiven.connect.jdbc.JdbcSinkConnector"
    Config = AivenSinkConfig
    task_class = AivenSinkTask
