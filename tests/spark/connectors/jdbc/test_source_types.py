"""Every column type of the tested databases, as records have it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError

from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.dialects import find_dialect
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.kernel.data.schema import (
    Schema,
    SchemaType,
    date_schema,
    decimal_schema,
    time_schema,
    timestamp_schema,
)
from penstock.testing.databases import FreshDatabase
from tests.spark.connectors.jdbc.calendars import OLD_DAYS, days_since_1970
from tests.spark.connectors.jdbc.java_source import FAILS, LEFT_OUT, java_rows
from tests.spark.connectors.jdbc.sources import Source, World, source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INT8, INT16, INT32, INT64, FLOAT, DOUBLE, BOOLEAN, STRING, BYTES = (
    Schema(kind, optional=True)
    for kind in (
        SchemaType.INT8,
        SchemaType.INT16,
        SchemaType.INT32,
        SchemaType.INT64,
        SchemaType.FLOAT32,
        SchemaType.FLOAT64,
        SchemaType.BOOLEAN,
        SchemaType.STRING,
        SchemaType.BYTES,
    )
)
DATE, TIME, TIMESTAMP = (
    date_schema(optional=True),
    time_schema(optional=True),
    timestamp_schema(optional=True),
)
DIGITS = "1234567890123456789012345678.0123456789"


def decimal(precision: int, scale: int) -> Schema:
    return decimal_schema(scale, optional=True, precision=precision)


# Declared type, literal, schema (None: records have no such field), value.
Case = tuple[str, str, Schema | None, Any]

# As the server keeps it: the coordinate system, then a point at 0, 1.
POINT = bytes.fromhex("0000000001010000000000000000000000000000000000F03F")

MARIADB: dict[str, Case] = {
    "bit20": ("BIT(8)", "b'00000101'", INT8, 5),
    "ti": ("TINYINT", "-128", INT8, -128),
    "tiu": ("TINYINT UNSIGNED", "255", INT16, 255),
    "si": ("SMALLINT", "-32768", INT16, -32768),
    "siu": ("SMALLINT UNSIGNED", "65535", INT32, 65535),
    "mi": ("MEDIUMINT", "-8388608", INT32, -8388608),
    "i": ("INT", "-2147483648", INT32, -(2**31)),
    "iu": ("INT UNSIGNED", "4294967295", INT64, 2**32 - 1),
    "bi": ("BIGINT", "9223372036854775807", INT64, 2**63 - 1),
    "f": ("FLOAT", "1.5", FLOAT, 1.5),
    "d": ("DOUBLE", "1e300", DOUBLE, 1e300),
    "de": ("DECIMAL(38,10)", DIGITS, decimal(38, 10), Decimal(DIGITS)),
    "de0": ("DECIMAL(10)", "-7", decimal(10, 0), Decimal(-7)),
    "y": ("YEAR", "2024", DATE, 19723),
    "da": ("DATE", "'1969-12-31'", DATE, -1),
    "old": ("DATE", "'1582-10-15'", DATE, -141427),
    "zero": ("DATE", "'0000-00-00'", DATE, None),
    "tm": ("TIME(6)", "'23:59:59.999999'", TIME, 86399999),
    "neg": ("TIME(3)", "'-01:00:00.5'", TIME, -3600500),
    "long": ("TIME", "'100:00:00'", TIME, 360000000),
    "dt": ("DATETIME", "'2021-12-05 06:57:48'", TIMESTAMP, 1638687468000),
    "dt6": ("DATETIME(6)", "'1969-12-31 23:59:59.999999'", TIMESTAMP, -1),
    "dtz": ("DATETIME", "'0000-00-00 00:00:00'", TIMESTAMP, None),
    "ts": ("TIMESTAMP(3) NULL", "'2038-01-19 03:14:07.123'", TIMESTAMP, 2147483647123),
    "c": ("CHAR(3)", "'ab'", STRING, "ab"),
    "vc": ("VARCHAR(20)", "'ü🚰 ''\"`'", STRING, "ü🚰 '\"`"),
    "empty": ("VARCHAR(20)", "''", STRING, ""),
    "tx": ("LONGTEXT", "REPEAT('日', 100000)", STRING, "日" * 100000),
    "bin": ("BINARY(3)", "x'00ff'", BYTES, b"\x00\xff\x00"),
    "bl": ("LONGBLOB", "REPEAT(x'00ff80', 50000)", BYTES, b"\x00\xff\x80" * 50000),
    "en": ("ENUM('a','ü')", "'ü'", STRING, "ü"),
    "se": ("SET('x','y')", "'x,y'", STRING, "x,y"),
    "js": ("JSON", "'{\"a\": [1]}'", STRING, '{"a": [1]}'),
    "ui": (
        "UUID",
        "'123e4567-e89b-12d3-a456-426655440000'",
        STRING,
        "123e4567-e89b-12d3-a456-426655440000",
    ),
}

# What is not taken back by a column of the same type, or is as another that is there already.
MARIADB_MORE: dict[str, Case] = {
    "b8": ("BIT(8)", "b'11111111'", INT8, -1),
    "miu": ("MEDIUMINT UNSIGNED", "16777215", INT64, 2**24 - 1),
    "biu": ("BIGINT UNSIGNED", "9223372036854775807", INT64, 2**63 - 1),
    "deu": ("DECIMAL(5,2) UNSIGNED", "1.5", decimal(5, 2), Decimal("1.50")),
    "f1": ("FLOAT(10,2)", "1.25", FLOAT, 1.25),
    "d1": ("DOUBLE(10,2)", "0.1", DOUBLE, 0.1),
    "y0": ("YEAR", "0", DATE, None),
    "t1": ("TINYTEXT", "'a'", STRING, "a"),
    "t2": ("TEXT", "'a'", STRING, "a"),
    "t3": ("MEDIUMTEXT", "'a'", STRING, "a"),
    "vb": ("VARBINARY(5)", "x'00ff'", BYTES, b"\x00\xff"),
    "b1": ("TINYBLOB", "x'00ff'", BYTES, b"\x00\xff"),
    "b2": ("BLOB", "x'00ff'", BYTES, b"\x00\xff"),
    "b3": ("MEDIUMBLOB", "x'00ff'", BYTES, b"\x00\xff"),
    "i6": ("INET6", "'::1'", STRING, "::1"),
    "pt": ("POINT", "x'0000000001010000000000000000000000000000000000F03F'", BYTES, POINT),
}
# What the two drivers do not see in the same way.
MARIADB_DRIVER: dict[str, Case] = {
    "bit": ("BIT(1)", "b'1'", BOOLEAN, True),
    "bo": ("BOOLEAN", "1", BOOLEAN, True),
    "b20": ("BIT(20)", "b'11110000111100001111'", INT8, 15),
}
MYSQL_DRIVER: dict[str, Case] = {
    "bit": ("BIT(1)", "b'1'", INT8, 1),
    "bo": ("BOOLEAN", "1", INT8, 1),
}

POSTGRESQL: dict[str, Case] = {
    "b": ("BOOLEAN", "true", BOOLEAN, True),
    "b1": ("BIT", "B'1'", BOOLEAN, True),
    # The driver takes the bits for the digits of a decimal number.
    "b8": ("BIT(8)", "B'00000101'", INT8, 101),
    "b20": ("BIT(12)", "B'000000000101'", BYTES, b"000000000101"),
    "si": ("SMALLINT", "-32768", INT16, -32768),
    "i": ("INT", "-2147483648", INT32, -(2**31)),
    "bi": ("BIGINT", "9223372036854775807", INT64, 2**63 - 1),
    "r": ("REAL", "1.5", FLOAT, 1.5),
    "d": ("DOUBLE PRECISION", "1e300", DOUBLE, 1e300),
    "de": ("NUMERIC(38,10)", DIGITS, decimal(38, 10), Decimal(DIGITS)),
    "de0": ("NUMERIC(10)", "-7", decimal(10, 0), Decimal(-7)),
    "m": ("MONEY", "'12.34'", DOUBLE, 12.34),
    "da": ("DATE", "'1969-12-31'", DATE, -1),
    "tm": ("TIME", "'23:59:59.999999'", TIME, 86399999),
    "tmz": ("TIME WITH TIME ZONE", "'10:00:00+02'", TIME, 28800000),
    "ts": ("TIMESTAMP", "'1969-12-31 23:59:59.999999'", TIMESTAMP, -1),
    "tz": ("TIMESTAMPTZ", "'2021-12-05 08:57:48+02'", TIMESTAMP, 1638687468000),
    "inf": ("TIMESTAMP", "'infinity'", TIMESTAMP, 9000000000000000),
    "c": ("CHAR(3)", "'ab'", STRING, "ab "),
    "vc": ("VARCHAR(20)", "'ü🚰 ''\"`\\'", STRING, "ü🚰 '\"`\\"),
    "empty": ("TEXT", "''", STRING, ""),
    "tx": ("TEXT", "REPEAT('日', 100000)", STRING, "日" * 100000),
    "by": ("BYTEA", "'\\x00ff80'", BYTES, b"\x00\xff\x80"),
    "js": ("JSON", "'{\"a\": [1]}'", STRING, '{"a": [1]}'),
    "jb": ("JSONB", "'{\"a\":[1]}'", STRING, '{"a": [1]}'),
    "x": ("XML", "'<a/>'", STRING, "<a/>"),
    "ui": (
        "UUID",
        "'123e4567-e89b-12d3-a456-426655440000'",
        STRING,
        "123e4567-e89b-12d3-a456-426655440000",
    ),
}

POSTGRESQL_MORE: dict[str, Case] = {
    "b3": ("BIT(3)", "B'101'", INT8, 101),
    "n": ("NUMERIC", "7.00", decimal(0, 0), Decimal(7)),
    "n5": ("NUMERIC(5,3)", "1.5", decimal(5, 3), Decimal("1.500")),
    "oid": ("OID", "4294967295", INT64, 2**32 - 1),
    "ch": ('"char"', "'x'", STRING, "x"),
    "nm": ("NAME", "'x'", STRING, "x"),
    "en": ("mood", "'good'", STRING, "good"),
    "do": ("whole", "5", INT32, 5),
    "mo": ("MONEY", "'-1234.56'", DOUBLE, -1234.56),
    "t24": ("TIME", "'24:00:00'", TIME, 86400000),
    "bc": ("DATE", "'0044-03-15 BC'", DATE, -735162),
    "minf": ("TIMESTAMPTZ", "'-infinity'", TIMESTAMP, -9000000000000000),
    "vb": ("BIT VARYING(5)", "B'101'", None, None),
    "inet": ("INET", "'::1'", None, None),
    "mac": ("MACADDR", "'08:00:2b:01:02:03'", None, None),
    "iv": ("INTERVAL", "'1 day'", None, None),
    "pt": ("POINT", "'(1,2)'", None, None),
    "ar": ("TEXT[]", "'{a,b}'", None, None),
    "tsv": ("TSVECTOR", "'a b'", None, None),
    "ra": ("INT4RANGE", "'[1,2)'", None, None),
    "co": ("pair", "'(1,2)'", None, None),
}
POSTGRESQL_TYPES = (
    "CREATE TYPE mood AS ENUM ('good'); CREATE DOMAIN whole AS INT;"
    " CREATE TYPE pair AS (a INT, b INT)"
)

# What Java's connector has instead, as docs/jdbc-types.md tells.
MARIADB_JAVA = {"ui": LEFT_OUT, "y0": FAILS}
MYSQL_JAVA = {
    "zero": FAILS,
    "dtz": FAILS,
    "neg": FAILS,
    "long": FAILS,
    # The year 2000.
    "y0": 10957,
}
POSTGRESQL_JAVA = {"inf": 9223372036825200000, "minf": -9223372036832400000, "mo": FAILS}

SQLITE: dict[str, Case] = {
    "i": ("INTEGER", "2147483647", INT32, 2147483647),
    "bi": ("BIGINT", "9223372036854775807", INT64, 2**63 - 1),
    # The driver takes all but INTEGER for unsigned.
    "si": ("SMALLINT", "-32768", INT32, -32768),
    "b": ("BOOLEAN", "1", BOOLEAN, True),
    "d": ("DOUBLE", "1e300", DOUBLE, 1e300),
    "vc": ("VARCHAR(20)", "'ü🚰'", STRING, "ü🚰"),
    "tx": ("TEXT", "''", STRING, ""),
    "bl": ("BLOB", "x'00ff80'", BYTES, b"\x00\xff\x80"),
    "da": ("DATE", "'1969-12-31'", DATE, -1),
    "dt": ("TIMESTAMP", "'2021-12-05 06:57:48.123'", TIMESTAMP, 1638687468123),
    "dti": ("TIMESTAMP", "1638687468123", TIMESTAMP, 1638687468123),
}


def table_of(cases: dict[str, Case], quote: str) -> tuple[str, str]:
    columns = ", ".join(f"{quote}{name}{quote} {case[0]}" for name, case in cases.items())
    values = ", ".join(case[1] for case in cases.values())
    nulls = ", ".join("NULL" for _ in cases)
    create = f"CREATE TABLE {quote}Order{quote} (id INTEGER NOT NULL PRIMARY KEY, {columns})"
    insert = f"INSERT INTO {quote}Order{quote} VALUES (1, {values}), (2, {nulls})"
    return create, insert


def check(made: Source, cases: dict[str, Case]) -> None:
    first, second = made.read_all()
    schema = made.batches[0].value_schema
    assert schema is not None
    assert schema.name == "Order"
    assert schema.fields[0].schema == Schema(SchemaType.INT32)
    there = {name: case for name, case in cases.items() if case[2] is not None}
    assert {each.name: each.schema for each in schema.fields[1:]} == {
        name: case[2] for name, case in there.items()
    }
    expected = {"id": 1, **{name: case[3] for name, case in there.items()}}
    assert {name: _plain(value) for name, value in first.items()} == expected
    assert second == {"id": 2, **dict.fromkeys(there)}
    assert made.batches[0].topic == "t-Order"


def differences(
    spark: SparkSession, config: dict[str, str], table: str, cases: dict[str, Case]
) -> dict[str, Any]:
    """The fields that Java's connector has otherwise, with what it has."""
    first, second = java_rows(spark, config, f"SELECT * FROM {table} ORDER BY id")
    assert not {value for value in second.values() if value is not None} - {2}
    ours = {name: case[3] for name, case in cases.items() if case[2] is not None}
    theirs = {name: first.get(name, LEFT_OUT) for name in cases}
    return {n: value for n, value in theirs.items() if value != ours.get(n, LEFT_OUT)}


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, bytearray) else value


