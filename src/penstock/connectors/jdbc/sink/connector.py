"""JdbcSinkConnector, by Confluent's name and by Aiven's."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from penstock.api.connector import ConnectorContext, SinkConnector
from penstock.api.plugin import CONNECT_VERSION
from penstock.config import Config
from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.sink.batches import table_id
from penstock.connectors.jdbc.sink.target import open_database
from penstock.connectors.jdbc.sink.task import AivenSinkTask, JdbcSinkTask
from penstock.connectors.jdbc.sink_config import (
    AivenSinkConfig,
    JdbcSinkConfig,
    SinkConfig,
    problems,
)
from penstock.connectors.jdbc.tables import TableId
from penstock.errors import ConfigError, DataError, RetriableError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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

    def examine(self, config: Mapping[str, str], spark: SparkSession) -> Mapping[str, list[str]]:
        parsed = self._parsed(config)
        settings = replace(parsed.connection(config), attempts=1)
        made = open_database(parsed, settings, spark, stopping=lambda: False)
        with closing(made) as database:
            try:
                database.connect()
                missing = [] if parsed.auto_create else _missing_tables(parsed, config, database)
            except ConfigError as error:
                return {"connection.url": [str(error)]}
            except RetriableError as error:
                # The tasks wait until it is back.
                log.warning("%s", error)
                return {}
        told = "does not exist; make it, or set auto.create=true to have it made"
        texts = [f"table {each} {told}" for each in missing]
        return {"table.name.format": texts} if texts else {}

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


def _missing_tables(config: SinkConfig, props: Mapping[str, str], database: Database) -> list[str]:
    """Tables that records would go to and that are not there, as far as the config tells."""
    if props.get("transforms", "").strip():
        return []  # They may give the topics other names.
    topics = (topic.strip() for topic in props.get("topics", "").split(","))
    names = dict.fromkeys(config.table_name(topic) for topic in topics if topic)
    catalogs = config.dialect.own_catalog_only
    return [name for name in names if not _is_there(table_id(name, catalogs=catalogs), database)]


def _is_there(table: TableId, database: Database) -> bool:
    try:
        return bool(database.columns(table))
    except DataError:
        return False


class AivenJdbcSinkConnector(JdbcSinkConnector):
    """The same with Aiven's keys."""

    java_name = "io.aiven.connect.jdbc.JdbcSinkConnector"
    Config = AivenSinkConfig
    task_class = AivenSinkTask
