"""What is new: the modes of the JDBC source, its offsets and its edges."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from penstock.api import PartitionKey
from penstock.connectors.jdbc.source.limits import Limits
from penstock.kernel.errors import ConfigError, DataError, RetriableError
from penstock.testing.databases import FreshDatabase, MariaDb
from penstock.testing.waiting import eventually
from tests.spark.connectors.jdbc.sources import Source, World, source

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

BY_ID = {"mode": "incrementing", "incrementing.column.name": "id"}
BY_TIME = {"mode": "timestamp", "timestamp.column.name": "at"}
BY_BOTH = {**BY_ID, **BY_TIME, "mode": "timestamp+incrementing"}


@pytest.fixture(params=["mariadb", "postgresql"])
def database(request: pytest.FixtureRequest) -> FreshDatabase:
    fresh: FreshDatabase = request.getfixturevalue(request.param)
    return fresh


@pytest.fixture
def world(spark: SparkSession) -> World:
    return World(spark)


def ids(rows: list[dict[str, Any]] | None) -> list[int]:
    return [row["id"] for row in rows or []]


def partition(database: FreshDatabase, table: str) -> dict[str, str]:
    schema = "public." if database.url.startswith("jdbc:postgresql") else ""
    return {"protocol": "1", "table": f"{database.name}.{schema}{table}"}


def test_incrementing(database: FreshDatabase, world: World) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (-3), (1), (2)")
    config = {**database.config, **BY_ID}
    with source(world, config) as made:
        assert ids(made.read()) == [-3, 1, 2]
        assert made.read() is None
        database.sql("INSERT INTO t VALUES (5), (3)")
        assert world.figures == {}
        assert ids(made.read()) == [3, 5]
        assert world.figures == {"skipped_numbers": 1}
        assert made.offsets == [(partition(database, "t"), {"incrementing": 5})]
        # What comes late with a lower number is not read.
        database.sql("INSERT INTO t VALUES (4), (6)")
        assert ids(made.read()) == [6]
        first, *others = made.batches
        assert all(batch.frame is first.frame and batch.kept for batch in others)
    with source(world, config) as made:
        assert made.read() is None
        world.put(partition(database, "t"), {"incrementing": 2})
        made.restart_task()
        assert ids(made.read()) == [3, 4, 5, 6]


def test_the_auto_increment_column_is_found(database: FreshDatabase, world: World) -> None:
    serial = "SERIAL" if "postgresql" in database.url else "INT AUTO_INCREMENT"
    database.sql(f"CREATE TABLE t (a INT, id {serial} PRIMARY KEY); INSERT INTO t (a) VALUES (7)")
    with source(world, {**database.config, "mode": "incrementing"}) as made:
        assert made.read() == [{"a": 7, "id": 1}]


def test_timestamp(database: FreshDatabase, world: World) -> None:
    database.sql(
        "CREATE TABLE t (id INT, at TIMESTAMP(3) NOT NULL);"
        "INSERT INTO t VALUES (2, '2020-01-01 00:00:00.001'), (1, '2020-01-01 00:00:00.000')"
    )
    with source(world, {**database.config, **BY_TIME}) as made:
        assert ids(made.read()) == [1, 2]
        offset = {"timestamp_nanos": 1_000_000, "timestamp": 1577836800001}
        assert made.offsets == [(partition(database, "t"), offset)]
        assert made.read() is None
        database.sql(
            "UPDATE t SET at = '2020-01-01 00:00:00.002' WHERE id = 1;"
            "INSERT INTO t VALUES (3, '2037-01-01 00:00:00')"
        )
        # What is of the future waits for it.
        assert ids(made.read()) == [1]
        assert made.read() is None


def test_rows_of_one_time_are_never_cut(database: FreshDatabase, world: World) -> None:
    """A chunk ends behind all rows of its last time, however many there are."""
    rows = ", ".join(f"({n}, '2020-01-01 00:00:0{n // 10}')" for n in range(40))
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP NOT NULL); CREATE INDEX i ON t (at);"
        f"INSERT INTO t VALUES {rows}"
    )
    small = Limits(counted_rows=5, chunk_rows=7, shared_rows=1000)
    for mode in (BY_TIME, BY_BOTH):
        world.offsets.clear()
        with source(world, {**database.config, **mode}, limits=small) as made:
            assert sorted(ids(made.read_all())) == list(range(40))
            assert len(made.batches) >= 4
            assert made.read() is None


def test_timestamp_and_incrementing(database: FreshDatabase, world: World) -> None:
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP NOT NULL);"
        "INSERT INTO t VALUES (2, '2020-01-01'), (1, '2020-01-01'), (3, '2019-01-01')"
    )
    config = {**database.config, **BY_BOTH}
    with source(world, config) as made:
        assert ids(made.read()) == [3, 1, 2]
        expected = {"timestamp_nanos": 0, "timestamp": 1577836800000, "incrementing": 2}
        assert made.offsets == [(partition(database, "t"), expected)]
        # The same time with a greater number is new, an old row that was changed too.
        database.sql("INSERT INTO t VALUES (4, '2020-01-01')")
        assert ids(made.read()) == [4]
        database.sql("UPDATE t SET at = '2020-01-02' WHERE id = 3")
        assert ids(made.read()) == [3]
    with source(world, config) as made:
        assert made.read() is None


def test_the_first_timestamp_that_is_not_null_counts(database: FreshDatabase, world: World) -> None:
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, changed TIMESTAMP NULL, made TIMESTAMP NOT NULL);"
        "INSERT INTO t VALUES (1, '2020-03-01', '2020-01-01'), (2, NULL, '2020-02-01')"
    )
    config = {**database.config, **BY_TIME, "timestamp.column.name": "changed,made"}
    with source(world, config) as made:
        assert ids(made.read()) == [2, 1]
        assert made.read() is None


def test_the_clock_is_that_of_the_columns(postgresql: FreshDatabase, world: World) -> None:
    """A clock on the wall shows what it shows where db.timezone says, not where the worker is."""
    there = "now() AT TIME ZONE 'Pacific/Kiritimati'"
    postgresql.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP NOT NULL);"
        f"INSERT INTO t VALUES (1, {there} - INTERVAL '1 second'), (2, {there} + INTERVAL '1 hour')"
    )
    config = {**postgresql.config, **BY_TIME, "db.timezone": "Pacific/Kiritimati"}
    with source(world, config) as made:
        assert ids(made.read()) == [1]


def test_young_rows_wait_for_the_delay(database: FreshDatabase, world: World) -> None:
    hour, half = (
        ("'1 hour'", "'30 minutes'") if "postgresql" in database.url else ("1 HOUR", "30 MINUTE")
    )
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP NOT NULL);"
        f"INSERT INTO t VALUES (1, LOCALTIMESTAMP), (2, LOCALTIMESTAMP - INTERVAL {hour})"
    )
    delayed = {**database.config, **BY_TIME, "timestamp.delay.interval.ms": "600000"}
    with source(world, delayed) as made:
        assert ids(made.read()) == [2]
        # A transaction that took its time to commit is still in time.
        database.sql(f"INSERT INTO t VALUES (3, LOCALTIMESTAMP - INTERVAL {half})")
        assert ids(made.read()) == [3]
        assert made.read() is None


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("timestamp.initial", "1577836800000", [2]),
        ("timestamp.initial", "-1", []),
    ],
)
def test_where_to_begin(
    mariadb: FreshDatabase, world: World, key: str, value: str, expected: list[int]
) -> None:
    mariadb.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, at DATETIME NOT NULL);"
        "INSERT INTO t VALUES (1, '2020-01-01'), (2, '2020-01-02')"
    )
    with source(world, {**mariadb.config, **BY_TIME, key: value}) as made:
        assert ids(made.read()) == expected


def test_aivens_names(mariadb: FreshDatabase, world: World) -> None:
    mariadb.sql("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)")
    config = {
        **mariadb.config,
        **BY_ID,
        "connector.class": "io.aiven.connect.jdbc.JdbcSourceConnector",
        "incrementing.initial": "1",
        "sql.quote.identifiers": "false",
        "table.names.qualify": "false",
    }
    with source(world, config) as made:
        assert ids(made.read()) == [2, 3]


def test_bulk(database: FreshDatabase, world: World) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY); CREATE TABLE u (id INT)")
    shares = Limits(shared_rows=10, readers=3)
    with source(world, {**database.config, "mode": "bulk"}, limits=shares) as made:
        # Nothing is there, so there is nothing for Spark to do.
        assert made.read() is None
        values = ", ".join(f"({n})" for n in range(100))
        database.sql(f"INSERT INTO t VALUES {values}; INSERT INTO u VALUES (7)")
        for _ in range(2):
            assert sorted(ids(made.read())) == list(range(100))
            assert made.batches[-1].frame.rdd.getNumPartitions() == 3
            assert made.batches[-1].more
            assert ids(made.read()) == [7]
            assert not made.batches[-1].more
        # A null for each: Connect's way to say that there is nothing to go on from.
        stored = [offset for batch in made.batches for offset in batch.offsets.values()]
        assert stored == [None] * 4
        assert made.offsets == []


def test_a_query_with_a_join(database: FreshDatabase, world: World) -> None:
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, k INT); CREATE TABLE u (k INT, name VARCHAR(9));"
        "INSERT INTO t VALUES (1, 1), (2, 2), (3, 1); INSERT INTO u VALUES (1, 'a'), (2, 'b')"
    )
    query = "SELECT t.id, u.name FROM t JOIN u ON t.k = u.k WHERE t.id <> 2;"
    with source(world, {**database.config, **BY_ID, "query": query}) as made:
        assert made.read() == [{"id": 1, "name": "a"}, {"id": 3, "name": "a"}]
        assert made.batches[0].topic == "t-"
        schema = made.batches[0].value_schema
        assert schema is not None
        assert schema.name is None
        ((partition_, offset),) = made.offsets
        assert partition_ == {"query": "query"}
        assert offset["incrementing"] == 3
        database.sql("INSERT INTO t VALUES (4, 2)")
        assert made.read() == [{"id": 4, "name": "b"}]
        # The seeds' way to rewind.
        world.put({"query": "query"}, {"incrementing": 1})
        made.restart_task()
        assert ids(made.read()) == [3, 4]
    # Another query does not go on where this one was.
    other = "SELECT id FROM t WHERE id < 3"
    with source(world, {**database.config, **BY_ID, "query": other}) as made:
        assert ids(made.read()) == [1, 2]
    bulk = {**database.config, "mode": "bulk", "query": "SELECT COUNT(*) AS n FROM t"}
    with source(world, bulk) as made:
        assert made.read() == [{"n": 4}]


def test_a_query_with_times_that_the_database_converts(
    mariadb: FreshDatabase, world: World
) -> None:
    mariadb.sql("CREATE TABLE t (id INT PRIMARY KEY, at DATETIME(3) NOT NULL)")
    mariadb.sql("INSERT INTO t VALUES (1, '2020-01-01'), (2, '2020-01-02 03:04:05.678')")
    with source(world, {**mariadb.config, **BY_TIME, "query": "SELECT id, at FROM t"}) as made:
        assert made.read() == [{"id": 1, "at": 1577836800000}, {"id": 2, "at": 1577934245678}]


def test_nothing_new_costs_three_calls(
    mariadb: FreshDatabase, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thirty connectors that look each second are to cost next to nothing."""
    mariadb.sql("CREATE TABLE t (id INT PRIMARY KEY, at DATETIME NOT NULL)")
    mariadb.sql("INSERT INTO t VALUES (1, '2020-01-01')")
    client = type(world.spark._jvm._gateway_client)  # type: ignore[union-attr]
    send, calls = client.send_command, []

    def counted(self: Any, command: str, *arguments: Any, **options: Any) -> Any:
        # Garbage that Python hands back is not ours.
        if not command.startswith("m\nd\n"):
            calls.append(command)
        return send(self, command, *arguments, **options)

    for mode in (BY_ID, BY_TIME, BY_BOTH):
        with source(world, {**mariadb.config, **mode}) as made:
            made.read_all()
            monkeypatch.setattr(client, "send_command", counted)
            calls.clear()
            assert made.read() is None
            assert len(calls) <= 2
            monkeypatch.undo()


