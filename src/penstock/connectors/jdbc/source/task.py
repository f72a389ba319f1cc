"""The JDBC source's task: checks one table after another, and returns frames of new rows."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from penstock.api.connector import PartitionKey
from penstock.api.source import FrameSourceTask, Offsets, SourceBatch, SourceContext
from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.source.config import (
    AivenSourceConfig,
    ConfluentSourceConfig,
    SourceConfig,
)
from penstock.connectors.jdbc.source.layout import Layout
from penstock.connectors.jdbc.source.limits import Limits
from penstock.connectors.jdbc.source.origin import Origin
from penstock.connectors.jdbc.source.positions import (
    QUERY_PARTITION,
    SOURCE_MARK,
    Position,
    older_partitions,
    source_mark,
    table_partition,
)
from penstock.connectors.jdbc.source.reader import Reading, RowsReader
from penstock.connectors.jdbc.source.selection import tables_of
from penstock.connectors.jdbc.tables import TableId
from penstock.kernel.errors import DataError, RetriableError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.connectors.jdbc.source.frames import FrameReader

log = logging.getLogger(__name__)

#: The property that has the tables of a task.
TABLES: Final = "tables"


class JdbcSourceTask(FrameSourceTask):
    """Reads its tables in turn; one with a backlog gives way to the others after each chunk."""

    Config: ClassVar[type[SourceConfig]]

    def __init__(self, limits: Limits | None = None) -> None:
        self._given_limits = limits
        self._database: Database | None = None
        self._readers: list[RowsReader] = []
        self._absent: list[Origin] = []
        self._pending: deque[RowsReader] = deque()
        self._failures = 0
        self._frame_readers: dict[str, tuple[Layout, FrameReader]] = {}

    def start(self, config: Mapping[str, str], context: SourceContext) -> None:
        self._configure(config)
        self._context = context
        self.poll_interval_seconds = self._config.poll_interval_ms / 1000
        self._tables = tables_of(config[TABLES]) if config.get(TABLES) else []

    def check(
        self, config: Mapping[str, str], database: Database, tables: Sequence[TableId]
    ) -> None:
        """Look whether the tables, or the query, can be read; for one that is not started.

        Raises:
            ConfigError: the mode's columns are missing, or of other types.
            DataError: the database refuses the query, or a table.
        """
        self._configure(config)
        self._tables = list(tables)
        for origin in self._origins():
            RowsReader(origin, self._config, Limits(readers=1)).check(database)

    def _configure(self, config: Mapping[str, str]) -> None:
        self._config = self.Config.parse(config)
        self._settings = self._config.connection(config)
        self._dialect = self._config.dialect

    def read(self) -> SourceBatch | None:
        try:
            batch = self._read()
        except RetriableError as error:
            self._count_failure(error)
            raise
        self._failures = 0
        if skipped := sum(reader.skipped for reader in self._readers):
            self._context.show("skipped_numbers", skipped)
        return batch

    def explained(self, error: Exception) -> Exception:
        lost = self._dialect.faults.lost_in_job(str(error))
        return error if lost is None else RetriableError(self._settings.hide(lost))

    def stop(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            database.close()

    # ----------------------------------------------------------------------------------- turns

    def _read(self) -> SourceBatch | None:
        # The session is asked for only where it is needed: that takes calls into the JVM, too.
        database = self._database or self._opened(self._context.spark)
        if not self._pending:
            self._look_for_absent(database)
            self._pending.extend(self._readers)
        while self._pending:
            reader = self._pending.popleft()
            reading = self._look(database, reader)
            if reading is not None:
                if reading.more:
                    self._pending.append(reader)
                return self._batch(self._context.spark, database, reader.origin, reading)
        return None

    def _look(self, database: Database, reader: RowsReader) -> Reading | None:
        try:
            return reader.look(database, in_parts=self._context.stores_parts)
        except DataError:
            table = reader.origin.table
            if table is None or _exists(database, table):
                raise
            log.warning(
                "%s does not exist any more; reading continues if it is back", reader.origin
            )
            self._readers.remove(reader)
            self._absent.append(reader.origin)
            return None

    def _opened(self, spark: SparkSession) -> Database:
        database = Database(
            self._settings,
            self._dialect,
            spark._jvm,  # noqa: SLF001 - pyspark's own way to the JVM
            stopping=lambda: self._context.stopping,
        )
        self._absent = []
        self._readers = [*self._started(spark, database, self._origins())]
        for origin in self._absent:
            log.warning("%s does not exist; it is read once it does", origin)
        self._database = database
        return database

    def _look_for_absent(self, database: Database) -> None:
        """A table may be back before the connector has noticed that it was gone."""
        if not self._absent:
            return
        absent, self._absent = self._absent, []
        for reader in self._started(self._context.spark, database, absent):
            log.info("%s exists again", reader.origin)
            self._readers.append(reader)

    def _started(
        self, spark: SparkSession, database: Database, origins: Iterable[Origin]
    ) -> Iterator[RowsReader]:
        """Readers of those that are there; the others are absent."""
        limits = self._limits(spark)
        for origin in origins:
            reader = RowsReader(origin, self._config, limits)
            try:
                reader.start(database, self._stored(origin))
            except DataError:
                if origin.table is None or _exists(database, origin.table):
                    raise
                self._absent.append(origin)
            else:
                yield reader

    def _count_failure(self, error: RetriableError) -> None:
        self._failures += 1
        limit = self._config.retries
        if 0 <= limit < self._failures:
            raise DataError(f"{error}; all query.retry.attempts={limit} failed") from error

    # --------------------------------------------------------------------------------- origins

    def _origins(self) -> list[Origin]:
        config = self._config
        if config.row_source:
            query = config.row_source.strip().rstrip(";")
            mark = source_mark(self._settings.database, query)
            source = f"({query}) penstock_query"
            return [Origin(source, config.topic_prefix, QUERY_PARTITION, mark=mark)]
        return [self._table_origin(table) for table in self._tables]

    def _table_origin(self, table: TableId) -> Origin:
        topic = self._config.topic_prefix + table.name
        # A name without a catalog or schema is the same in every database.
        mark = source_mark(self._settings.database) if len(table.parts) == 1 else None
        return Origin(self._sql_name(table), topic, table_partition(table), table, mark)

    def _sql_name(self, table: TableId) -> str:
        named = table if self._config.qualified_names else TableId(table.name)
        return self._dialect.qualified(named)

    def _stored(self, origin: Origin) -> Mapping[str, Any] | None:
        """The stored offset, also under names that earlier versions and drivers gave."""
        others = [] if origin.table is None else older_partitions(origin.table)
        for partition in (origin.partition, *others):
            offset = self._context.offset(partition)
            if offset and offset.get(SOURCE_MARK, origin.mark) == origin.mark:
                return offset
            if offset:
                log.warning("The stored offset is of another source; %s is read again", origin)
        return None

    def _limits(self, spark: SparkSession) -> Limits:
        if self._given_limits is not None:
            return self._given_limits
        readers = spark.sparkContext.defaultParallelism
        return Limits(chunk_rows=self._config.chunk_rows, readers=readers)

    # ----------------------------------------------------------------------------------- batch

    def _batch(
        self, spark: SparkSession, database: Database, origin: Origin, reading: Reading
    ) -> SourceBatch:
        layout = reading.layout
        return SourceBatch(
            self._frames(spark, database, origin, layout).frame(reading.parts),
            origin.topic,
            layout.schema,
            offsets=_offsets(origin, reading.layout, reading.position),
            part_offsets=_part_offsets(origin, reading),
            more=bool(self._pending),
            kept=True,
        )

    def _frames(
        self, spark: SparkSession, database: Database, origin: Origin, layout: Layout
    ) -> FrameReader:
        """What makes the frames of an origin, as long as its layout does not change."""
        from penstock.connectors.jdbc.source.fields import TimeRules
        from penstock.connectors.jdbc.source.frames import FrameReader

        known = self._frame_readers.get(origin.source)
        if known is not None and known[0] is layout:
            return known[1]
        config = self._config
        options = self._dialect.connecting.spark_options(self._settings, database.driver_class)
        size = self._dialect.connecting.fetch_size(self._settings, config.batch_max_rows)
        rules = TimeRules(config.db_timezone, config.granularity, config.legacy_calendar)
        options["fetchsize"] = str(size)
        made = FrameReader(spark, options, origin.source, layout.fields, rules)
        self._frame_readers[origin.source] = (layout, made)
        return made


class ConfluentJdbcSourceTask(JdbcSourceTask):
    """The task of Confluent's connector class."""

    java_name: ClassVar[str] = "io.confluent.connect.jdbc.source.JdbcSourceTask"
    Config = ConfluentSourceConfig


