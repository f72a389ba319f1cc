"""The JDBC source connectors: each chooses tables and shares them among its tasks."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from penstock.api.connector import ConnectorContext, PartitionKey, SourceConnector
from penstock.api.plugin import CONNECT_VERSION
from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.findings import by_key
from penstock.connectors.jdbc.source.checks import check_config, config_errors
from penstock.connectors.jdbc.source.config import (
    AivenSourceConfig,
    ConfluentSourceConfig,
    SourceConfig,
)
from penstock.connectors.jdbc.source.monitor import TableMonitor
from penstock.connectors.jdbc.source.positions import check_offset, check_partition
from penstock.connectors.jdbc.source.selection import (
    missing_tables,
    selected_tables,
    shared,
    tables_text,
)
from penstock.connectors.jdbc.source.task import (
    TABLES,
    AivenJdbcSourceTask,
    ConfluentJdbcSourceTask,
    JdbcSourceTask,
)
from penstock.connectors.jdbc.tables import TableId
from penstock.kernel.errors import ConfigError, DataError, RetriableError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

_TABLE_CHOICES: Final = (
    "table.whitelist",
    "table.blacklist",
    "table.include.list",
    "table.exclude.list",
    "schema.pattern",
    "catalog.pattern",
)
_MODE_KEYS: Final = ("incrementing.column.name", "timestamp.column.name", "validate.non.null")
#: So many tables are checked: whoever creates the connector waits for the answer.
_MOST_EXAMINED: Final = 20


class JdbcSource(SourceConnector):
    """Brings the rows of tables, or of a query, into topics."""

    Config: ClassVar[type[SourceConfig]] = SourceConfig
    task_class: ClassVar[type[JdbcSourceTask]]
    _monitor: TableMonitor | None = None

    def validate(self, config: Mapping[str, str]) -> Mapping[str, list[str]]:
        try:
            return config_errors(self.Config.parse(config))
        except ConfigError:
            return {}  # The keys have their own messages.

    def examine(self, config: Mapping[str, str], spark: SparkSession) -> Mapping[str, list[str]]:
        parsed = self.Config.parse(config)
        settings = replace(parsed.connection(config), attempts=1)
        file = parsed.dialect.connecting.missing_file(settings)
        if file is not None:
            wanted = ", ".join(parsed.table_whitelist)
            reason = f"there is no table {wanted}: there is no file {file}"
            return {"table.whitelist": [reason]} if wanted else {}
        jvm = spark._jvm  # noqa: SLF001 - pyspark's own way to the JVM
        with closing(Database(settings, parsed.dialect, jvm)) as database:
            try:
                database.connect()
            except (ConfigError, RetriableError) as error:
                return {"connection.url": [str(error)]}
            return by_key(self._outside(config, parsed, database))

    def _outside(
        self, config: Mapping[str, str], parsed: SourceConfig, database: Database
    ) -> Iterator[tuple[str, str]]:
        tables: list[TableId] = []
        if not parsed.row_source:
            tables = selected_tables(database, parsed)
            missing = missing_tables(tables, parsed)
            if missing:
                yield (
                    "table.whitelist",
                    f"there is no table {', '.join(missing)}, or no right to read it",
                )
        try:
            self.task_class().check(config, database, tables[:_MOST_EXAMINED])
        except (ConfigError, DataError) as error:
            yield _key_of(str(error), parsed), str(error)

    def start(self, config: Mapping[str, str], context: ConnectorContext) -> None:
        self._props = dict(config)
        self._parsed = self.Config.parse(config)
        self._parsed.warn(config)
        check_config(self._parsed)
        settings, dialect = self._parsed.connection(config), self._parsed.dialect

        def opened() -> Database:
            return Database(settings, dialect, _jvm(context), stopping=lambda: context.stopping)

        if self._parsed.row_source:
            # Whether it can be reached is found out now; the rest is the task's business.
            database = opened()
            database.connect()
            database.close()
            return
        self._monitor = TableMonitor(self._parsed, opened, context)
        self._monitor.start()

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        if self._monitor is None:
            return [dict(self._props)]
        groups = shared(self._monitor.tables, max_tasks)
        if not groups:
            log.warning("There is no task yet: %s", self.without_tasks())
        return [{**self._props, TABLES: tables_text(group)} for group in groups]

    def without_tasks(self) -> str:
        wanted = " and ".join(
            f"{key}={self._props[key]}" for key in _TABLE_CHOICES if self._props.get(key)
        )
        found = f"no table matches {wanted}" if wanted else "the database has no table"
        return f"{found}, or the user may not read it"

    def stop(self) -> None:
        monitor, self._monitor = self._monitor, None
        if monitor is not None:
            monitor.stop()

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Mapping[PartitionKey, Mapping[str, Any] | None],
    ) -> bool:
        parsed = self.Config.parse(config)
        for partition, offset in offsets.items():
            if offset is None:
                continue  # Whatever it is, it may be forgotten.
            check_partition(dict(partition))
            if parsed.mode == "bulk":
                raise DataError("in mode bulk there are no offsets: everything is read each time")
            check_offset(offset)
        return True

    def exactly_once_supported(self, config: Mapping[str, str]) -> bool | None:
        return self.Config.parse(config).mode != "bulk"


class ConfluentJdbcSourceConnector(JdbcSource):
    """Brings the rows of tables, or of a query, into topics."""

    java_name = "io.confluent.connect.jdbc.JdbcSourceConnector"
    version = CONNECT_VERSION
    Config = ConfluentSourceConfig
    task_class = ConfluentJdbcSourceTask


class AivenJdbcSourceConnector(JdbcSource):
    """Brings the rows of tables, or of a query, into topics, with Aiven's names for the keys."""

    java_name = "io.aiven.connect.jdbc.JdbcSourceConnector"
    version = CONNECT_VERSION
    Config = AivenSourceConfig
    task_class = AivenJdbcSourceTask


def _key_of(text: str, config: SourceConfig) -> str:
    """The key to change: the one that the error names, else what is read."""
    named = (key for key in _MODE_KEYS if key in text)
    return next(named, "query" if config.row_source else "mode")


def _jvm(context: ConnectorContext) -> Any:
    return context.spark._jvm  # noqa: SLF001 - pyspark's own way to the JVM