def test_a_limit_of_the_users_own(database: FreshDatabase, world: World) -> None:
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3), (4), (5)"
    )
    with source(world, {**database.config, **BY_ID, "query.suffix": "LIMIT 2"}) as made:
        assert [ids(made.read()) for _ in range(3)] == [[1, 2], [3, 4], [5]]
        assert made.read() is None


def test_a_backlog_is_read_in_chunks_by_several_readers(
    database: FreshDatabase, world: World
) -> None:
    """And whoever is killed in between goes on behind the last chunk."""
    values = ", ".join(f"({n})" for n in range(0, 3000, 3))
    database.sql(f"CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES {values}")
    limits = Limits(counted_rows=20, chunk_rows=300, shared_rows=50, readers=4)
    config = {**database.config, **BY_ID}
    with source(world, config, limits=limits) as made:
        first = ids(made.read())
        assert made.batches[0].more
        assert made.batches[0].frame.rdd.getNumPartitions() == 4
        assert 200 < len(first) < 400
    with source(world, config, limits=limits) as made:
        rest = ids(made.read_all())
        assert sorted(first + rest) == list(range(0, 3000, 3))
        assert made.offsets == [(partition(database, "t"), {"incrementing": 2997})]
    world.offsets.clear()
    with source(world, {**config, "parallel.reads": "false"}, limits=limits) as made:
        assert ids(made.read_all()) == list(range(0, 3000, 3))
        assert len(made.batches) > 3


