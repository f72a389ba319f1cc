"""JdbcSinkConnector, by Confluent's name and by Aiven's."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from penstock.api.connector import ConnectorContext, SinkConnector
from penstock.api.plugin import CONNECT_VERSION
from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.dialects.merging import WriteMode
from penstock.connectors.jdbc.findings import by_key
from penstock.connectors.jdbc.sink.checks import check_config, config_errors
from penstock.connectors.jdbc.sink.config import AivenSinkConfig, JdbcSinkConfig, SinkConfig
from penstock.connectors.jdbc.sink.fields import KeyMode
from penstock.connectors.jdbc.sink.target import open_database
from penstock.connectors.jdbc.sink.task import AivenSinkTask, JdbcSinkTask
from penstock.connectors.jdbc.tables import TableId
from penstock.kernel.config import Config
from penstock.kernel.errors import ConfigError, DataError, RetriableError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.kernel.data.record import TopicPartition

log = logging.getLogger(__name__)


class JdbcSinkConnector(SinkConnector):
    """Writes topics to tables; any number of tasks."""

    java_name = "io.confluent.connect.jdbc.JdbcSinkConnector"
    version = CONNECT_VERSION
    Config: ClassVar[type[Config]] = JdbcSinkConfig
    task_class = JdbcSinkTask

    def validate(self, config: Mapping[str, str]) -> Mapping[str, list[str]]:
        try:
            return config_errors(self._parsed(config))
        except ConfigError:
            return {}  # The keys have their own messages.

    def examine(self, config: Mapping[str, str], spark: SparkSession) -> Mapping[str, list[str]]:
        parsed = self._parsed(config)
        settings = replace(parsed.connection(config), attempts=1)
        if parsed.dialect.connecting.missing_file(settings) is not None:
            # The first task makes it; whoever only asks must not.
            return by_key(() if parsed.auto_create else map(_no_table, _tables(parsed, config)))
        made = open_database(parsed, settings, spark, stopping=lambda: False)
        with closing(made) as database:
            try:
                database.connect()
                return by_key(_found_in(database, parsed, _tables(parsed, config)))
            except ConfigError as error:
                return {"connection.url": [str(error)]}
            except RetriableError as error:
                # The tasks wait until it is back.
                log.warning("%s", error)
                return {}

    def start(self, config: Mapping[str, str], context: ConnectorContext) -> None:
        del context
        self._props = dict(config)
        parsed = self._parsed(config)
        parsed.warn(config)
        check_config(parsed)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self._props) for _ in range(max_tasks)]

    def alter_offsets(
        self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]
    ) -> bool:
        del offsets
        parsed = self._parsed(config)
        if parsed.exactly_once:
            raise ConfigError(
                f"with exactly.once=true the offsets are in the table {parsed.exactly_once_table}"
                " of the target database: change them there, in the rows whose connector is"
                f" {config.get('name', '')}"
            )
        return True

    @classmethod
    def _parsed(cls, config: Mapping[str, str]) -> SinkConfig:
        parsed = cls.Config.parse(config)
        assert isinstance(parsed, SinkConfig)  # noqa: S101 - both classes name one
        return parsed


def _tables(config: SinkConfig, props: Mapping[str, str]) -> list[str]:
    """The tables that records will go to, as far as the config says."""
    if props.get("transforms", "").strip():
        return []  # They may give the topics other names.
    topics = (topic.strip() for topic in props.get("topics", "").split(","))
    return list(dict.fromkeys(config.table_name(topic) for topic in topics if topic))


def _found_in(
    database: Database, config: SinkConfig, tables: Iterable[str]
) -> Iterator[tuple[str, str]]:
    for name in tables:
        table = database.dialect.table_id(name)
        try:
            columns = [column.name for column in database.metadata.columns(table)]
        except DataError:
            if not config.auto_create:
                yield _no_table(name)
            continue
        missing = _missing_keys(config, columns)
        if missing:
            yield (
                "pk.fields",
                f"table {name} has no column {', '.join(missing)}; add it, or set auto.evolve=true"
                " to have it added",
            )
        refusal = _refused_write(database, config, table, columns[0]) if columns else None
        if refusal:
            yield "connection.user", refusal


def _no_table(name: str) -> tuple[str, str]:
    reason = "does not exist, or may not be read; make it, or set auto.create=true"
    return "table.name.format", f"table {name} {reason} to have it made"


def _missing_keys(config: SinkConfig, columns: Sequence[str]) -> list[str]:
    """Columns that every row must have, and that a table neither has nor will get."""
    if config.auto_evolve or config.pk_mode == KeyMode.NONE:
        return []
    there = {name.casefold() for name in columns}
    return [name for name in config.pk_fields if name.casefold() not in there]


def _refused_write(
    database: Database, config: SinkConfig, table: TableId, column: str
) -> str | None:
    """Why we may not write to a table; None if we may, as far as the database says."""
    name, field = database.dialect.qualified(table), database.dialect.quote(column)
    if config.mode is WriteMode.UPDATE:
        statement = f"UPDATE {name} SET {field} = {field} WHERE 1 = 0"
    else:
        statement = f"INSERT INTO {name} ({field}) SELECT {field} FROM {name} WHERE 1 = 0"
    try:
        # Servers look at rights before they explain, and do nothing of what they explain.
        database.query(database.dialect.explain(statement))
    except DataError as error:
        return str(error) if database.dialect.faults.denies_right(error) else None
    return None


class AivenJdbcSinkConnector(JdbcSinkConnector):
    """The same with Aiven's keys."""

    java_name = "io.aiven.connect.jdbc.JdbcSinkConnector"
    Config = AivenSinkConfig
    task_class = AivenSinkTask
