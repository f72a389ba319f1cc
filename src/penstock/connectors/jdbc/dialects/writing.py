"""The SQL texts of writing: tables, columns, staging, and what goes from there to the target.

Rows of a batch that can't go straight into the target are loaded into a staging table, which has
the columns of the batch and two more: the row's place in the batch, and whether it is a tombstone.
A few statements then bring the target up to date, in one transaction.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar, Final

from penstock.connectors.jdbc.dialects.literals import literal
from penstock.connectors.jdbc.tables import TableId
from penstock.data.schema import DATE, TIME, TIMESTAMP, Schema, SchemaType
from penstock.errors import UnfitError

SEQUENCE: Final = "penstock_seq"
GONE: Final = "penstock_gone"


class WriteMode(StrEnum):
    """What becomes of a record in its table; the values are those of `insert.mode`."""

    INSERT = "insert"
    UPSERT = "upsert"
    UPDATE = "update"


@dataclass(frozen=True, slots=True)
class NewColumn:
    """A column that has to be made for a field."""

    name: str
    schema: Schema
    key: bool = False

    @property
    def required(self) -> bool:
        return self.key or not self.schema.optional


@dataclass(frozen=True, slots=True)
class Merge:
    """What has to happen with the rows of a staging table. Table names are quoted already.

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