def test_chunks_by_time_with_several_readers(database: FreshDatabase, world: World) -> None:
    sequence = "generate_series(0, 999) AS s(seq)" if "postgres" in database.url else "seq_0_to_999"
    seconds = "seq * INTERVAL '1 second'" if "postgres" in database.url else "INTERVAL seq SECOND"
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP NOT NULL); CREATE INDEX i ON t (at);"
        f"INSERT INTO t SELECT seq, TIMESTAMP '2020-01-01 00:00:00' + {seconds} FROM {sequence}"
    )
    limits = Limits(counted_rows=20, chunk_rows=300, shared_rows=50, readers=3)
    with source(world, {**database.config, **BY_BOTH}, limits=limits) as made:
        assert sorted(ids(made.read_all())) == list(range(1000))
        assert made.batches[0].frame.rdd.getNumPartitions() == 3
        assert len(made.batches) >= 3


@pytest.mark.parametrize("mode", [BY_ID, BY_TIME, BY_BOTH], ids=["number", "time", "both"])
def test_one_can_go_on_behind_each_part(
    database: FreshDatabase, world: World, mode: dict[str, str]
) -> None:
    """What the first parts have and what is read behind them is everything, nothing twice."""
    sequence = "generate_series(0, 999) AS s(seq)" if "postgres" in database.url else "seq_0_to_999"
    # Ten rows of each time, and parts that end at some of these times.
    seconds = "(seq - seq % 10) * INTERVAL '1 second'"
    seconds = seconds if "postgres" in database.url else "INTERVAL (seq - seq % 10) SECOND"
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP NOT NULL); CREATE INDEX i ON t (at);"
        f"INSERT INTO t SELECT seq, TIMESTAMP '2020-01-01 00:00:00' + {seconds} FROM {sequence}"
    )
    small = {"counted_rows": 20, "stored_rows": 50, "part_rows": 10, "shared_rows": 50}
    config = {**database.config, **mode}
    with source(world, config, limits=Limits(chunk_rows=500, readers=2, **small)) as made:
        made.read()
    (batch,) = made.batches
    ends = batch.part_offsets
    assert len(ends) + 1 == batch.frame.rdd.getNumPartitions() == 10
    by_part: dict[int, list[int]] = {}
    numbered = batch.frame.select(F.spark_partition_id().alias("part"), "value.id").collect()
    for row in numbered:
        by_part.setdefault(row.part, []).append(row.id)
    for number in (0, 4, len(ends) - 1):
        world.offsets.clear()
        for key, offset in ends[number].items():
            world.put(dict(key), offset)
        with source(world, config) as resumed:
            rest = ids(resumed.read_all())
        before = [each for part in range(number + 1) for each in by_part[part]]
        assert sorted(before + rest) == list(range(1000))


