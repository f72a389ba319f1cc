"""What the JDBC connectors find wrong with a database before they are created."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.connectors.jdbc.sink.connector import JdbcSinkConnector
from penstock.connectors.jdbc.source.connector import ConfluentJdbcSourceConnector
from penstock.machine.free_ports import free_port
from penstock.testing.databases import FreshDatabase

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Errors = Mapping[str, list[str]]


@pytest.fixture
def shop(mariadb: FreshDatabase) -> FreshDatabase:
    mariadb.sql("CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, note VARCHAR(9))")
    return mariadb


def connection(shop: FreshDatabase) -> dict[str, str]:
    return {"connection.url": shop.url, "connection.user": shop.server.user}


def source(spark: SparkSession, shop: FreshDatabase, **keys: str) -> Errors:
    given = {key.replace("_", "."): value for key, value in keys.items()}
    config = {
        **connection(shop),
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "topic.prefix": "t-",
        **given,
    }
    return ConfluentJdbcSourceConnector().examine(config, spark)


def sink(spark: SparkSession, shop: FreshDatabase, **keys: str) -> Errors:
    given = {key.replace("_", "."): value for key, value in keys.items()}
    return JdbcSinkConnector().examine({**connection(shop), "topics": "orders", **given}, spark)


def test_to_examine_a_database_that_is_a_file_makes_none(
    spark: SparkSession, tmp_path: Path
) -> None:
    file = tmp_path / "shop.db"
    config = {"connection.url": f"jdbc:sqlite:{file}", "topics": "orders"}
    told = "table orders does not exist, or may not be read"
    for keys, found in (
        ({"auto.create": "true"}, {}),
        ({"auto.create": "false"}, {"table.name.format": told}),
    ):
        errors = JdbcSinkConnector().examine(config | keys, spark)
        assert {key: texts[0][: len(told)] for key, texts in errors.items()} == found
    reads = config | {"mode": "bulk", "topic.prefix": "t-"}
    assert ConfluentJdbcSourceConnector().examine(reads, spark) == {}
    assert ConfluentJdbcSourceConnector().examine(reads | {"table.whitelist": "a"}, spark) == {
        "table.whitelist": [f"there is no table a: there is no file {file}"]
    }
    assert not file.exists()


def test_a_source_that_agrees_with_its_database(spark: SparkSession, shop: FreshDatabase) -> None:
    assert source(spark, shop) == {}
    assert source(spark, shop, table_whitelist="orders") == {}
    assert source(spark, shop, query="SELECT id FROM orders") == {}


@pytest.mark.parametrize(
    ("keys", "key", "told"),
    [
        ({"table_whitelist": "orders,ordesr"}, "table.whitelist", "no table ordesr, or no right"),
        ({"incrementing_column_name": "nr"}, "incrementing.column.name", "has no column nr"),
        ({"incrementing_column_name": "note"}, "mode", "column note is varchar, not a number"),
        ({"query": "SELEC id FROM orders"}, "query", "You have an error in your SQL syntax"),
        ({"query": "SELECT nr FROM orders"}, "query", "Unknown column 'nr'"),
        ({"connection_user": "nobody"}, "connection.url", "Access denied"),
    ],
)
def test_what_a_source_finds_wrong(
    spark: SparkSession, shop: FreshDatabase, keys: dict[str, str], key: str, told: str
) -> None:
    ((found, (text,)),) = source(spark, shop, **keys).items()
    assert found == key
    assert told in text


def test_a_database_that_is_away(spark: SparkSession, shop: FreshDatabase) -> None:
    away = f"jdbc:mariadb://127.0.0.1:{free_port()}/x"
    (text,) = source(spark, shop, connection_url=away)["connection.url"]
    assert "refused" in text
    # Its tasks wait, as they do when it goes away later.
    assert sink(spark, shop, connection_url=away) == {}


def test_what_a_sink_finds_wrong(spark: SparkSession, shop: FreshDatabase) -> None:
    assert sink(spark, shop) == {}
    assert sink(spark, shop, topics="orders,items", auto_create="true") == {}
    (text,) = sink(spark, shop, topics="orders, items")["table.name.format"]
    assert text.startswith("table items does not exist, or may not be read; make it, or set auto")
    (text,) = sink(spark, shop, connection_user="nobody")["connection.url"]
    assert "Access denied" in text
    keys = {"pk_mode": "record_key", "pk_fields": "nr,ID"}
    (text,) = sink(spark, shop, **keys)["pk.fields"]
    assert text.startswith("table orders has no column nr; add it, or set auto.evolve=true")
    assert sink(spark, shop, auto_evolve="true", **keys) == {}
    # A transformation may give the records other topics.
    assert sink(spark, shop, topics="items", transforms="route") == {}


@pytest.mark.parametrize("mode", ["insert", "update"])
@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_a_sink_that_may_only_read(
    spark: SparkSession, request: pytest.FixtureRequest, kind: str, mode: str
) -> None:
    shop: FreshDatabase = request.getfixturevalue(kind)
    user = f"reader_{shop.name}"
    shop.sql("CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, note VARCHAR(9))")
    if kind == "mariadb":
        shop.sql(f"CREATE USER {user}@'%'; GRANT SELECT ON orders TO {user}@'%'")
    else:
        shop.sql(f"CREATE ROLE {user} LOGIN; GRANT SELECT ON orders TO {user}")
    keys = {"insert_mode": mode, "pk_mode": "record_key", "pk_fields": "id"}
    assert sink(spark, shop, **keys) == {}
    (text,) = sink(spark, shop, connection_user=user, **keys)["connection.user"]
    assert "denied" in text
