"""From topics to databases through a worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from penstock.testing.databases import FreshDatabase
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics
from tests.cluster.jdbc_records import CONVERTERS, encoded, key
from tests.shared.sizes import Size

SINK = "io.confluent.connect.jdbc.JdbcSinkConnector"


@pytest.fixture(params=["mariadb", "postgresql"])
def database(request: pytest.FixtureRequest) -> FreshDatabase:
    found: FreshDatabase = request.getfixturevalue(request.param)
    return found


def sink(database: FreshDatabase, wanted: str, **more: str) -> dict[str, str]:
    keys = {name.replace("_", "."): value for name, value in more.items()}
    return {
        "connector.class": SINK,
        "topics": wanted,
        "auto.create": "true",
        **database.config,
        **CONVERTERS,
        **keys,
    }


def put(kafka: str, topic: str, rows: Sequence[tuple[int, dict[str, Any] | None]]) -> None:
    topics.produce(
        kafka, topic, encoded(row for _, row in rows), key=lambda number: key(rows[number][0])
    )


def await_rows(
    worker: PenstockWorker, database: FreshDatabase, query: str, rows: list[tuple[str, ...]]
) -> None:
    def ask() -> list[tuple[str, ...]]:
        try:
            return database.rows(query)
        except Exception:  # noqa: BLE001 - the table is not there yet
            return []

    worker.rest.eventually(ask, lambda found: found == rows)


def test_changes_of_rows_and_of_their_schema(
    worker: PenstockWorker, kafka: str, database: FreshDatabase, unique: Callable[[str], str]
) -> None:
    topic, name = unique("people"), unique("sink")
    topics.create(kafka, topic)
    config = sink(
        database,
        topic,
        table_name_format="people",
        insert_mode="upsert",
        pk_mode="record_key",
        pk_fields="id",
        delete_enabled="true",
        auto_evolve="true",
    )
    worker.rest.create_running(name, config)
    put(kafka, topic, [(1, {"id": 1, "name": "ä"}), (2, {"id": 2, "name": "b"}), (3, None)])
    await_rows(
        worker, database, "SELECT id, name FROM people ORDER BY id", [("1", "ä"), ("2", "b")]
    )
    put(kafka, topic, [(1, {"id": 1, "name": "A"}), (2, None), (4, {"id": 4, "name": "d"})])
    put(kafka, topic, [(4, {"id": 4, "name": "D", "city": "Köln"}), (5, {"id": 5, "name": "e"})])
    await_rows(
        worker,
        database,
        "SELECT id, name, COALESCE(city, '-') FROM people ORDER BY id",
        [("1", "A", "-"), ("4", "D", "Köln"), ("5", "e", "-")],
    )
    assert worker.rest.states(name) == ["RUNNING", "RUNNING"]


def test_a_big_backlog_of_several_topics(
    worker: PenstockWorker,
    kafka: str,
    database: FreshDatabase,
    unique: Callable[[str], str],
    size: Size,
) -> None:
    first, second, name = unique("one"), unique("two"), unique("sink")
    counts = {first: size.backlog, second: size.backlog * 2 // 3}
    for topic, count in counts.items():
        topics.create(kafka, topic)
        rows = ({"id": number, "name": f"n{number}"} for number in range(count))
        topics.produce(kafka, topic, encoded(rows))
    config = sink(
        database,
        f"{first},{second}",
        **{
            "transforms": "short",
            "transforms.short.type": "org.apache.kafka.connect.transforms.RegexRouter",
            "transforms.short.regex": "([a-z]+)-.*",
            "transforms.short.replacement": "$1",
        },
    )
    worker.rest.create_running(name, config)
    for table, count in zip(("one", "two"), counts.values(), strict=True):
        query = f"SELECT COUNT(*), COUNT(DISTINCT id), SUM(id) FROM {table}"
        total = sum(range(count))
        await_rows(worker, database, query, [(str(count), str(count), str(total))])
    worker.rest.await_offsets(
        name,
        lambda found: (
            {each["partition"]["kafka_topic"]: each["offset"]["kafka_offset"] for each in found}
            == counts
        ),
    )


def test_a_table_that_is_not_there(
    worker: PenstockWorker, kafka: str, database: FreshDatabase, unique: Callable[[str], str]
) -> None:
    topic, name = unique("people"), unique("fails")
    topics.create(kafka, topic)
    put(kafka, topic, [(1, {"id": 1})])
    config = sink(database, topic, auto_create="false", table_name_format="nowhere")
    refused = worker.rest.request("POST", "/connectors", {"name": name, "config": config})
    assert refused.status_code == 400
    assert "table nowhere does not exist" in refused.text
    assert "auto.create" in refused.text


def test_keys_that_do_not_go_together(worker: PenstockWorker, unique: Callable[[str], str]) -> None:
    wrong = {
        "connector.class": SINK,
        "topics": "t",
        "connection.url": "jdbc:postgresql://127.0.0.1/none",
        "delete.enabled": "true",
        "insert.mode": "upsert",
    }
    answer = worker.rest.request("PUT", f"/connectors/{unique('sink')}/config", wrong)
    assert answer.status_code == 400
    assert "delete.enabled=true goes with pk.mode=record_key" in answer.text
    assert "insert.mode=upsert needs a primary key" in answer.text


def test_a_topic_that_is_deleted_and_made_again(
    worker: PenstockWorker, kafka: str, postgresql: FreshDatabase, unique: Callable[[str], str]
) -> None:
    topic, name = unique("people"), unique("sink")
    config = sink(postgresql, topic, table_name_format="people", exactly_once="true")
    everyone = "SELECT id FROM people ORDER BY id"
    topics.create(kafka, topic)
    put(kafka, topic, [(number, {"id": number, "name": "old"}) for number in (1, 2, 3)])
    worker.rest.create_running(name, config)
    await_rows(worker, postgresql, everyone, [("1",), ("2",), ("3",)])

    worker.rest.stop(name)
    topics.delete(kafka, topic)
    topics.create(kafka, topic)
    put(kafka, topic, [(number, {"id": number, "name": "new"}) for number in (4, 5)])
    worker.rest.expect(202, "PUT", f"/connectors/{name}/resume")
    assert f"topic {topic} was deleted and made again" in worker.rest.await_trace(name)

    worker.rest.configure(name, config | {"exactly.once.new.topic": "begin"})
    await_rows(worker, postgresql, everyone, [(str(number),) for number in range(1, 6)])