def test_what_is_reported_after_the_batch_is_read_in_shorter_chunks(
    database: FreshDatabase, world: World
) -> None:
    values = ", ".join(f"({n})" for n in range(1000))
    database.sql(f"CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES {values}")
    world.stores_parts = False
    limits = Limits(counted_rows=20, chunk_rows=1000, stored_rows=100, readers=2)
    with source(world, {**database.config, **BY_ID}, limits=limits) as made:
        assert 90 < len(made.read() or []) < 120


def test_a_time_that_no_clock_shows_is_not_stored(postgresql: FreshDatabase, world: World) -> None:
    """02:00 to 03:00 is left out where summer begins, but a column may have it."""
    postgresql.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP NOT NULL); CREATE INDEX i ON t (at);"
        "INSERT INTO t SELECT n, TIMESTAMP '2024-03-31 01:40:00' + n * INTERVAL '1 minute'"
        " FROM generate_series(0, 99) AS s(n)"
    )
    zoned = {**postgresql.config, **BY_TIME, "db.timezone": "Europe/Berlin"}
    small = {"counted_rows": 20, "stored_rows": 10, "part_rows": 1, "shared_rows": 5}
    with source(world, zoned, limits=Limits(chunk_rows=100, readers=2, **small)) as made:
        made.read()
    ends = [
        (offset or {})["timestamp"]
        for each in made.batches[0].part_offsets
        for offset in each.values()
    ]
    # From 02:00 to 03:00 what was true at the last time that there was.
    assert len(ends) == 9
    assert len(set(ends)) < len(ends)
    assert ends == sorted(ends)


