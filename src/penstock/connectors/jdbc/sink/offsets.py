"""Exactly once: the offsets stand in the target database and change in the batch's transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from penstock.api.sink import OffsetRange
from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.tables import TableId
from penstock.data.record import TopicPartition
from penstock.errors import DataError, RetriableError


class MovedOnError(RetriableError):
    """Somebody else wrote records of this batch: the task has to ask again where to begin."""


class OffsetTable:
    """The offsets of one connector: where the next batch of each partition begins."""

    def __init__(self, table: TableId, connector: str) -> None:
        self._table = table
        self._connector = connector

    def prepare(self, database: Database) -> None:
        """Make the table unless it is there."""
        if self._exists(database):
            return
        try:
            database.execute(self._creation(database))
        except DataError:
            if not self._exists(database):  # Else another task was quicker.
                raise

    def _exists(self, database: Database) -> bool:
        try:
            database.columns(self._table)
        except DataError:
            return False
        return True

    def _creation(self, database: Database) -> str:
        name, quote = database.dialect.qualified(self._table), database.dialect.quote
        return (
            f"CREATE TABLE {name} ({quote('connector')} VARCHAR(255) NOT NULL,"
            f" {quote('topic')} VARCHAR(249) NOT NULL, {quote('part')} INTEGER NOT NULL,"
            f" {quote('next_offset')} BIGINT NOT NULL,"
            f" PRIMARY KEY ({quote('connector')}, {quote('topic')}, {quote('part')}))"
        )

    def read(
        self, database: Database, partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, int]:
        """What is stored for these partitions; those without an offset are absent."""
        quote = database.dialect.quote
        rows = database.query(
            f"SELECT {quote('topic')}, {quote('part')}, {quote('next_offset')}"
            f" FROM {database.dialect.qualified(self._table)} WHERE {quote('connector')} = ?",
            self._connector,
            limit=1_000_000,
        )
        found = {TopicPartition(str(row[0]), int(row[1])): int(row[2]) for row in rows}
        return {partition: found[partition] for partition in partitions if partition in found}

    def advance(
        self,
        database: Database,
        ranges: Iterable[OffsetRange],
        stored: Mapping[TopicPartition, int],
    ) -> None:
        """Inside the batch's transaction: move on from what was stored to the ends of the ranges.

        Whoever comes second waits here for the first, and then finds another offset than the one
        it knows: two tasks can't both commit a range, even if one of them is thought dead.

        Raises:
            MovedOnError: somebody else wrote these records meanwhile.
        """
        for each in sorted(ranges, key=_place):
            known = stored.get(each.partition)
            changed = (
                self._insert(database, each)
                if known is None
                else self._update(database, each, known)
            )
            if not changed:
                raise MovedOnError(
                    f"{each.partition}: the offset in {self._table} is not {known} any more;"
                    " another task has written these records"
                )

    def _insert(self, database: Database, each: OffsetRange) -> bool:
        table = database.dialect.qualified(self._table)
        quote = database.dialect.quote
        names = ", ".join(map(quote, ("connector", "topic", "part", "next_offset")))
        topic, number = each.partition.topic, each.partition.partition
        try:
            database.execute(
                f"INSERT INTO {table} ({names}) VALUES (?, ?, ?, ?)",
                *(self._connector, topic, number, each.end),
            )
        except DataError:
            return False  # The row is there by now.
        return True

    def _update(self, database: Database, each: OffsetRange, known: int) -> bool:
        table = database.dialect.qualified(self._table)
        quote = database.dialect.quote
        changed = database.execute(
            f"UPDATE {table} SET {quote('next_offset')} = ? WHERE {quote('connector')} = ?"
            f" AND {quote('topic')} = ? AND {quote('part')} = ? AND {quote('next_offset')} = ?",
            *(each.end, self._connector, each.partition.topic, each.partition.partition, known),
        )
        return changed == 1


def _place(each: OffsetRange) -> tuple[str, int]:
    """In one order everywhere, so that no two transactions wait for each other."""
    return each.partition.topic, each.partition.partition
