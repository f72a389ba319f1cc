"""What the JDBC sink does when its database is away, or says no to it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.connectors.jdbc.dialects.faults import Faults
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.sink.connector import AivenJdbcSinkConnector, JdbcSinkConnector
from penstock.connectors.jdbc.sink.refusals import translated
from penstock.connectors.jdbc.sink.task import AivenSinkTask
from penstock.kernel.data import TopicPartition
from penstock.kernel.errors import ConfigError, DataError, PenstockError, RetriableError
from penstock.testing.databases import DatabaseServer, MariaDb, PostgreSql
from tests.spark.connectors.jdbc.sinks import Context, Sinks, batch, big, users

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(params=[MariaDb, PostgreSql])
def mortal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DatabaseServer]:
    """One that a test may kill."""
    with request.param(tmp_path) as made:
        made.create_database("away")
        yield made


def test_a_database_that_is_away_is_waited_for(spark: SparkSession, mortal: DatabaseServer) -> None:
    sinks = Sinks(spark, ConnectionSettings(mortal.url("away"), mortal.user))
    task = sinks.task(
        auto_create="true", exactly_once="true", max_retries="100", connection_backoff_ms="50"
    )
    task.write(batch(spark, users({1: "a"})))
    mortal.kill()
    failed: list[BaseException] = []

    def write() -> None:
        try:
            task.write(batch(spark, users({2: "b"}), start=1))
        except BaseException as error:  # noqa: BLE001 - looked at below
            failed.append(error)

    writing = threading.Thread(target=write)
    writing.start()
    writing.join(1.0)
    assert writing.is_alive()
    mortal.start()
    writing.join(60)
    assert failed == []
    assert sinks.rows("users", "id") == [(1,), (2,)]
    sinks.close()


@pytest.mark.parametrize("sinks", ["postgresql"], indirect=True)
def test_a_login_that_is_wrong_fails_the_start(sinks: Sinks) -> None:
    """Not the first record, which may come much later."""
    with pytest.raises(PenstockError, match="nobody"):
        sinks.task(connection_user="nobody", connection_password="wrong")


def test_patience_has_an_end(spark: SparkSession, mortal: DatabaseServer) -> None:
    sinks = Sinks(spark, ConnectionSettings(mortal.url("away"), mortal.user))
    task = sinks.task(auto_create="true", max_retries="2", connection_attempts="1")
    task.write(batch(spark, users({1: "a"})))
    with pytest.raises(ConfigError, match="nobody"):
        sinks.task(connection_user="nobody")
    mortal.kill()
    sinks.task()  # Who starts now has time until its first record.
    with pytest.raises(PenstockError, match=r"given up after max\.retries=2") as caught:
        task.write(batch(spark, users({2: "b"}), start=1))
    assert not isinstance(caught.value, RetriableError)
    sinks.close()


def test_a_server_without_local_infile(spark: SparkSession, tmp_path: Path) -> None:
    with MariaDb(tmp_path) as mortal:
        mortal.create_database("plain")
        mortal.sql("", "SET GLOBAL local_infile = OFF")
        sinks = Sinks(spark, ConnectionSettings(mortal.url("plain"), mortal.user))
        sinks.execute("CREATE TABLE penstock_stage_650000a0_0123456789ab (id INTEGER)")
        keys = {"auto_create": "true", "pk_mode": "record_value", "pk_fields": "id"}
        sinks.task(**keys).write(batch(spark, list(big(3000))))
        task = sinks.task(**keys, insert_mode="upsert", exactly_once="true")
        task.write(batch(spark, users({5: "x", 3000: "new"}), start=3000))
        task.write(batch(spark, users({5: "x", 3000: "new"}), start=3000))
        assert sinks.query("SELECT COUNT(*) FROM users") == [(3001,)]
        assert sinks.query("SELECT name FROM users WHERE id IN (5, 6, 3000) ORDER BY id") == [
            ("x",),
            ("name 6",),
            ("new",),
        ]
        # Nothing is left of the staging tables.
        assert sinks.query("SHOW TABLES") == [("penstock_offsets",), ("users",)]
        with pytest.raises(DataError, match="Duplicate"):
            sinks.task(**keys).write(batch(spark, users({9000: "a", 1: "again"}), start=3002))
        assert sinks.query("SELECT COUNT(*) FROM users") == [(3001,)]
        sinks.close()


def test_aivens_keys(sinks: Sinks) -> None:
    task = AivenSinkTask()
    config = {
        "name": "sink",
        "connection.url": sinks.settings.url,
        "connection.user": sinks.settings.user or "",
        "insert.mode": "multi",
        "auto.create": "true",
        "topics.to.tables.mapping": "users:people",
    }
    task.start(config, Context(sinks.spark))
    task.write(batch(sinks.spark, users({1: "a"})))
    task.stop()
    assert sinks.rows("people", "id", "name") == [(1, "a")]


def test_offsets_of_exactly_once_are_changed_in_the_table() -> None:
    config = {"name": "orders", "connection.url": "jdbc:sqlite:x.db"}
    moved = {TopicPartition("users", 0): 5}
    assert JdbcSinkConnector().alter_offsets(config, moved)
    with pytest.raises(ConfigError, match=r"penstock_offsets.*orders"):
        AivenJdbcSinkConnector().alter_offsets(config | {"exactly.once": "true"}, moved)


def test_words_of_a_driver() -> None:
    def hide(text: str) -> str:
        return text.replace("secret", "***")

    lost = Exception("Job aborted: java.sql.SQLNonTransientConnectionException: secret gone\n at x")
    found = translated(lost, hide, Faults(), trim=False)
    assert isinstance(found, RetriableError)
    assert str(found).endswith("Exception: *** gone")
    refused = Exception("Job aborted: java.sql.BatchUpdateException: Duplicate entry '1'\n\tat y")
    assert isinstance(translated(refused, hide, Faults(), trim=False), DataError)
    assert "Duplicate" not in str(translated(refused, hide, Faults(), trim=True))
    planned = Exception('PENSTOCK-OTHER-LAYOUT {"a": 1} java.sql.SQLException: x')
    assert translated(planned, hide, Faults(), trim=True) is planned