def test_offsets_of_other_forms_are_continued(postgresql: FreshDatabase, world: World) -> None:
    postgresql.sql("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)")
    for old in ({"table": "t"}, {"protocol": "1", "table": "public.t"}):
        world.offsets.clear()
        world.put(old, {"incrementing": 2})
        with source(world, {**postgresql.config, **BY_ID}) as made:
            assert ids(made.read()) == [3]


def test_a_new_column_is_noticed(database: FreshDatabase, world: World) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1)")
    with source(world, {**database.config, **BY_ID}) as made:
        assert made.read() == [{"id": 1}]
        database.sql("ALTER TABLE t ADD COLUMN name VARCHAR(9); INSERT INTO t VALUES (2, 'x')")
        assert made.read() == [{"id": 2, "name": "x"}]


def test_a_table_that_was_gone_for_a_moment_is_read_on(
    database: FreshDatabase, world: World
) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1)")
    with source(world, {**database.config, **BY_ID}) as made:
        assert ids(made.read()) == [1]
        database.sql("DROP TABLE t")
        assert made.read() is None
        assert made.read() is None
        database.sql("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2)")
        assert ids(made.read()) == [2]
        # Another task may find the table gone when it starts.
        database.sql("ALTER TABLE t RENAME TO old")
        made.restart_task()
        assert made.read() is None
        database.sql("ALTER TABLE old RENAME TO t; INSERT INTO t VALUES (3)")
        assert ids(made.read()) == [3]


