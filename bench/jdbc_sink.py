"""JDBC sink against the Debezium JDBC sink, which runs in the real Kafka Connect."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

from bench.jdbc_source import WARM_UP_ROWS, read_table
from bench.lab import JAVA, JSON, PENSTOCK, BenchError, Lab, Worker, committed, wait_for
from bench.measure import Run, measured
from bench.report import Result
from bench.tables import USERS, count_of, database
from penstock.machine.jars import classpath
from penstock.testing.databases import FreshDatabase

PENSTOCK_SINK = "io.confluent.connect.jdbc.JdbcSinkConnector"
DEBEZIUM_SINK = "io.debezium.connector.jdbc.JdbcSinkConnector"
_numbers = itertools.count()


def jdbc_sink_postgresql(lab: Lab) -> Result:
    return _sink(lab, "jdbc-sink-postgresql", "postgresql", "insert")


def jdbc_sink_postgresql_upsert(lab: Lab) -> Result:
    return _sink(lab, "jdbc-sink-postgresql-upsert", "postgresql", "upsert")


def jdbc_sink_mariadb(lab: Lab) -> Result:
    return _sink(lab, "jdbc-sink-mariadb", "mariadb", "insert")


def jdbc_sink_mariadb_upsert(lab: Lab) -> Result:
    return _sink(lab, "jdbc-sink-mariadb-upsert", "mariadb", "upsert")


def _sink(lab: Lab, case: str, kind: str, mode: str) -> Result:
    result = Result(case, f"Kafka -> {kind}, {mode}, five columns")
    # Both commit to Kafka soon after the database, and that is looked at: to count rows that
    # others are adding takes the database more time than to add them.
    java = {"plugin.path": str(_plugins(lab.directory)), "offset.flush.interval.ms": "500"}
    with lab.workers(java=java) as workers:
        rows = lab.options.rows
        small, large = _topics(lab, workers[0], WARM_UP_ROWS, rows)
        with database(lab, kind) as target:
            for worker in workers:
                _write(lab, worker, target, small, WARM_UP_ROWS, mode)
            for _ in range(lab.options.rounds):
                for worker in workers:
                    result.runs.append(_write(lab, worker, target, large, rows, mode))
    if result.of(JAVA):
        ratio = result.rate(PENSTOCK) / result.rate(JAVA)
        result.at_least("rows/s, Penstock to Debezium", ratio, 3)
        share = result.cpu(PENSTOCK) / result.cpu(JAVA)
        result.figures["CPU a record, Penstock to Debezium"] = share
    return result


def _plugins(directory: Path) -> Path:
    """Debezium's connector as Connect wants it: all of its jars in a folder of their own."""
    folder = directory / "plugins" / "debezium-jdbc"
    if not folder.exists():
        folder.mkdir(parents=True)
        for jar in classpath("debezium"):
            shutil.copy(jar, folder)
    return folder.parent


def _topics(lab: Lab, worker: Worker, *sizes: int) -> Iterator[str]:
    """Topics of so many records, filled from a table by our own source."""
    with database(lab, "mariadb") as tables:
        for rows in sizes:
            USERS.create(tables, rows)
            prefix = f"sink-{next(_numbers)}-"
            read_table(lab, worker, tables, USERS, rows, prefix=prefix)
            yield f"{prefix}users"


def _write(
    lab: Lab, worker: Worker, target: FreshDatabase, topic: str, rows: int, mode: str
) -> Run:
    number = next(_numbers)
    name, table = f"jdbc-sink-{number}", f"target_{number}"
    config = _config(worker, target, topic, table, mode)
    with (
        lab.consumer(**{"group.id": f"connect-{name}"}) as group,
        measured(worker.name, worker.pid, rows) as run,
    ):
        worker.create(name, config)
        wait_for(
            lambda: committed(group, topic) >= rows,
            1800,
            f"{worker.name}: all records in {table}",
            lambda: worker.check(name),
            pause=0.2,
        )
    worker.delete(name)
    if (found := count_of(target, table)) != rows:
        raise BenchError(f"{worker.name}: {found} rows of {rows} records")
    target.sql(f"DROP TABLE {table}")
    return run


def _config(
    worker: Worker, target: FreshDatabase, topic: str, table: str, mode: str
) -> dict[str, str]:
    common = {
        "topics": topic,
        "tasks.max": "1",
        "insert.mode": mode,
        "key.converter": JSON,
        "value.converter": JSON,
        "connection.url": target.url,
    }
    keyed = mode == "upsert"
    if worker.name == PENSTOCK:
        own = {
            "connector.class": PENSTOCK_SINK,
            "connection.user": target.server.user,
            "table.name.format": table,
            "auto.create": "true",
        }
        keys = {"pk.mode": "record_value", "pk.fields": "id"}
    else:
        own = {
            "connector.class": DEBEZIUM_SINK,
            "connection.username": target.server.user,
            "connection.password": "",
            "collection.name.format": table,
            "schema.evolution": "basic",
        }
        keys = {"primary.key.mode": "record_value", "primary.key.fields": "id"}
    return {**common, **own, **(keys if keyed else {})}
