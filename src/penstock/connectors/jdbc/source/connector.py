"""The JDBC source connectors: they choose tables and share them among tasks."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from contextvars import copy_context
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from penstock.api.connector import ConnectorContext, PartitionKey, SourceConnector
from penstock.api.plugin import CONNECT_VERSION
from penstock.connectors.jdbc.common_config import by_key
from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.source.checks import check_config, config_errors
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
from penstock.connectors.jdbc.source_config import (
    AivenSourceConfig,
    ConfluentSourceConfig,
    SourceConfig,
)
from penstock.connectors.jdbc.tables import TableId
from penstock.errors import ConfigError, DataError, RetriableError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

_STOP_SECONDS: Final = 5.0
_MODE_KEYS: Final = ("incrementing.column.name", "timestamp.column.name", "validate.non.null")
#: Of very many tables so many tell enough, and an answer is waited for.
_MOST_EXAMINED: Final = 20


class TableMonitor:
    """Looks at the tables of a database from time to time, on a thread of its own."""

    def __init__(
        self, config: SourceConfig, connect: Callable[[], Database], context: ConnectorContext
    ) -> None:
        self._config = config
        self._connect = connect
        self._database: Database | None = None
        self._context = context
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._tables: list[TableId] = []
        self._told: list[str] = []
        # It logs for the connector that starts it.
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._run,), name="jdbc-tables", daemon=True
        )

    @property
    def tables(self) -> list[TableId]:
        """The tables at the last look."""
        with self._lock:
            return self._tables

    def start(self) -> None:
        """Look for the first time, at once: whoever is refused should know it now."""
        self._tables = self._look()
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        try:
            while not self._stopped.wait(self._config.table_poll_interval_ms / 1000):
                self._look_again()
        except ConfigError as error:
            self._context.raise_error(error)
        finally:
            self._forget_database()

    def _look_again(self) -> None:
        try:
            self._take_over(self._look())
        except ConfigError:
            raise
        except Exception as error:  # noqa: BLE001 - Spark's JVM may be gone, and come back
            log.warning("Could not look for tables, trying again later: %s", error)
            # With another JVM there is another way to the database.
            self._forget_database()

    def _forget_database(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            database.close()

    def _take_over(self, found: list[TableId]) -> None:
        with self._lock:
            before, self._tables = self._tables, found
        if found != before:
            added = [str(table) for table in found if table not in before]
            gone = [str(table) for table in before if table not in found]
            log.info("Tables changed; new: %s; gone: %s", added or "none", gone or "none")
            self._context.request_task_reconfiguration()

    def _look(self) -> list[TableId]:
        if self._database is None:
            self._database = self._connect()
        found = selected_tables(self._database, self._config)
        missing = missing_tables(found, self._config)
        if missing != self._told:
            self._told = missing
            if missing:
                log.warning("Tables that are not there (yet): %s", ", ".join(missing))
        return found


class JdbcSource(SourceConnector):
    """Brings the rows of tables, or of a query, into topics."""

    Config: ClassVar[type[SourceConfig]] = SourceConfig
    task_class: ClassVar[type[JdbcSourceTask]]
    _monitor: TableMonitor | None = None

    def validate(self, config: Mapping[str, str]) -> Mapping[str, list[str]]:
        try:
            return config_errors(self.Config.parse(config))
        except ConfigError:
            return {}  # What is wrong with single values is told already.

    def examine(self, config: Mapping[str, str], spark: SparkSession) -> Mapping[str, list[str]]:
        parsed = self.Config.parse(config)
        settings = replace(parsed.connection(config), attempts=1)
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
            log.warning("No table to read was found, so there is no task yet")
        return [{**self._props, TABLES: tables_text(group)} for group in groups]

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