def test_numbers_with_decimals_are_no_order(database: FreshDatabase, world: World) -> None:
    database.sql("CREATE TABLE t (id DECIMAL(10, 2) PRIMARY KEY)")
    with (
        source(world, {**database.config, **BY_ID}) as made,
        pytest.raises(ConfigError, match="2 digits behind the point"),
    ):
        made.read()


def test_tables_come_and_go(database: FreshDatabase, world: World) -> None:
    database.sql("CREATE TABLE a (id INT PRIMARY KEY); CREATE TABLE b (id INT PRIMARY KEY)")
    config = {**database.config, **BY_ID, "table.poll.interval.ms": "100"}
    with source(world, config) as made:
        groups = [each["tables"] for each in made.connector.task_configs(5)]
        assert len(groups) == 2
        assert made.read() is None
        database.sql("DROP TABLE a; CREATE TABLE c (id INT PRIMARY KEY); INSERT INTO c VALUES (1)")
        # Until the connector notices, the task lets the table go by itself.
        assert made.read() is None
        eventually(lambda: world.reconfigured)
        # It may have looked between the statements, when one was gone and the other not there.
        eventually(lambda: _tables(made) == ["b", "c"])
        made.restart_task()
        assert ids(made.read()) == [1]


def _tables(made: Source) -> list[str]:
    from penstock.connectors.jdbc.source.selection import tables_of

    configs = made.connector.task_configs(1)
    return sorted(table.name for each in configs for table in tables_of(each["tables"]))


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, ["a", "b", "c_1"]),
        ({"table.whitelist": "b,nowhere"}, ["b"]),
        ({"table.blacklist": "b"}, ["a", "c_1"]),
        ({"table.include.list": r".*\.(a|c_.*)"}, ["a", "c_1"]),
        ({"table.include.list": r".*", "table.exclude.list": r".*_\d"}, ["a", "b"]),
        ({"table.types": "VIEW"}, ["v"]),
        ({"catalog.pattern": "nobody"}, []),
    ],
)
def test_which_tables(
    mariadb: FreshDatabase, world: World, keys: dict[str, str], expected: list[str]
) -> None:
    mariadb.sql(
        "CREATE TABLE a (id INT); CREATE TABLE b (id INT); CREATE TABLE c_1 (id INT);"
        "CREATE VIEW v AS SELECT * FROM a"
    )
    from penstock.connectors.jdbc.source.connector import ConfluentJdbcSourceConnector
    from penstock.connectors.jdbc.source.selection import tables_of

    connector = ConfluentJdbcSourceConnector()
    connector.start({**mariadb.config, "mode": "bulk", "topic.prefix": "t-", **keys}, world)
    found = [
        table.name for each in connector.task_configs(1) for table in tables_of(each["tables"])
    ]
    connector.stop()
    assert found == expected