class Writing:
    """Standard SQL, for databases without a class of their own here."""

    types: ClassVar[dict[SchemaType | str, str]] = {
        SchemaType.INT8: "SMALLINT",
        SchemaType.INT16: "SMALLINT",
        SchemaType.INT32: "INTEGER",
        SchemaType.INT64: "BIGINT",
        SchemaType.FLOAT32: "REAL",
        SchemaType.FLOAT64: "DOUBLE PRECISION",
        SchemaType.BOOLEAN: "SMALLINT",
        SchemaType.STRING: "VARCHAR(4000)",
        SchemaType.BYTES: "BLOB",
        DATE: "DATE",
        TIME: "TIME",
        TIMESTAMP: "TIMESTAMP",
    }
    decimal_type: ClassVar[str] = "DECIMAL(38,{scale})"
    #: The type of a text that is a part of the primary key, where it can't be the usual one.
    key_text_type: ClassVar[str] = "VARCHAR(255)"
    #: Whether one statement adds several columns.
    adds_many: ClassVar[bool] = False

    def __init__(self, quote: Callable[[str], str]) -> None:
        self.quote = quote

    # ---------------------------------------------------------------------------- tables

    def column_type(self, column: NewColumn) -> str:
        """The type for a field.

        Raises:
            UnfitError: the database has none for it.
        """
        schema = column.schema
        if schema.is_decimal:
            return self.decimal_type.format(scale=schema.scale)
        found = self.types.get(schema.name or "") or self.types.get(schema.type)
        if found is None:
            raise UnfitError(
                f"field {column.name} has type {schema.type.name}, for which the database has no"
                " column type; flatten it, leave it out (fields.whitelist, ReplaceField) or cast it"
            )
        if column.key and schema.type is SchemaType.STRING:
            return self.key_text_type
        return found

    def create_table(self, table: str, columns: Sequence[NewColumn]) -> str:
        specs = [self._specification(column) for column in columns]
        keys = [self.quote(column.name) for column in columns if column.key]
        if keys:
            specs.append(f"PRIMARY KEY({','.join(keys)})")
        return f"CREATE TABLE {table} (\n" + ",\n".join(specs) + ")"

    def add_columns(self, table: str, columns: Sequence[NewColumn]) -> list[str]:
        added = [f"ADD {self._specification(column)}" for column in columns]
        if self.adds_many:
            return [f"ALTER TABLE {table} " + ",\n".join(added)]
        return [f"ALTER TABLE {table} {each}" for each in added]

    def _specification(self, column: NewColumn) -> str:
        text = f"{self.quote(column.name)} {self.column_type(column)}"
        if column.schema.default is not None:
            return f"{text} DEFAULT {self.default(column)}"
        return f"{text} {'NOT NULL' if column.required else 'NULL'}"

    def default(self, column: NewColumn) -> str:
        return literal(column.schema, column.schema.default)

    # --------------------------------------------------------------------------- staging

    def staging_id(self, target: TableId, name: str) -> TableId:
        """Where the staging table stands: beside the target."""
        return replace(target, name=name)

    def create_staging(
        self, staging: str, target: str, columns: Sequence[NewColumn], *, own: bool
    ) -> str:
        """A table for the rows of a batch, without any rule a row could break.

        `own`: this session loads it too, so that no other needs to see it.
        """
        del target, own
        specs = [f"{self.quote(each.name)} {self.column_type(each)}" for each in columns]
        specs += [f"{self.quote(SEQUENCE)} BIGINT", f"{self.quote(GONE)} SMALLINT"]
        return f"CREATE TABLE {staging} ({', '.join(specs)})"

    def index_staging(self, merge: Merge) -> list[str]:
        """What makes the statements of merge() quick once the rows are there."""
        if merge.mode is WriteMode.INSERT and not merge.deletes:
            return []
        name = self.quote(f"ix_{zlib.crc32(merge.staging.encode()):x}")
        columns = self.names((*merge.keys, SEQUENCE))
        return [f"CREATE INDEX {name} ON {merge.staging} ({columns})"]

    def drop_staging(self, staging: str) -> str:
        return f"DROP TABLE {staging}"

    # ----------------------------------------------------------------------------- merge

    def merge(self, merge: Merge) -> list[str]:
        """Statements that bring the target up to date from the staging table, in order.

        For each key the rows count in their order: a tombstone deletes what was before it.
        """
        texts = [self.delete_gone(merge), self.drop_deleted(merge)] if merge.deletes else []
        match merge.mode:
            case WriteMode.INSERT:
                return [*texts, self.insert(merge)]
            case WriteMode.UPSERT:
                return [*texts, self.keep_last(merge), *self.upsert(merge)]
            case WriteMode.UPDATE:
                return [*texts, self.keep_last(merge), self.update(merge)]

    def delete_gone(self, merge: Merge) -> str:
        """Delete the target's rows whose key has a tombstone in the batch."""
        same = self.same(merge.keys, "g", merge.target)
        found = f"SELECT 1 FROM {merge.staging} g WHERE {self.is_gone('g')} AND {same}"
        return f"DELETE FROM {merge.target} WHERE EXISTS ({found})"

    def drop_deleted(self, merge: Merge) -> str:
        """Take tombstones, and the rows that stand before one of their key, out of the batch."""
        return self._drop_before(merge, f" AND {self.is_gone('l')}", "<=")

    def keep_last(self, merge: Merge) -> str:
        """Leave only the last row of each key in the batch."""
        return self._drop_before(merge, "", "<")

    def _drop_before(self, merge: Merge, condition: str, before: str) -> str:
        same = self.same(merge.keys, "l", merge.staging)
        last = f"SELECT MAX(l.{self.sequence}) FROM {merge.staging} l WHERE {same}{condition}"
        return f"DELETE FROM {merge.staging} WHERE {self.sequence} {before} ({last})"

    def insert(self, merge: Merge) -> str:
        columns = self.names(merge.columns)
        return (
            f"INSERT INTO {merge.target} ({columns}) SELECT {columns}"
            f" FROM {merge.staging} ORDER BY {self.sequence}"
        )

    def upsert(self, merge: Merge) -> list[str]:
        columns = self.names(merge.columns)
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
            for name in map(self.quote, _changed(merge))
        )
        found = f"SELECT 1 FROM {merge.staging} s WHERE {same}"
        return f"UPDATE {merge.target} SET {values} WHERE EXISTS ({found})"

    # ----------------------------------------------------------------------------- parts

    @property
    def sequence(self) -> str:
        return self.quote(SEQUENCE)

    def names(self, columns: Sequence[str], prefix: str = "") -> str:
        return ", ".join(prefix + self.quote(name) for name in columns)

    def same(self, keys: Sequence[str], left: str, right: str) -> str:
        quoted = map(self.quote, keys)
        return " AND ".join(f"{left}.{name} = {right}.{name}" for name in quoted)

    def is_gone(self, alias: str) -> str:
        return f"{alias}.{self.quote(GONE)} = 1"


def _changed(merge: Merge) -> tuple[str, ...]:
    """The columns an update sets; where there are only keys, a key to what it is."""
    return merge.others or merge.keys[:1]


