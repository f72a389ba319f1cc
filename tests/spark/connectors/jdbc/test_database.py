"""The one module that talks JDBC, on real databases."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError

from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.database.errors import translated
from penstock.connectors.jdbc.dialects import find_dialect
from penstock.connectors.jdbc.dialects.faults import Faults
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.tables import TableId
from penstock.kernel.config import Password
from penstock.kernel.errors import ConfigError, DataError, RetriableError
from penstock.machine.free_ports import free_port
from penstock.testing.databases import FreshDatabase, MariaDb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

SECRET = "tr0ub4dor"


@pytest.fixture(params=["mariadb", "mysql", "postgresql", "sqlite"])
def database(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path
) -> Iterator[Database]:
    if request.param == "sqlite":
        settings = ConnectionSettings(f"jdbc:sqlite:{tmp_path / 'x.db'}")
    else:
        kind = "postgresql" if request.param == "postgresql" else "mariadb"
        fresh: FreshDatabase = request.getfixturevalue(kind)
        url = fresh.url.replace("jdbc:mariadb", f"jdbc:{request.param}")
        settings = ConnectionSettings(url, fresh.server.user)
    opened = Database(settings, find_dialect(settings), spark._jvm)
    yield opened
    opened.close()


def test_what_is_written_can_be_read(database: Database) -> None:
    quote = database.dialect.quote
    table = f"{quote('Odd')} ({quote('select')} INTEGER PRIMARY KEY, {quote('Ä b')} VARCHAR(20))"
    database.execute(f"CREATE TABLE {table}")
    insert = f"INSERT INTO {quote('Odd')} VALUES (?, ?)"
    with database.transaction():
        assert database.execute(insert, 1, "ü🚰'\\") == 1
        database.execute(insert, 2, None)
    with pytest.raises(DataError):
        half_done(database, insert)
    rows = database.query(f"SELECT * FROM {quote('Odd')} ORDER BY 1")
    assert rows == [(1, "ü🚰'\\"), (2, None)]
    assert database.query(f"SELECT * FROM {quote('Odd')} ORDER BY 1", limit=1) == rows[:1]

    (found,) = [each for each in database.metadata.tables() if each.id.name == "Odd"]
    assert database.metadata.primary_key(found.id) == ("select",)
    assert database.metadata.leading_index_columns(found.id) == {"select"}
    names = [(column.name, column.type_name) for column in database.metadata.columns(found.id)]
    assert [name for name, _ in names] == ["select", "Ä b"]


def half_done(database: Database, insert: str) -> None:
    with database.transaction():
        database.execute(insert, 3, "lost")
        database.execute(insert, 1, "is there already")


def test_a_statement_that_is_wrong_names_itself(database: Database) -> None:
    with pytest.raises(DataError, match="nowhere"):
        database.query("SELECT * FROM nowhere")
    with pytest.raises(DataError, match="nowhere"):
        database.metadata.columns(TableId("nowhere"))
    assert database.query("SELECT 1") == [(1,)]


def test_decimals_come_as_decimals(mariadb: FreshDatabase, spark: SparkSession) -> None:
    settings = ConnectionSettings(mariadb.url, "root")
    database = Database(settings, find_dialect(settings), spark._jvm)
    digits = "1234567890123456789012345678.0123456789"
    assert database.query("SELECT CAST(? AS DECIMAL(38,10))", digits) == [(Decimal(digits),)]
    database.close()


@pytest.mark.parametrize("kind", ["mariadb", "mysql"])
def test_a_wrong_password_is_no_reason_to_try_again(
    mariadb: FreshDatabase, spark: SparkSession, kind: str
) -> None:
    url = mariadb.url.replace("mariadb", kind) + f"?password={SECRET}"
    settings = ConnectionSettings(url, "root", Password(SECRET), backoff_seconds=0)
    database = Database(settings, find_dialect(settings), spark._jvm)
    with pytest.raises(ConfigError, match="Access denied") as caught:
        database.connect()
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_server_that_is_away_and_comes_back(spark: SparkSession, tmp_path: Path) -> None:
    server = MariaDb(tmp_path / "db")
    settings = ConnectionSettings(server.url(""), "root", attempts=2, backoff_seconds=0.1)
    database = Database(settings, find_dialect(settings), spark._jvm)
    with pytest.raises(RetriableError, match=str(server.port)):
        database.connect()
    with server:
        assert database.query("SELECT 1") == [(1,)]
        server.kill()
        with pytest.raises(RetriableError):
            database.query("SELECT 1")
        server.start()
        assert database.query("SELECT 1") == [(1,)]
    database.close()


@pytest.mark.parametrize("kind", ["mariadb", "mysql", "postgresql"])
@pytest.mark.parametrize(
    ("place", "told"),
    [("no-such-host.invalid:5", "no such host"), ("127.0.0.1:{}", "the connection was refused")],
)
def test_why_a_database_is_away(spark: SparkSession, kind: str, place: str, told: str) -> None:
    url = f"jdbc:{kind}://{place.format(free_port())}/x"
    settings = ConnectionSettings(url, "root", attempts=1)
    with pytest.raises(RetriableError, match=told):
        Database(settings, find_dialect(settings), spark._jvm).connect()


def test_an_address_that_a_driver_stumbles_over_is_told_without_its_variables(
    spark: SparkSession,
) -> None:
    settings = ConnectionSettings("jdbc:mysql:///")
    jvm: Any = spark._jvm
    thrown = jvm.java.lang.NullPointerException('Cannot invoke "String.isEmpty()"')
    faults = find_dialect(settings).faults
    found = translated(Py4JJavaError("", thrown), "connect", settings, faults)
    assert isinstance(found, ConfigError)
    assert "connection.url" in str(found)
    assert "isEmpty" not in str(found)


def test_a_missing_driver_names_the_jar(spark: SparkSession) -> None:
    settings = ConnectionSettings("jdbc:oracle:thin:@//db:1521/x")
    database = Database(settings, find_dialect(settings), spark._jvm)
    with pytest.raises(
        ConfigError, match=r"JDBC driver for oracle into a directory of plugin\.path"
    ):
        database.connect()


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    "line",
    [
        "java.sql.SQLNonTransientConnectionException: (conn=5) unexpected end of stream",
        "java.sql.SQLTransientConnectionException: try again",
        "com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure",
        "org.postgresql.util.PSQLException: FATAL: the database system is starting up",
        "org.postgresql.util.PSQLException: Connection to 127.0.0.1:5432 refused. Check it.",
    ],
)
def test_a_job_tells_that_its_database_went_away(line: str) -> None:
    text = f"Job aborted.\nCaused by: {line}\n\tat a.b.c"
    faults = _faults_of(line)
    assert faults.lost_in_job(text) == line.removeprefix("org.postgresql.util.")


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    "line",
    [
        "java.sql.SQLSyntaxErrorException: (conn=5) Unknown column 'x'",
        "org.postgresql.util.PSQLException: ERROR: division by zero",
        "java.lang.IllegalStateException: no such thing",
    ],
)
def test_what_else_fails_in_a_job_is_no_matter_of_the_connection(line: str) -> None:
    assert _faults_of(line).lost_in_job(f"Job aborted.\nCaused by: {line}\n\tat a.b.c") is None


def _faults_of(line: str) -> Faults:
    scheme = "postgresql" if line.startswith("org.postgresql") else "mysql"
    return find_dialect(ConnectionSettings(f"jdbc:{scheme}://host/x")).faults