def test_odd_names(database: FreshDatabase, world: World) -> None:
    quote = '"' if "postgresql" in database.url else "`"
    table, column, time = (f"{quote}{name}{quote}" for name in ("Select, ü", "From`Where", "At.x"))
    column = column if quote == '"' else "`From``Where`"
    database.sql(
        f"CREATE TABLE {table} ({column} INT PRIMARY KEY, {time} TIMESTAMP NOT NULL);"
        f"INSERT INTO {table} VALUES (1, '2020-01-01')"
    )
    config = {
        **database.config,
        "mode": "timestamp+incrementing",
        "incrementing.column.name": "From`Where",
        "timestamp.column.name": "At.x",
    }
    with source(world, config) as made:
        assert made.read() == [{"From`Where": 1, "At.x": 1577836800000}]
        assert made.batches[0].topic == "t-Select, ü"
        assert made.read() is None


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({**BY_ID, "incrementing.column.name": "nope"}, "has no column nope"),
        ({**BY_TIME, "timestamp.column.name": "nope"}, "has no column nope"),
        ({"mode": "incrementing"}, "0 auto-increment columns"),
        ({**BY_ID, "incrementing.column.name": "at"}, "at is datetime, not a number"),
        ({**BY_TIME, "timestamp.column.name": "id"}, "id is int(eger)?, not a timestamp"),
        ({**BY_ID, "incrementing.column.name": "n"}, "n may be null"),
        (BY_TIME, "at may be null"),
    ],
)
def test_a_mode_that_a_table_can_not_have(
    mariadb: FreshDatabase, world: World, keys: dict[str, str], message: str
) -> None:
    mariadb.sql("CREATE TABLE t (id INT PRIMARY KEY, at DATETIME, n INT)")
    with (
        source(world, {**mariadb.config, **keys}) as made,
        pytest.raises(ConfigError, match=message),
    ):
        made.read()


def test_wrong_queries_and_databases(mariadb: FreshDatabase, world: World) -> None:
    wrong = {**mariadb.config, "mode": "bulk", "query": "SELECT * FROM nowhere"}
    with source(world, wrong) as made, pytest.raises(DataError, match="nowhere"):
        made.read()
    other = mariadb.url.replace(mariadb.name, "nix")
    with (
        pytest.raises((ConfigError, DataError), match="nix"),
        source(world, {**mariadb.config, "connection.url": other, "mode": "bulk"}),
    ):
        pass
    password = {**mariadb.config, "mode": "bulk", "connection.password": "tr0ub4dor"}
    with pytest.raises(ConfigError, match="Access denied") as caught, source(world, password):
        pass
    assert "tr0ub4dor" not in str(caught.value)


def test_a_database_that_goes_away_and_comes_back(world: World, tmp_path: Path) -> None:
    with MariaDb(tmp_path / "db") as server:
        server.create_database("x")
        server.sql("x", "CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1)")
        config = {
            "connection.url": server.url("x"),
            "connection.user": "root",
            "connection.attempts": "1",
            **BY_ID,
        }
        with source(world, config) as made:
            assert ids(made.read()) == [1]
            server.kill()
            for _ in range(2):
                with pytest.raises(RetriableError):
                    made.read()
            server.start()
            server.sql("x", "INSERT INTO t VALUES (2)")
            assert ids(made.read()) == [2]
        limited = {**config, "query.retry.attempts": "1"}
        with source(world, limited) as made:
            assert made.read() is None
            server.kill()
            with pytest.raises(RetriableError):
                made.read()
            with pytest.raises(DataError, match=r"query\.retry\.attempts=1"):
                made.read()
            server.start()


def test_altered_offsets_are_checked() -> None:
    from penstock.connectors.jdbc.source.connector import ConfluentJdbcSourceConnector

    connector = ConfluentJdbcSourceConnector()
    config = {"connection.url": "jdbc:sqlite:x", **BY_BOTH}
    table = PartitionKey.of({"protocol": "1", "table": "db.t"})
    good = {"incrementing": 5, "timestamp": 1, "timestamp_nanos": 1_000_000}
    assert connector.alter_offsets(config, {table: good})
    assert connector.alter_offsets(config, {PartitionKey.of({"any": 1}): None})
    for partition_, offset in (
        ({"table": "t", "more": 1}, good),
        ({"query": "other"}, good),
        ({"table": "t"}, {"position": 1}),
        ({"table": "t"}, {"incrementing": "5"}),
        ({"table": "t"}, {"timestamp_nanos": 10**9}),
    ):
        with pytest.raises(DataError):
            connector.alter_offsets(config, {PartitionKey.of(partition_): offset})