class AivenJdbcSourceTask(JdbcSourceTask):
    """The task of Aiven's connector class."""

    java_name: ClassVar[str] = "io.aiven.connect.jdbc.source.JdbcSourceTask"
    Config = AivenSourceConfig


def _exists(database: Database, table: TableId) -> bool:
    found = database.metadata.tables(
        (
            "TABLE",
            "VIEW",
            "SYSTEM TABLE",
            "PARTITIONED TABLE",
            "FOREIGN TABLE",
            "MATERIALIZED VIEW",
        ),
        catalog=table.catalog,
        schema=table.schema,
    )
    return any(each.id.name == table.name for each in found)


def _part_offsets(origin: Origin, reading: Reading) -> list[Offsets]:
    found: list[Offsets] = []
    form = reading.layout.form
    for position in reading.between:
        # A time that clocks skip when summer begins can't be stored; what is true earlier is still.
        exact = form.position(form.offset(position)) == position
        known = found[-1] if found else {}
        found.append(_offsets(origin, reading.layout, position) if exact else known)
    return found


def _offsets(origin: Origin, layout: Layout, position: Position | None) -> Offsets:
    if position is None:
        # Mode bulk: as in Connect a null shows that it was read, and where offsets would be.
        return {PartitionKey.of(origin.partition): None}
    mark = {SOURCE_MARK: origin.mark} if origin.mark else {}
    offset = {**layout.form.offset(position), **mark}
    return {PartitionKey.of(origin.partition): offset}
