"""The SQL of staging tables, and of what brings a target up to date from one.

Rows of a batch that can't go straight into the target are loaded into a staging table, which has
the columns of the batch and two more: the row's place in the batch, and whether it is a tombstone.
A few statements then bring the target up to date, in one transaction.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from penstock.connectors.jdbc.dialects.creating import Creating, NewColumn
from penstock.connectors.jdbc.tables import TableId
from penstock.kernel.data.schema import SchemaType

#: The two columns that a staging table has besides those of the batch.
SEQUENCE: Final = "penstock_seq"
TOMBSTONE: Final = "penstock_gone"


class WriteMode(StrEnum):
    """How a record changes its table; the values are those of `insert.mode`."""

    INSERT = "insert"
    UPSERT = "upsert"
    UPDATE = "update"


@dataclass(frozen=True, slots=True)
class Merge:
    """How to merge the rows of a staging table. Table names are quoted already.

    `keys` and `others` are the columns of the batch; `deletes`: tombstones may be among the rows.
    """

    mode: WriteMode
    target: str
    staging: str
    keys: tuple[str, ...]
    others: tuple[str, ...]
    deletes: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.keys, *self.others)

    @property
    def changed(self) -> tuple[str, ...]:
        """The columns an update sets; where there are only keys, a key to what it is."""
        return self.others or self.keys[:1]


class Merging:
    """Standard SQL, without a statement for an upsert."""

    def __init__(self, creating: Creating) -> None:
        self.creating = creating
        self.notation = creating.notation
        self.sequence = self.notation.quote(SEQUENCE)

    # --------------------------------------------------------------------------- staging

    def staging_id(self, target: TableId, name: str) -> TableId:
        """Where the staging table stands: beside the target."""
        return replace(target, name=name)

    def create_staging(
        self, staging: str, target: str, columns: Sequence[NewColumn], *, private: bool
    ) -> str:
        """A table for the rows of a batch, without any rule a row could break.

        `private`: this session loads it too, so that no other needs to see it.
        """
        del target, private
        quote = self.notation.quote
        specs = [f"{quote(each.name)} {self.creating.column_type(each)}" for each in columns]
        int64, int16 = (self.creating.types[each] for each in (SchemaType.INT64, SchemaType.INT16))
        specs += [f"{self.sequence} {int64}", f"{quote(TOMBSTONE)} {int16}"]
        return f"CREATE TABLE {staging} ({', '.join(specs)})"

    def index_staging(self, merge: Merge) -> list[str]:
        """Statements, run after loading, that make those of merge() quick."""
        if merge.mode is WriteMode.INSERT and not merge.deletes:
            return []
        name = self.notation.quote(f"ix_{zlib.crc32(merge.staging.encode()):x}")
        columns = self.notation.quoted((*merge.keys, SEQUENCE))
        return [f"CREATE INDEX {name} ON {merge.staging} ({columns})"]

    def drop_staging(self, staging: str) -> str:
        return f"DROP TABLE {staging}"

    # ----------------------------------------------------------------------------- merge

    def merge(self, merge: Merge) -> list[str]:
        """Statements that bring the target up to date from the staging table, in order.

        For each key the rows count in their order: a tombstone deletes what was before it.
        """
        texts = (
            [self.delete_by_tombstones(merge), self.drop_deleted(merge)] if merge.deletes else []
        )
        match merge.mode:
            case WriteMode.INSERT:
                return [*texts, self.insert(merge)]
            case WriteMode.UPSERT:
                return [*texts, self.keep_last(merge), *self.upsert(merge)]
            case WriteMode.UPDATE:
                return [*texts, self.keep_last(merge), self.update(merge)]

    def delete_by_tombstones(self, merge: Merge) -> str:
        """Delete the target's rows whose key has a tombstone in the batch."""
        same = self.same(merge.keys, "g", merge.target)
        found = f"SELECT 1 FROM {merge.staging} g WHERE {self.is_tombstone('g')} AND {same}"
        return f"DELETE FROM {merge.target} WHERE EXISTS ({found})"

    def drop_deleted(self, merge: Merge) -> str:
        """Take tombstones, and the rows that stand before one of their key, out of the batch."""
        return self._drop_before(merge, f" AND {self.is_tombstone('l')}", "<=")

    def keep_last(self, merge: Merge) -> str:
        """Leave only the last row of each key in the batch."""
        return self._drop_before(merge, "", "<")

    def _drop_before(self, merge: Merge, condition: str, before: str) -> str:
        same = self.same(merge.keys, "l", merge.staging)
        last = f"SELECT MAX(l.{self.sequence}) FROM {merge.staging} l WHERE {same}{condition}"
        return f"DELETE FROM {merge.staging} WHERE {self.sequence} {before} ({last})"

    def insert(self, merge: Merge) -> str:
        columns = self.notation.quoted(merge.columns)
        return (
            f"INSERT INTO {merge.target} ({columns}) SELECT {columns}"
            f" FROM {merge.staging} ORDER BY {self.sequence}"
        )

    def upsert(self, merge: Merge) -> list[str]:
        columns = self.notation.quoted(merge.columns)
        known = self.same(merge.keys, merge.target, "s")
        missing = (
            f"INSERT INTO {merge.target} ({columns}) SELECT {columns} FROM {merge.staging} s"
            f" WHERE NOT EXISTS (SELECT 1 FROM {merge.target} WHERE {known})"
        )
        return [self.update(merge), missing] if merge.others else [missing]

    def update(self, merge: Merge) -> str:
        same = self.same(merge.keys, "s", merge.target)
        values = ", ".join(
            f"{name} = (SELECT s.{name} FROM {merge.staging} s WHERE {same})"
            for name in map(self.notation.quote, merge.changed)
        )
        found = f"SELECT 1 FROM {merge.staging} s WHERE {same}"
        return f"UPDATE {merge.target} SET {values} WHERE EXISTS ({found})"

    # ----------------------------------------------------------------------------- parts

    def same(self, keys: Sequence[str], left: str, right: str) -> str:
        """The condition that two rows have the same key."""
        quoted = map(self.notation.quote, keys)
        return " AND ".join(f"{left}.{name} = {right}.{name}" for name in quoted)

    def is_tombstone(self, alias: str) -> str:
        """The condition that a row of the staging table is a tombstone."""
        return f"{alias}.{self.notation.quote(TOMBSTONE)} = 1"

    def on_conflict(self, merge: Merge) -> str:
        """The clause of PostgreSQL, SQLite and others that makes an upsert of an INSERT."""
        keys = self.notation.quoted(merge.keys)
        if not merge.others:
            return f"ON CONFLICT ({keys}) DO NOTHING"
        names = map(self.notation.quote, merge.others)
        values = ", ".join(f"{name} = EXCLUDED.{name}" for name in names)
        return f"ON CONFLICT ({keys}) DO UPDATE SET {values}"