class SqliteWriting(Writing):
    """SQLite: three kinds of number, and no statement for several columns."""

    types: ClassVar[dict[SchemaType | str, str]] = {
        **dict.fromkeys(
            (
                SchemaType.INT8,
                SchemaType.INT16,
                SchemaType.INT32,
                SchemaType.INT64,
                SchemaType.BOOLEAN,
            ),
            "INTEGER",
        ),
        SchemaType.FLOAT32: "REAL",
        SchemaType.FLOAT64: "REAL",
        SchemaType.STRING: "TEXT",
        SchemaType.BYTES: "BLOB",
        **dict.fromkeys((DATE, TIME, TIMESTAMP), "NUMERIC"),
    }
    decimal_type: ClassVar[str] = "NUMERIC"
    key_text_type: ClassVar[str] = "TEXT"

    def upsert(self, merge: Merge) -> list[str]:
        columns = self.names(merge.columns)
        # Without WHERE the parser takes ON for a part of a join.
        return [
            f"INSERT INTO {merge.target} ({columns}) SELECT {columns} FROM {merge.staging}"
            f" WHERE true {_on_conflict(self, merge)}"
        ]


def _on_conflict(writing: Writing, merge: Merge) -> str:
    keys = writing.names(merge.keys)
    if not merge.others:
        return f"ON CONFLICT ({keys}) DO NOTHING"
    values = ", ".join(f"{name} = EXCLUDED.{name}" for name in map(writing.quote, merge.others))
    return f"ON CONFLICT ({keys}) DO UPDATE SET {values}"


class PostgreSqlWriting(Writing):
    """PostgreSQL, whose statements join by hash and need no index."""

    types: ClassVar[dict[SchemaType | str, str]] = {
        **Writing.types,
        SchemaType.INT32: "INT",
        SchemaType.BOOLEAN: "BOOLEAN",
        SchemaType.STRING: "TEXT",
        SchemaType.BYTES: "BYTEA",
    }
    # A number of any size: the schema has a scale but no precision.
    decimal_type: ClassVar[str] = "DECIMAL"
    key_text_type: ClassVar[str] = "TEXT"
    adds_many: ClassVar[bool] = True

    def column_type(self, column: NewColumn) -> str:
        items = column.schema.value_schema
        if column.schema.type is SchemaType.ARRAY and items is not None:
            return self.column_type(NewColumn(column.name, items)) + "[]"
        return super().column_type(column)

    def default(self, column: NewColumn) -> str:
        value = column.schema.default
        if isinstance(value, bool):
            return str(value).upper()
        if isinstance(value, bytes):
            return f"'\\x{value.hex()}'"
        return super().default(column)

    def staging_id(self, target: TableId, name: str) -> TableId:
        # Temporary tables stand in a schema of their own.
        del target
        return TableId(name)

    def create_staging(
        self, staging: str, target: str, columns: Sequence[NewColumn], *, own: bool
    ) -> str:
        wanted = self.names([column.name for column in columns])
        return (
            f"CREATE {'TEMPORARY' if own else 'UNLOGGED'} TABLE {staging} AS SELECT {wanted},"
            f" 0::bigint AS {self.sequence}, 0::smallint AS {self.quote(GONE)}"
            f" FROM {target} WHERE false"
        )

    def index_staging(self, merge: Merge) -> list[str]:
        return [f"ANALYZE {merge.staging}"]

    def delete_gone(self, merge: Merge) -> str:
        keys = self.names(merge.keys)
        gone = f"SELECT DISTINCT {keys} FROM {merge.staging} g WHERE {self.is_gone('g')}"
        return (
            f"DELETE FROM {merge.target} t USING ({gone}) g WHERE {self.same(merge.keys, 't', 'g')}"
        )

    def _drop_before(self, merge: Merge, condition: str, before: str) -> str:
        keys = self.names(merge.keys)
        where = f" WHERE {condition.removeprefix(' AND ')}" if condition else ""
        # Keys that occur once are most of them, and none of our business.
        several = "" if condition else " HAVING COUNT(*) > 1"
        last = (
            f"SELECT {keys}, MAX({self.sequence}) AS {self.sequence} FROM {merge.staging} l{where}"
            f" GROUP BY {keys}{several}"
        )
        return (
            f"DELETE FROM {merge.staging} s USING ({last}) l WHERE"
            f" {self.same(merge.keys, 's', 'l')} AND s.{self.sequence} {before} l.{self.sequence}"
        )

    def insert(self, merge: Merge) -> str:
        # The rows stand in the order in which they were loaded; sorting would only take time.
        columns = self.names(merge.columns)
        return f"INSERT INTO {merge.target} ({columns}) SELECT {columns} FROM {merge.staging}"

    def upsert(self, merge: Merge) -> list[str]:
        return [f"{self.insert(merge)} {_on_conflict(self, merge)}"]

    def update(self, merge: Merge) -> str:
        names = map(self.quote, _changed(merge))
        values = ", ".join(f"{name} = s.{name}" for name in names)
        return (
            f"UPDATE {merge.target} t SET {values} FROM {merge.staging} s"
            f" WHERE {self.same(merge.keys, 't', 's')}"
        )