INCREMENTING = {"mode": "incrementing", "incrementing.column.name": "id"}


def test_mariadb(mariadb: FreshDatabase, spark: SparkSession) -> None:
    cases = MARIADB | MARIADB_MORE | MARIADB_DRIVER
    create, insert = table_of(cases, "`")
    mariadb.sql(f"SET sql_mode=''; {create}; {insert}")
    with source(World(spark), {**mariadb.config, **INCREMENTING}) as made:
        check(made, cases)
    assert differences(spark, mariadb.config, "`Order`", cases) == MARIADB_JAVA


def test_mariadb_with_the_driver_of_mysql(mariadb: FreshDatabase, spark: SparkSession) -> None:
    cases = MARIADB | MARIADB_MORE | MYSQL_DRIVER
    create, insert = table_of(cases, "`")
    mariadb.sql(f"SET sql_mode=''; {create}; {insert}")
    url = mariadb.url.replace("mariadb", "mysql")
    config = {**mariadb.config, "connection.url": url}
    with source(World(spark), {**config, **INCREMENTING}) as made:
        check(made, cases)
    assert differences(spark, config, "`Order`", cases) == MYSQL_JAVA


def test_postgresql(postgresql: FreshDatabase, spark: SparkSession) -> None:
    cases = POSTGRESQL | POSTGRESQL_MORE
    create, insert = table_of(cases, '"')
    postgresql.sql(f"{POSTGRESQL_TYPES}; {create}; {insert}")
    with source(World(spark), {**postgresql.config, **INCREMENTING}) as made:
        check(made, cases)
    assert differences(spark, postgresql.config, '"Order"', cases) == POSTGRESQL_JAVA


