"""Both databases of a pipeline go away while rows are under way."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from penstock.testing.databases import FreshDatabase, MariaDb, PostgreSql
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics
from tests.shared.sizes import Size

JSON = {
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "true",
}


def test_databases_that_are_away(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str], size: Size
) -> None:
    rows = size.outage_rows
    prefix = unique("outage") + "-"
    topics.create(kafka, f"{prefix}big")
    with MariaDb(tmp_path / "source") as origin, PostgreSql(tmp_path / "target") as target:
        for server in (origin, target):
            server.create_database("x")
        read, written = FreshDatabase(origin, "x"), FreshDatabase(target, "x")
        read.sql(
            "CREATE TABLE big (id INT PRIMARY KEY, name VARCHAR(20));"
            f"INSERT INTO big SELECT seq, CONCAT('n', seq) FROM seq_1_to_{rows // 2}"
        )
        names = _create(worker, read, written, prefix, unique)
        worker.rest.eventually(lambda: _rows(written)[0] > 0, bool)

        for server in (origin, target):
            server.kill()
        # How long they are away is what this is about, so here it is waited for.
        time.sleep(size.database_away_seconds)
        assert [worker.rest.states(name) for name in names] == [["RUNNING", "RUNNING"]] * 2
        for server in (origin, target):
            server.start()

        read.sql(f"INSERT INTO big SELECT seq, 'late' FROM seq_{rows // 2 + 1}_to_{rows}")
        everything = (rows, rows * (rows + 1) // 2)
        worker.rest.eventually(lambda: _rows(written), lambda now: now == everything, seconds=300)
        assert [worker.rest.states(name) for name in names] == [["RUNNING", "RUNNING"]] * 2


def _create(
    worker: PenstockWorker,
    read: FreshDatabase,
    written: FreshDatabase,
    prefix: str,
    unique: Callable[[str], str],
) -> list[str]:
    """A source and a sink; what says how patient they are is left at its defaults."""
    source = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "topic.prefix": prefix,
        "poll.interval.ms": "500",
    }
    sink = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "topics": f"{prefix}big",
        "table.name.format": "big",
        "auto.create": "true",
        "insert.mode": "upsert",
        "pk.mode": "record_value",
        "pk.fields": "id",
    }
    names = [unique("source"), unique("sink")]
    worker.rest.create_running(names[0], {**source, **read.config, **JSON})
    worker.rest.create_running(names[1], {**sink, **written.config, **JSON})
    return names


def _rows(written: FreshDatabase) -> tuple[int, int]:
    """How many rows have arrived, and the sum of their numbers."""
    try:
        [(count, total)] = written.rows("SELECT COUNT(*), COALESCE(SUM(id), 0) FROM big")
    except Exception:  # noqa: BLE001 - there is no table yet, or no server
        return 0, 0
    return int(count), int(total)
