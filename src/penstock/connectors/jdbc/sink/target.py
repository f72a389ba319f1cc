"""A target database as one Spark session sees it: connection, tables, and the way rows take."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.dialects.loading import Loader
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.sink.config import SinkConfig
from penstock.connectors.jdbc.sink.loading import BatchLoader
from penstock.connectors.jdbc.sink.target_tables import TargetTables
from penstock.connectors.jdbc.sink.value_rules import ValueRules, rules_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

T = TypeVar("T")

_REMEMBERED: Final = 256


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
        self.config = config
        self.spark = spark
        self.dialect = config.dialect
        self.database = open_database(config, settings, spark, stopping=stopping)
        self.tables = TargetTables(
            self.database,
            create=config.auto_create,
            evolve=config.auto_evolve,
            kinds=config.table_kinds,
        )
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

    @property
    def value_rules(self) -> ValueRules:
        """How values leave Spark for the loader."""
        return rules_of(self.config, self.loader.form)

    def _bulk_loader(self) -> Loader | None:
        # Executors on other machines have no files that the driver could load.
        if not (self.spark.sparkContext.master or "").startswith("local"):
            return None
        return self.dialect.bulk_loader(self.database)

    def _batch_loader(self) -> Loader:
        settings = _with_defaults(self._settings, self.dialect.connecting.batch_properties())
        options = self.dialect.connecting.spark_options(settings, self.database.driver_class)
        return BatchLoader(self.dialect.batch_form, options, self.config.batch_size)

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
    settings = _with_defaults(settings, dialect.connecting.loading_properties())
    jvm = spark._jvm  # noqa: SLF001 - pyspark's own way to the JVM
    return Database(settings, dialect, jvm, stopping=stopping)


def _with_defaults(settings: ConnectionSettings, properties: dict[str, str]) -> ConnectionSettings:
    return replace(settings, properties={**properties, **settings.properties})
