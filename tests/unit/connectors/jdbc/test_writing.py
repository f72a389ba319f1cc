"""The SQL texts of writing. What they do is proven with real databases; here is what they are."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from penstock.connectors.jdbc.dialects import Dialect, find_dialect
from penstock.connectors.jdbc.dialects.creating import NewColumn
from penstock.connectors.jdbc.dialects.merging import Merge, WriteMode
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.kernel.data.schema import (
    Schema,
    SchemaType,
    date_schema,
    decimal_schema,
    struct_schema,
    time_schema,
    timestamp_schema,
)
from penstock.kernel.errors import UnfitError

GENERIC, SQLITE, POSTGRESQL, MYSQL = (
    find_dialect(ConnectionSettings(f"jdbc:{scheme}:x"))
    for scheme in ("other", "sqlite", "postgresql", "mysql")
)
STRING = Schema(SchemaType.STRING, optional=True)
COLUMNS = [
    NewColumn("id", Schema(SchemaType.INT32), key=True),
    NewColumn("name", STRING),
    NewColumn("born", date_schema()),
    NewColumn("paid", decimal_schema(4, optional=True)),
    NewColumn("score", replace(Schema(SchemaType.FLOAT64), default=1.5)),
]
MERGE = Merge(WriteMode.UPSERT, "T", "S", ("k",), ("a", "b"))


def test_create_table_mysql() -> None:
    assert MYSQL.creating.create_table("`t`", COLUMNS) == (
        "CREATE TABLE `t` (\n`id` INT NOT NULL,\n`name` TEXT NULL,\n`born` DATE NOT NULL,\n"
        "`paid` DECIMAL(65,4) NULL,\n`score` DOUBLE DEFAULT 1.5,\nPRIMARY KEY(`id`))"
    )


def test_create_table_postgresql() -> None:
    assert POSTGRESQL.creating.create_table('"t"', COLUMNS) == (
        'CREATE TABLE "t" (\n"id" INT NOT NULL,\n"name" TEXT NULL,\n"born" DATE NOT NULL,\n'
        '"paid" DECIMAL NULL,\n"score" DOUBLE PRECISION DEFAULT 1.5,\nPRIMARY KEY("id"))'
    )


def test_create_table_sqlite() -> None:
    assert SQLITE.creating.create_table('"t"', COLUMNS) == (
        'CREATE TABLE "t" (\n"id" INTEGER NOT NULL,\n"name" TEXT NULL,\n"born" NUMERIC NOT NULL,\n'
        '"paid" NUMERIC NULL,\n"score" REAL DEFAULT 1.5,\nPRIMARY KEY("id"))'
    )


@pytest.mark.parametrize(
    ("schema", "mysql", "postgresql", "sqlite"),
    [
        (Schema(SchemaType.INT8), "TINYINT", "SMALLINT", "INTEGER"),
        (Schema(SchemaType.INT16), "SMALLINT", "SMALLINT", "INTEGER"),
        (Schema(SchemaType.INT64), "BIGINT", "BIGINT", "INTEGER"),
        (Schema(SchemaType.FLOAT32), "FLOAT", "REAL", "REAL"),
        (Schema(SchemaType.BOOLEAN), "TINYINT", "BOOLEAN", "INTEGER"),
        (Schema(SchemaType.BYTES), "VARBINARY(1024)", "BYTEA", "BLOB"),
        (time_schema(), "TIME(3)", "TIME", "NUMERIC"),
        (timestamp_schema(), "DATETIME(3)", "TIMESTAMP", "NUMERIC"),
    ],
)
def test_types(schema: Schema, mysql: str, postgresql: str, sqlite: str) -> None:
    column = NewColumn("c", schema)
    found = [each.creating.column_type(column) for each in (MYSQL, POSTGRESQL, SQLITE)]
    assert found == [mysql, postgresql, sqlite]


def test_a_text_in_the_key() -> None:
    column = NewColumn("c", STRING, key=True)
    found = [each.creating.column_type(column) for each in (MYSQL, POSTGRESQL, SQLITE, GENERIC)]
    assert found == ["VARCHAR(256)", "TEXT", "TEXT", "VARCHAR(255)"]


def test_arrays_are_postgresqls() -> None:
    column = NewColumn("c", Schema(SchemaType.ARRAY, value_schema=STRING))
    assert POSTGRESQL.creating.column_type(column) == "TEXT[]"
    with pytest.raises(UnfitError, match="field c has type ARRAY"):
        MYSQL.creating.column_type(column)
    with pytest.raises(UnfitError, match="STRUCT"):
        POSTGRESQL.creating.column_type(NewColumn("c", struct_schema()))


@pytest.mark.parametrize(
    ("schema", "default", "mysql", "postgresql"),
    [
        (STRING, "it's a \\", "('it''s a \\\\')", "'it''s a \\'"),
        (Schema(SchemaType.BOOLEAN), True, "1", "TRUE"),
        (Schema(SchemaType.BYTES), b"\x01\xff", "X'01ff'", "'\\x01ff'"),
        (date_schema(), -1, "'1969-12-31'", "'1969-12-31'"),
        (time_schema(), 3_723_004, "'01:02:03.004'", "'01:02:03.004'"),
        (timestamp_schema(), -1, "'1969-12-31 23:59:59.999'", "'1969-12-31 23:59:59.999'"),
        (decimal_schema(2), Decimal("1.20"), "1.20", "1.20"),
    ],
)
def test_defaults(schema: Schema, default: object, mysql: str, postgresql: str) -> None:
    column = NewColumn("c", replace(schema, default=default))
    assert MYSQL.creating.default(column) == mysql
    assert POSTGRESQL.creating.default(column) == postgresql


def test_columns_are_added() -> None:
    added = [NewColumn("a", STRING), NewColumn("b", STRING)]
    assert MYSQL.creating.add_columns("`t`", added) == [
        "ALTER TABLE `t` ADD `a` TEXT NULL,\nADD `b` TEXT NULL"
    ]
    assert SQLITE.creating.add_columns('"t"', added) == [
        'ALTER TABLE "t" ADD "a" TEXT NULL',
        'ALTER TABLE "t" ADD "b" TEXT NULL',
    ]


def test_upsert_mysql() -> None:
    assert MYSQL.merging.merge(MERGE) == [
        "INSERT INTO T (`k`, `a`, `b`) SELECT `k`, `a`, `b` FROM S ORDER BY `penstock_seq`"
        " ON DUPLICATE KEY UPDATE `a` = VALUES(`a`), `b` = VALUES(`b`)"
    ]


def test_upsert_postgresql() -> None:
    keep_last, upsert = POSTGRESQL.merging.merge(MERGE)
    assert keep_last == (
        'DELETE FROM S s USING (SELECT "k", MAX("penstock_seq") AS "penstock_seq" FROM S l'
        ' GROUP BY "k" HAVING COUNT(*) > 1) l WHERE s."k" = l."k"'
        ' AND s."penstock_seq" < l."penstock_seq"'
    )
    assert upsert == (
        'INSERT INTO T ("k", "a", "b") SELECT "k", "a", "b" FROM S'
        ' ON CONFLICT ("k") DO UPDATE SET "a" = EXCLUDED."a", "b" = EXCLUDED."b"'
    )


def test_upsert_without_a_statement_for_it() -> None:
    keep_last, update, insert = GENERIC.merging.merge(replace(MERGE, others=("a",)))
    assert keep_last == (
        'DELETE FROM S WHERE "penstock_seq" < '
        '(SELECT MAX(l."penstock_seq") FROM S l WHERE l."k" = S."k")'
    )
    assert update == (
        'UPDATE T SET "a" = (SELECT s."a" FROM S s WHERE s."k" = T."k")'
        ' WHERE EXISTS (SELECT 1 FROM S s WHERE s."k" = T."k")'
    )
    assert insert == (
        'INSERT INTO T ("k", "a") SELECT "k", "a" FROM S s'
        ' WHERE NOT EXISTS (SELECT 1 FROM T WHERE T."k" = s."k")'
    )


@pytest.mark.parametrize("dialect", [GENERIC, SQLITE, POSTGRESQL, MYSQL])
def test_tombstones_come_first(dialect: Dialect) -> None:
    with_deletes = dialect.merging.merge(replace(MERGE, deletes=True))
    without = dialect.merging.merge(MERGE)
    assert with_deletes[-len(without) :] == without
    assert sum("DELETE" in text for text in with_deletes[: -len(without)]) == 2


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        (POSTGRESQL, 'ON CONFLICT ("k") DO NOTHING'),
        (SQLITE, 'ON CONFLICT ("k") DO NOTHING'),
        (MYSQL, "ON DUPLICATE KEY UPDATE `k` = VALUES(`k`)"),
    ],
)
def test_rows_of_keys_only(dialect: Dialect, expected: str) -> None:
    assert dialect.merging.merge(replace(MERGE, others=()))[-1].endswith(expected)


@pytest.mark.parametrize("dialect", [GENERIC, MYSQL])
def test_an_insert_keeps_the_order(dialect: Dialect) -> None:
    merge = replace(MERGE, mode=WriteMode.INSERT, keys=())
    quote = dialect.quote
    assert dialect.merging.merge(merge) == [
        f"INSERT INTO T ({quote('a')}, {quote('b')}) SELECT {quote('a')}, {quote('b')} FROM S"
        f" ORDER BY {quote('penstock_seq')}"
    ]