def test_a_database_without_a_dialect_of_its_own(postgresql: FreshDatabase, world: World) -> None:
    """Standard SQL and the driver's conversions: what Oracle or Db2 get."""
    postgresql.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP(3) NOT NULL, d DATE, n TIME);"
        "INSERT INTO t VALUES (1, '1969-12-31 23:59:59.999', '1969-12-31', '10:00:00.5'),"
        " (2, '2021-12-05 06:57:48.123', NULL, NULL)"
    )
    config = {
        **postgresql.config,
        **BY_BOTH,
        "dialect.name": "GenericDatabaseDialect",
        "timestamp.delay.interval.ms": "1000",
    }
    with source(world, config) as made:
        assert made.read() == [
            {"id": 1, "at": -1, "d": -1, "n": 36_000_500},
            {"id": 2, "at": 1638687468123, "d": None, "n": None},
        ]
        offset = {"timestamp_nanos": 123_000_000, "timestamp": 1638687468123, "incrementing": 2}
        assert made.offsets == [(partition(postgresql, "t"), offset)]
        assert made.read() is None
        postgresql.sql("INSERT INTO t VALUES (3, '2021-12-05 06:57:48.123', NULL, NULL)")
        assert ids(made.read()) == [3]
    bulk = {**postgresql.config, "mode": "bulk", "dialect.name": "OracleDatabaseDialect"}
    with source(world, bulk, limits=Limits(shared_rows=1, readers=2)) as made:
        assert sorted(ids(made.read())) == [1, 2, 3]


@pytest.mark.parametrize("level", ["READ_UNCOMMITTED", "READ_COMMITTED", "SERIALIZABLE"])
def test_isolation_levels(database: FreshDatabase, world: World, level: str) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1)")
    keys = {"transaction.isolation.mode": level, "query.masked": "SELECT id FROM t"}
    with source(world, {**database.config, **BY_ID, **keys}) as made:
        assert ids(made.read()) == [1]


def test_names_without_quotes(database: FreshDatabase, world: World) -> None:
    database.sql("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1)")
    keys = {"quote.sql.identifiers": "never", "incrementing.column.name": "ID"}
    with source(world, {**database.config, **BY_ID, **keys}) as made:
        assert ids(made.read()) == [1]
        assert made.read() is None


def test_a_bulk_table_with_a_hint(mariadb: FreshDatabase, world: World) -> None:
    mariadb.sql("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2)")
    with source(
        world, {**mariadb.config, "mode": "bulk", "query.suffix": "LOCK IN SHARE MODE"}
    ) as made:
        assert ids(made.read()) == [1, 2]
    with source(world, {**mariadb.config, **BY_ID, "query.suffix": "LOCK IN SHARE MODE"}) as made:
        assert ids(made.read()) == [1, 2]


def test_sqlite(world: World, tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    config = {"connection.url": f"jdbc:sqlite:{file}"}

    def run(text: str) -> None:
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript(text)

    run(
        "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, at TIMESTAMP NOT NULL);"
        "INSERT INTO t VALUES (1, '2020-01-01 00:00:00.001'), (2, '2020-01-01 00:00:00.001'),"
        " (3, '2999-01-01')"
    )
    with source(world, {**config, **BY_BOTH}) as made:
        assert ids(made.read()) == [1, 2]
        assert made.read() is None
        run("UPDATE t SET at = '2020-01-01 00:00:00.002' WHERE id = 1")
        assert made.read() == [{"id": 1, "at": 1577836800002}]
    world.offsets.clear()
    with source(world, {**config, **BY_TIME}) as made:
        assert ids(made.read()) == [2, 1]
    world.offsets.clear()
    with source(world, {**config, "mode": "incrementing"}) as made:
        assert ids(made.read()) == [1, 2, 3]
    # The same table of another file is another source.
    file.rename(tmp_path / "y.db")
    moved = {"connection.url": f"jdbc:sqlite:{tmp_path / 'y.db'}", "mode": "incrementing"}
    with source(world, moved) as made:
        assert ids(made.read()) == [1, 2, 3]
    with source(world, moved) as made:
        assert made.read() is None
