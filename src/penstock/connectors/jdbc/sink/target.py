"""A target database as one Spark session sees it: connection, tables, and the way rows take."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.dialects import Dialect
from penstock.connectors.jdbc.dialects.mysql import MySqlDialect
from penstock.connectors.jdbc.dialects.postgresql import PostgreSqlDialect
from penstock.connectors.jdbc.dialects.sqlite import SqliteDialect
from penstock.connectors.jdbc.dialects.writing import (
    MySqlWriting,
    PostgreSqlWriting,
    SqliteWriting,
    Writing,
)
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.sink.forms import Form
from penstock.connectors.jdbc.sink.loading import (
    BatchLoader,
    CopyLoader,
    LoadDataLoader,
    Loader,
)
from penstock.connectors.jdbc.sink.structure import Structure
from penstock.connectors.jdbc.sink_config import SinkConfig

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

T = TypeVar("T")

_REMEMBERED: Final = 256

#: Both drivers' words for "this client may send files", and for batches in one statement.
_SENDS_FILES: Final = {"allowLocalInfile": "true", "allowLoadLocalInfile": "true"}
_BIG_BATCHES: Final = {"rewriteBatchedStatements": "true", "reWriteBatchedInserts": "true"}


class Target:
    """Everything that lives as long as a Spark session does. For one thread."""

    def __init__(
        self,
        config: SinkConfig,
        settings: ConnectionSettings,
        spark: SparkSession,
        *,
        stopping: Callable[[], bool],
    ) -> None:
        self.spark = spark
        self.dialect = config.dialect
        self.database = open_database(config, settings, spark, stopping=stopping)
        self.writing = _writing(self.dialect)
        self.structure = Structure(
            self.database,
            self.writing,
            create=config.auto_create,
            evolve=config.auto_evolve,
            kinds=config.table_kinds,
        )
        self._batch_size = config.batch_size
        self._settings = settings
        self._loader: Loader | None = None
        self._made: dict[Hashable, Any] = {}

    @property
    def loader(self) -> Loader:
        """The quickest way into this database that there is."""
        if self._loader is None:
            self._loader = self._bulk_loader() or self._batch_loader()
            log.info("Rows go to %s by %s", self._settings.place, type(self._loader).__name__)
        return self._loader

    def _bulk_loader(self) -> Loader | None:
        # Executors on other machines have no files that the driver could load.
        if not (self.spark.sparkContext.master or "").startswith("local"):
            return None
        if isinstance(self.dialect, PostgreSqlDialect):
            return CopyLoader(self.database)
        if isinstance(self.dialect, MySqlDialect):
            [(files, mode)] = self.database.query("SELECT @@local_infile, @@sql_mode")
            if int(files):
                strict = "STRICT_" in str(mode)
                return LoadDataLoader(self.database, strict=strict)
            log.info("The server has local_infile=OFF: rows go in as JDBC batches")
        return None

    def _batch_loader(self) -> Loader:
        form = Form.SQLITE if isinstance(self.dialect, SqliteDialect) else Form.JDBC
        settings = replace(self._settings, properties={**_BIG_BATCHES, **self._settings.properties})
        options = self.dialect.spark_options(settings, self.database.driver_class)
        return BatchLoader(form, options, self._batch_size)

    def remembered(self, place: Hashable, make: Callable[[], T]) -> T:
        """What was made for this place: an expression takes dozens of calls to Spark's JVM."""
        if place not in self._made:
            if len(self._made) >= _REMEMBERED:
                self._made.clear()
            self._made[place] = make()
        found: T = self._made[place]
        return found

    def close(self) -> None:
        self.database.close()


def open_database(
    config: SinkConfig,
    settings: ConnectionSettings,
    spark: SparkSession,
    *,
    stopping: Callable[[], bool],
) -> Database:
    """A connection of its own."""
    dialect = config.dialect
    if isinstance(dialect, MySqlDialect):
        settings = replace(settings, properties={**_SENDS_FILES, **settings.properties})
    jvm = spark._jvm  # noqa: SLF001 - pyspark's own way to the JVM
    return Database(settings, dialect, jvm, stopping=stopping)


def _writing(dialect: Dialect) -> Writing:
    kinds: dict[type[Dialect], type[Writing]] = {
        MySqlDialect: MySqlWriting,
        PostgreSqlDialect: PostgreSqlWriting,
        SqliteDialect: SqliteWriting,
    }
    return kinds.get(type(dialect), Writing)(dialect.quote)