def test_a_fraction_in_a_numeric_without_a_scale_is_not_rounded(
    postgresql: FreshDatabase, spark: SparkSession
) -> None:
    postgresql.sql("CREATE TABLE n (id INT PRIMARY KEY, n NUMERIC); INSERT INTO n VALUES (1, 2.5)")
    assert java_rows(spark, postgresql.config, "SELECT * FROM n") == [{"id": 1, "n": FAILS}]
    with (
        source(World(spark), {**postgresql.config, **INCREMENTING}) as made,
        pytest.raises(Py4JJavaError, match=r"2\.5 has a fraction, but its column is a NUMERIC"),
    ):
        made.read_all()


def test_sqlite(tmp_path: Path, spark: SparkSession) -> None:
    url = f"jdbc:sqlite:{tmp_path / 'x.db'}"
    settings = ConnectionSettings(url)
    database = Database(settings, find_dialect(settings), spark._jvm)
    for statement in table_of(SQLITE, '"'):
        database.execute(statement)
    database.close()
    with source(World(spark), {"connection.url": url, **INCREMENTING}) as made:
        check(made, SQLITE)


@pytest.mark.parametrize(
    ("mapping", "kinds"),
    [
        ("none", ["decimal", "decimal", "decimal", "decimal", "decimal"]),
        ("precision_only", ["int8", "int32", "int64", "decimal", "decimal"]),
        ("best_fit", ["int8", "int32", "int64", "double", "decimal"]),
        ("best_fit_eager_double", ["int8", "int32", "int64", "double", "double"]),
    ],
)
def test_numeric_mapping(
    postgresql: FreshDatabase, spark: SparkSession, mapping: str, kinds: list[str]
) -> None:
    postgresql.sql(
        "CREATE TABLE n (id INT PRIMARY KEY, a NUMERIC(2), b NUMERIC(9), c NUMERIC(18),"
        " d NUMERIC(10,2), e NUMERIC(30,2)); INSERT INTO n VALUES (1, 12, 123456789,"
        " 123456789012345678, 12.25, 0.5)"
    )
    config = {**postgresql.config, **INCREMENTING, "numeric.mapping": mapping}
    with source(World(spark), config) as made:
        (row,) = made.read_all()
        schema = made.batches[0].value_schema
    assert schema is not None
    found = ["decimal" if f.schema.is_decimal else str(f.schema.type) for f in schema.fields[1:]]
    assert found == kinds
    expected = ["12", "123456789", "123456789012345678", "12.25", "0.5"]
    assert [Decimal(str(row[name])) for name in "abcde"] == list(map(Decimal, expected))


