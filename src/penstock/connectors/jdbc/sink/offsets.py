"""Exactly once: the offsets stand in the target database and change in the batch's transaction."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from penstock.api.sink import OffsetRange
from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.tables import TableId
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.data.schema import SchemaType
from penstock.kernel.errors import DataError, PenstockError, RetriableError

log = logging.getLogger(__name__)

_TOPIC_ID: Final = "topic_id"


class MovedOnError(RetriableError):
    """Somebody else wrote records of this batch: the task has to ask again where to begin."""


class OffsetTable:
    """The offsets of one connector: where the next batch of each partition begins."""

    def __init__(self, table: TableId, connector: str) -> None:
        self._table = table
        self._connector = connector

    def prepare(self, database: Database) -> None:
        """Make the table unless it is there; older ones get the column for the topics' ids."""
        if self._is_complete(database):
            return
        name = database.dialect.qualified(self._table)
        change = (
            f"ALTER TABLE {name} ADD {_id_column(database)}"
            if self._columns(database)
            else self._creation(database)
        )
        try:
            database.execute(change)
        except DataError:
            if not self._is_complete(database):  # Else another task was quicker.
                raise

    def _is_complete(self, database: Database) -> bool:
        return _TOPIC_ID in self._columns(database)

    def _columns(self, database: Database) -> list[str]:
        try:
            return [column.name for column in database.metadata.columns(self._table)]
        except DataError:
            return []

    def _creation(self, database: Database) -> str:
        dialect, columns = database.dialect, database.dialect.creating
        quote, text = dialect.quote, columns.short_text_type
        int32, int64 = columns.types[SchemaType.INT32], columns.types[SchemaType.INT64]
        return (
            f"CREATE TABLE {dialect.qualified(self._table)}"
            f" ({quote('connector')} {text.format(length=255)} NOT NULL,"
            f" {quote('topic')} {text.format(length=249)} NOT NULL,"
            f" {quote('part')} {int32} NOT NULL, {quote('next_offset')} {int64} NOT NULL,"
            f" {_id_column(database)},"
            f" PRIMARY KEY ({quote('connector')}, {quote('topic')}, {quote('part')}))"
        )

    def read(
        self, database: Database, partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, int]:
        """What is stored for these partitions; those without an offset are absent."""
        return {each: offset for each, (offset, _) in self._read(database, partitions).items()}

    def starts(
        self,
        database: Database,
        partitions: Collection[TopicPartition],
        ids: Mapping[str, str],
        *,
        begin: bool,
    ) -> dict[TopicPartition, int]:
        """As read(), with a look at whose offsets they are.

        Args:
            ids: those of the topics as they are now, as far as they are known.
            begin: whether to begin topics that were made anew.

        Raises:
            PenstockError: a topic was made anew, and it is not to be begun.
        """
        starts: dict[TopicPartition, int] = {}
        for each, (offset, known) in self._read(database, partitions).items():
            now = ids.get(each.topic)
            starts[each] = offset
            if now is None or known in (None, now):
                continue
            if not begin:
                raise PenstockError(
                    f"topic {each.topic} was deleted and made again (its id was {known}, now it is"
                    f" {now}), so the offset {offset} of partition {each.partition} in"
                    f" {self._table} is not of its records; set exactly.once.new.topic=begin to"
                    " write the new topic from its first record, or delete its rows there"
                )
            log.warning("%s begins at 0: its topic was deleted and made again", each)
            self._begin(database, each, offset, now)
            starts[each] = 0
        return starts

    def _begin(self, database: Database, each: TopicPartition, offset: int, now: str) -> None:
        # Only if nobody has moved it on: else that is found at the next batch.
        self._update(database, OffsetRange(each, 0, 0), offset, now)

    def _read(
        self, database: Database, partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, tuple[int, str | None]]:
        quote = database.dialect.quote
        rows = database.query(
            f"SELECT {quote('topic')}, {quote('part')}, {quote('next_offset')}, {quote(_TOPIC_ID)}"
            f" FROM {database.dialect.qualified(self._table)} WHERE {quote('connector')} = ?",
            self._connector,
            limit=1_000_000,
        )
        found = {
            TopicPartition(str(row[0]), int(row[1])): (int(row[2]), row[3] and str(row[3]))
            for row in rows
        }
        return {partition: found[partition] for partition in partitions if partition in found}

    def advance(
        self,
        database: Database,
        ranges: Iterable[OffsetRange],
        stored: Mapping[TopicPartition, int],
        ids: Mapping[str, str],
    ) -> None:
        """Inside the batch's transaction: move on from what was stored to the ends of the ranges.

        Whoever comes second waits here for the first, and then finds another offset than the one
        it knows: two tasks can't both commit a range, even if one of them is thought dead.

        Raises:
            MovedOnError: somebody else wrote these records meanwhile.
        """
        for each in sorted(ranges, key=_place):
            known, topic_id = stored.get(each.partition), ids.get(each.partition.topic)
            changed = (
                self._insert(database, each, topic_id)
                if known is None
                else self._update(database, each, known, topic_id)
            )
            if not changed:
                raise MovedOnError(
                    f"{each.partition}: the offset in {self._table} is not {known} any more;"
                    " another task has written these records"
                )

    def _insert(self, database: Database, each: OffsetRange, topic_id: str | None) -> bool:
        table = database.dialect.qualified(self._table)
        quote = database.dialect.quote
        row: dict[str, object] = {
            "connector": self._connector,
            "topic": each.partition.topic,
            "part": each.partition.partition,
            "next_offset": each.end,
        }
        if topic_id is not None:
            row[_TOPIC_ID] = topic_id
        places = ", ".join("?" * len(row))
        try:
            database.execute(
                f"INSERT INTO {table} ({', '.join(map(quote, row))}) VALUES ({places})",
                *row.values(),
            )
        except DataError:
            return False  # The row is there by now.
        return True

    def _update(
        self, database: Database, each: OffsetRange, known: int, topic_id: str | None
    ) -> bool:
        table = database.dialect.qualified(self._table)
        quote = database.dialect.quote
        new: dict[str, object] = {"next_offset": each.end}
        if topic_id is not None:
            new[_TOPIC_ID] = topic_id
        changes = ", ".join(f"{quote(name)} = ?" for name in new)
        changed = database.execute(
            f"UPDATE {table} SET {changes} WHERE {quote('connector')} = ?"
            f" AND {quote('topic')} = ? AND {quote('part')} = ? AND {quote('next_offset')} = ?",
            *new.values(),
            *(self._connector, each.partition.topic, each.partition.partition, known),
        )
        return changed == 1


def _id_column(database: Database) -> str:
    kind = database.dialect.creating.short_text_type.format(length=36)
    return f"{database.dialect.quote(_TOPIC_ID)} {kind}"


def _place(each: OffsetRange) -> tuple[str, int]:
    """In one order everywhere, so that no two transactions wait for each other."""
    return each.partition.topic, each.partition.partition
