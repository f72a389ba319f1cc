"""A task of a JDBC sink: each batch is one transaction of the target database."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Set
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from penstock.api.sink import FrameSinkTask, SinkBatch, SinkContext, SinkTraits
from penstock.connectors.jdbc.dialects.merging import Merge
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.sink.config import (
    BEGIN,
    AivenSinkConfig,
    JdbcSinkConfig,
    SinkConfig,
)
from penstock.connectors.jdbc.sink.offsets import MovedOnError, OffsetTable
from penstock.connectors.jdbc.sink.refusals import translated
from penstock.connectors.jdbc.sink.staging import (
    drop,
    drop_forgotten,
    merge_staged,
    needs_staging,
    stage,
)
from penstock.connectors.jdbc.sink.table_rows import TableRows, load_rows, rows_by_table
from penstock.connectors.jdbc.sink.target import Target, open_database
from penstock.connectors.jdbc.spool import remove_leftovers
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import PenstockError, RetriableError, SessionLostError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

_LOOK_SECONDS: Final = 0.1


class JdbcSinkTask(FrameSinkTask):
    """Writes records to the tables of their topics."""

    Config: ClassVar[type[SinkConfig]] = JdbcSinkConfig
    # Several for each core: while one is loaded the next ones are made.
    traits = SinkTraits(pieces_per_core=4, one_topic=True)

    def __init__(self) -> None:
        self._target: Target | None = None
        #: Parts of a batch that wait in staging tables for its last part.
        self._pending: list[Merge] = []

    def start(self, config: Mapping[str, str], context: SinkContext) -> None:
        self._context = context
        self._config = self.Config.parse(config)
        self._settings: ConnectionSettings = self._config.connection(config)
        self.traits = replace(self.traits, keeps_offsets=self._config.exactly_once)
        table = self._config.dialect.table_id(self._config.exactly_once_table)
        self._offsets = OffsetTable(table, config.get("name", ""))
        self._offsets_ready = False
        self._topic_ids: Mapping[str, str] = {}
        remove_leftovers()
        self._try_login(context.spark)

    def _try_login(self, spark: SparkSession) -> None:
        """Whoever waits for the task should know now that a login is wrong, not with a record."""
        once = replace(self._settings, attempts=1)
        made = open_database(self._config, once, spark, stopping=self._stopping)
        with closing(made) as database:
            try:
                database.connect()
            except SessionLostError:
                raise
            except RetriableError as error:
                # It may be back when the first record is there; write() has its own patience.
                log.warning("The database does not answer: %s", error)

    def starting_offsets(self, partitions: Set[TopicPartition]) -> Mapping[TopicPartition, int]:
        if not self._config.exactly_once:
            return {}
        ids = self._context.topic_ids({each.topic for each in partitions})
        # Not the connection of the batches: one of them may be on its way.
        spark, stopping = self._context.spark, self._stopping
        made = open_database(self._config, self._settings, spark, stopping=stopping)
        with closing(made) as database:
            self._offsets.prepare(database)
            begin = self._config.exactly_once_new_topic == BEGIN
            starts = self._offsets.starts(database, partitions, ids, begin=begin)
        self._topic_ids = {**self._topic_ids, **ids}
        return starts

    def write(self, batch: SinkBatch) -> None:
        # Parts before this one go with their connection: then all of them have to be repeated.
        alone = not self._pending
        for attempt in range(1, self._config.max_retries + 2):
            try:
                self._write(batch)
            except (SessionLostError, MovedOnError):
                raise
            except RetriableError as error:
                if not alone or self._stopping():
                    raise
                self._rest_before(attempt, error)
            else:
                return

    def _rest_before(self, attempt: int, error: RetriableError) -> None:
        most = self._config.max_retries
        if attempt > most:
            raise PenstockError(
                f"given up after max.retries={most} repetitions: {error}"
            ) from error
        log.warning("Repeating the batch (%d of %d): %s", attempt, most, error)
        end = time.monotonic() + self._config.retry_backoff_ms / 1000
        while time.monotonic() < end:
            if self._stopping():
                raise error
            time.sleep(_LOOK_SECONDS)

    def discard(self, batch: SinkBatch) -> None:
        # write() leaves nothing of a batch that failed; what waited for it is of no use any more.
        del batch
        self._drop(self._pending)
        self._pending = []

    def stop(self) -> None:
        self._close_target()

    # ----------------------------------------------------------------------------- a batch

    def _write(self, batch: SinkBatch) -> None:
        target = self._live_target()
        stored = self._stored(target, batch)
        if stored is None:
            return  # The database committed it, though its answer was lost.
        try:
            rows = [] if batch.only_offsets else list(rows_by_table(target, batch))
            if self._config.exactly_once and batch.more:
                self._pending += [stage(target, each) for each in rows]
            elif self._goes_straight(target, rows):
                self._load(target, batch, rows, stored)
            else:
                self._merge(target, batch, rows, stored)
        except Exception as error:
            target.tables.forget()
            found = translated(
                error,
                self._settings.hide,
                target.dialect.faults,
                trim=self._config.trims_errors,
                ranges=batch.ranges,
            )
            if found is error:
                raise
            raise found from None  # The trace of Java has whatever the driver says.

    def _goes_straight(self, target: Target, rows: list[TableRows]) -> bool:
        if needs_staging(self._config) or self._pending:
            return False
        # What is not in our transaction must be one of its own, and the only one.
        alone = len(rows) == 1 and not self._config.exactly_once
        return target.loader.in_transaction or alone

    def _load(
        self,
        target: Target,
        batch: SinkBatch,
        rows: list[TableRows],
        stored: Mapping[TopicPartition, int],
    ) -> None:
        if not target.loader.in_transaction:
            self._load_table(target, rows[0])
            return
        with target.database.transaction():
            self._advance(target, batch, stored)
            for each in rows:
                self._load_table(target, each)

    def _load_table(self, target: Target, rows: TableRows) -> None:
        load_rows(target, rows, target.dialect.qualified(rows.table), staged=False)

    def _merge(
        self,
        target: Target,
        batch: SinkBatch,
        rows: list[TableRows],
        stored: Mapping[TopicPartition, int],
    ) -> None:
        staged, self._pending = self._pending, []
        try:
            for each in rows:
                staged.append(stage(target, each))
            with target.database.transaction():
                self._advance(target, batch, stored)
                for merge in staged:
                    merge_staged(target, merge)
        finally:
            self._drop(staged)

    def _drop(self, staged: list[Merge]) -> None:
        if self._target is not None:
            for each in staged:
                drop(self._target, each.staging)

    # -------------------------------------------------------------------- exactly once

    def _stored(self, target: Target, batch: SinkBatch) -> Mapping[TopicPartition, int] | None:
        """The offsets in the target; None if this very batch is there already.

        Raises:
            MovedOnError: a part of it is; the task has to begin elsewhere.
        """
        if not self._config.exactly_once:
            return {}
        if not self._offsets_ready:
            self._offsets.prepare(target.database)
            self._offsets_ready = True
        partitions = [each.partition for each in batch.ranges]
        stored = self._offsets.read(target.database, partitions)
        if all(stored.get(each.partition) == each.end for each in batch.ranges):
            return None
        for each in batch.ranges:
            if stored.get(each.partition, 0) > each.start:
                raise MovedOnError(
                    f"{each.partition}: records up to offset {stored[each.partition]} are in the"
                    f" target already, the batch begins at {each.start}"
                )
        return stored

    def _advance(
        self, target: Target, batch: SinkBatch, stored: Mapping[TopicPartition, int]
    ) -> None:
        if self._config.exactly_once:
            self._offsets.advance(target.database, batch.ranges, stored, self._topic_ids)

    # ------------------------------------------------------------------------- the rest

    def _live_target(self) -> Target:
        spark = self._context.spark
        if self._target is None or self._target.spark is not spark:
            self._close_target()
            self._target = Target(self._config, self._settings, spark, stopping=self._stopping)
            if not self._target.loader.in_transaction:
                drop_forgotten(self._target)
        return self._target

    def _close_target(self) -> None:
        target, self._target = self._target, None
        if target is not None:
            target.close()

    def _stopping(self) -> bool:
        return self._context.stopping


class AivenSinkTask(JdbcSinkTask):
    """The same with Aiven's keys."""

    Config = AivenSinkConfig