MOMENT = 1_638_687_468_123_456


@pytest.mark.parametrize(
    ("granularity", "expected"),
    [
        ("connect_logical", MOMENT // 1000),
        ("micros_long", MOMENT),
        ("micros_string", str(MOMENT)),
        ("micros_iso_datetime_string", "2021-12-05T06:57:48.123456"),
        ("nanos_long", MOMENT * 1000),
        ("nanos_string", str(MOMENT * 1000)),
        ("nanos_iso_datetime_string", "2021-12-05T06:57:48.123456000"),
    ],
)
def test_timestamp_granularity(
    mariadb: FreshDatabase, spark: SparkSession, granularity: str, expected: object
) -> None:
    mariadb.sql(
        "CREATE TABLE n (id INT PRIMARY KEY, at DATETIME(6));"
        " INSERT INTO n VALUES (1, '2021-12-05 06:57:48.123456')"
    )
    config = {**mariadb.config, **INCREMENTING, "timestamp.granularity": granularity}
    with source(World(spark), config) as made:
        assert made.read_all() == [{"id": 1, "at": expected}]


def test_times_are_those_of_the_databases_time_zone(
    mariadb: FreshDatabase, postgresql: FreshDatabase, spark: SparkSession
) -> None:
    """In summer Berlin is two hours ahead, on the first day of 1970 one.

    What knows its own time zone is left alone, and so is a day: Java's converters refuse it.
    """
    zone = {"db.timezone": "Europe/Berlin", **INCREMENTING}
    mariadb.sql("CREATE TABLE n (id INT PRIMARY KEY, at DATETIME, t TIME, d DATE)")
    mariadb.sql("INSERT INTO n VALUES (1, '2021-07-01 02:00:00', '10:00:00', '2021-07-01')")
    with source(World(spark), {**mariadb.config, **zone}) as made:
        rows = made.read_all()
    assert rows == [{"id": 1, "at": 1625097600000, "t": 32400000, "d": 18809}]
    select = "SELECT id, at, t, 18809 AS d FROM n"
    assert java_rows(spark, mariadb.config, select, "Europe/Berlin") == rows
    postgresql.sql(
        "CREATE TABLE n (id INT PRIMARY KEY, at TIMESTAMP, z TIMESTAMPTZ, t TIME, tz TIMETZ);"
        " INSERT INTO n VALUES (1, '2021-07-01 02:00:00', '2021-07-01 00:00:00+00', '10:00:00',"
        " '10:00:00+02')"
    )
    with source(World(spark), {**postgresql.config, **zone}) as made:
        rows = made.read_all()
    moments = {"at": 1625097600000, "z": 1625097600000, "t": 32400000, "tz": 28800000}
    assert rows == [{"id": 1, **moments}]
    assert java_rows(spark, postgresql.config, "SELECT * FROM n", "Europe/Berlin") == rows


def test_zero_dates_where_null_is_not_allowed_are_1970(
    mariadb: FreshDatabase, spark: SparkSession
) -> None:
    mariadb.sql(
        "SET sql_mode=''; CREATE TABLE n (id INT PRIMARY KEY, d DATE NOT NULL,"
        " t DATETIME NOT NULL); INSERT INTO n VALUES (1, '0000-00-00', '2020-00-00 00:00:00')"
    )
    with source(World(spark), {**mariadb.config, **INCREMENTING}) as made:
        assert made.read_all() == [{"id": 1, "d": 0, "t": 0}]


@pytest.mark.parametrize("calendar", ["LEGACY", "PROLEPTIC_GREGORIAN"])
def test_days_before_1582(mariadb: FreshDatabase, spark: SparkSession, calendar: str) -> None:
    """Days as Java's own calendar counts them."""
    values = ", ".join(f"({n}, '{day}', '{day} 01:00:00.5')" for n, day in enumerate(OLD_DAYS))
    mariadb.sql("CREATE TABLE n (id INT PRIMARY KEY, d DATE, t DATETIME(1))")
    mariadb.sql(f"INSERT INTO n VALUES {values}")
    expected = [days_since_1970(spark, day, legacy=calendar == "LEGACY") for day in OLD_DAYS]
    config = {**mariadb.config, **INCREMENTING, "date.calendar.system": calendar}
    with source(World(spark), config) as made:
        rows = made.read_all()
    assert [row["d"] for row in rows] == expected
    assert [row["t"] for row in rows] == [day * 86_400_000 + 3_600_500 for day in expected]