class MySqlWriting(Writing):
    """MariaDB and MySQL. A temporary table can't stand twice in one of MySQL's statements."""

    types: ClassVar[dict[SchemaType | str, str]] = {
        SchemaType.INT8: "TINYINT",
        SchemaType.INT16: "SMALLINT",
        SchemaType.INT32: "INT",
        SchemaType.INT64: "BIGINT",
        SchemaType.FLOAT32: "FLOAT",
        SchemaType.FLOAT64: "DOUBLE",
        SchemaType.BOOLEAN: "TINYINT",
        SchemaType.STRING: "TEXT",
        SchemaType.BYTES: "VARBINARY(1024)",
        DATE: "DATE",
        TIME: "TIME(3)",
        TIMESTAMP: "DATETIME(3)",
    }
    decimal_type: ClassVar[str] = "DECIMAL(65,{scale})"
    # A text of any length can't be indexed; this is the longest that fits into every row format.
    key_text_type: ClassVar[str] = "VARCHAR(256)"
    adds_many: ClassVar[bool] = True

    def default(self, column: NewColumn) -> str:
        text = literal(column.schema, column.schema.default, backslashes=True)
        # A TEXT may have an expression as its default, but no literal.
        return f"({text})" if self.column_type(column) == "TEXT" else text

    def create_staging(
        self, staging: str, target: str, columns: Sequence[NewColumn], *, own: bool
    ) -> str:
        wanted = self.names([column.name for column in columns], "t.")
        # From the outer side of a join the columns come without NOT NULL.
        return (
            f"CREATE {'TEMPORARY ' if own else ''}TABLE {staging} (PRIMARY KEY ({self.sequence}))"
            f" AS SELECT {wanted}, 9223372036854775807 AS {self.sequence},"
            f" 0 AS {self.quote(GONE)} FROM (SELECT 1) one LEFT JOIN {target} t ON FALSE LIMIT 0"
        )

    def index_staging(self, merge: Merge) -> list[str]:
        del merge
        return []

    def merge(self, merge: Merge) -> list[str]:
        texts = self._deletes(merge) if merge.deletes else []
        match merge.mode:
            case WriteMode.INSERT:
                return [*texts, self.insert(merge)]
            case WriteMode.UPSERT:
                return [*texts, *self.upsert(merge)]
            case WriteMode.UPDATE:
                return [*texts, *self._updates(merge)]

    def _deletes(self, merge: Merge) -> list[str]:
        last = self.quote("penstock_gone_keys")
        same = self.same(merge.keys, "g", "t")
        return [
            f"DROP TEMPORARY TABLE IF EXISTS {last}",
            self._last(merge, last, f" WHERE {self.is_gone('s')}"),
            f"DELETE t FROM {merge.target} t JOIN {last} g ON {same}",
            f"DELETE t FROM {merge.staging} t JOIN {last} g ON {same}"
            f" WHERE t.{self.sequence} <= g.{self.sequence}",
            f"DROP TEMPORARY TABLE {last}",
        ]

    def _last(self, merge: Merge, table: str, where: str) -> str:
        keys = self.names(merge.keys)
        return (
            f"CREATE TEMPORARY TABLE {table} AS SELECT {keys}, MAX({self.sequence})"
            f" AS {self.sequence} FROM {merge.staging} s{where} GROUP BY {keys}"
        )

    def upsert(self, merge: Merge) -> list[str]:
        # The rows come in their order, so the last one of a key wins without more ado.
        names = map(self.quote, _changed(merge))
        values = ", ".join(f"{name} = VALUES({name})" for name in names)
        return [f"{self.insert(merge)} ON DUPLICATE KEY UPDATE {values}"]

    def _updates(self, merge: Merge) -> list[str]:
        last = self.quote("penstock_last_keys")
        values = ", ".join(f"t.{name} = s.{name}" for name in map(self.quote, _changed(merge)))
        return [
            f"DROP TEMPORARY TABLE IF EXISTS {last}",
            self._last(merge, last, ""),
            f"UPDATE {merge.target} t JOIN {last} l ON {self.same(merge.keys, 'l', 't')}"
            f" JOIN {merge.staging} s ON s.{self.sequence} = l.{self.sequence} SET {values}",
            f"DROP TEMPORARY TABLE {last}",
        ]
