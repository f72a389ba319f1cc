"""Every column type of a database into a topic, and from there into a table of the same types."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from penstock.testing.databases import FreshDatabase
from penstock.testing.registry import SchemaRegistry
from penstock.testing.worker import PenstockWorker
from tests.spark.connectors.jdbc.test_source_types import MARIADB, POSTGRESQL, Case

# What Connect's types can't hold, with what becomes of it: times have milliseconds, a zero date is
# null, a year is its first day, infinity is far away.
MARIADB_LOSSES = {
    "zero": "NULL",
    "dtz": "NULL",
    "tm": "23:59:59.999000",
    "dt6": "1969-12-31 23:59:59.999000",
}
POSTGRESQL_LOSSES = {
    "tm": "23:59:59.999",
    "ts": "1969-12-31 23:59:59.999",
}
# Connect's Time is a time of day; its converters refuse any other.
NO_TIME_OF_DAY = {"neg", "long"}
# Numbers and texts that a column of the same type does not take back.
MARIADB_ONE_WAY = {"y"}
POSTGRESQL_ONE_WAY = {"b1", "b8", "b20", "tmz", "inf"}


def there_and_back(
    worker: PenstockWorker,
    database: FreshDatabase,
    columns: list[str],
    unique: Callable[[str], str],
    converter: Mapping[str, str],
) -> None:
    prefix = unique("trip")
    source = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        **database.config,
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "table.whitelist": "original",
        "topic.prefix": f"{prefix}-",
        "poll.interval.ms": "200",
    }
    sink = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        **database.config,
        "topics": f"{prefix}-original",
        "table.name.format": "copied",
        "fields.whitelist": ",".join(["id", *columns]),
    }
    worker.rest.create_running(f"{prefix}-source", {**source, **converter})
    worker.rest.create_running(f"{prefix}-sink", {**sink, **converter})
    worker.rest.eventually(
        lambda: database.rows("SELECT COUNT(*) FROM copied"), lambda rows: rows == [("2",)]
    )


_JSON = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "true",
}


def with_registry(kind: str, registry: SchemaRegistry) -> dict[str, str]:
    return {
        "value.converter": kind,
        "value.converter.schema.registry.url": registry.url,
        # Protobuf can't tell null from zero otherwise.
        "value.converter.optional.for.nullables": "true",
    }


def create(database: FreshDatabase, cases: Mapping[str, Case]) -> None:
    quote = _quote(database)
    columns = ", ".join(f"{quote}{name}{quote} {case[0]}" for name, case in cases.items())
    values = ", ".join(case[1] for case in cases.values())
    nulls = ", ".join("NULL" for _ in cases)
    for table in ("original", "copied"):
        database.sql(f"CREATE TABLE {table} (id INTEGER NOT NULL PRIMARY KEY, {columns})")
    mode = "SET sql_mode=''; " if "mariadb" in database.url else ""
    database.sql(f"{mode}INSERT INTO original VALUES (1, {values}), (2, {nulls})")


def _quote(database: FreshDatabase) -> str:
    return "`" if "mariadb" in database.url else '"'


def losses(database: FreshDatabase, columns: list[str], text: str, same: str) -> dict[str, str]:
    """The columns whose values differ, with the text of the copy.

    `text` and `same`: how the database makes a text, and compares two that may be null.
    """
    found, quote = {}, _quote(database)
    for name in columns:
        ours, theirs = (text.format(f"{side}.{quote}{name}{quote}") for side in "ba")
        pairs = f"FROM original a JOIN copied b ON a.id = b.id WHERE NOT ({ours} {same} {theirs})"
        for (value,) in database.rows(f"SELECT COALESCE({ours}, 'NULL') {pairs}"):
            found[name] = value
    return found


def test_mariadb(
    worker: PenstockWorker, mariadb: FreshDatabase, unique: Callable[[str], str]
) -> None:
    cases = {name: case for name, case in MARIADB.items() if name not in NO_TIME_OF_DAY}
    create(mariadb, cases)
    columns = [name for name in cases if name not in MARIADB_ONE_WAY]
    there_and_back(worker, mariadb, columns, unique, _JSON)
    assert losses(mariadb, columns, "{}", "<=>") == MARIADB_LOSSES


@pytest.mark.parametrize("converter", ["Json", "Avro", "Protobuf", "JsonSchema"])
def test_postgresql(
    worker: PenstockWorker,
    postgresql: FreshDatabase,
    registry: SchemaRegistry,
    unique: Callable[[str], str],
    converter: str,
) -> None:
    # Protobuf's timestamps end with the year 9999.
    cases = {n: case for n, case in POSTGRESQL.items() if n != "inf" or converter != "Protobuf"}
    create(postgresql, cases)
    columns = [name for name in cases if name not in POSTGRESQL_ONE_WAY]
    keys = _JSON if converter == "Json" else with_registry(converter, registry)
    there_and_back(worker, postgresql, columns, unique, keys)
    assert losses(postgresql, columns, "{}::text", "IS NOT DISTINCT FROM") == POSTGRESQL_LOSSES
