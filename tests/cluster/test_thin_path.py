"""One thin path through everything: `make test-quick` runs it beside the unit tests."""

from __future__ import annotations

import json
from collections.abc import Callable

from penstock.testing.databases import FreshDatabase
from penstock.testing.registry import SchemaRegistry
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics
from tests.unit.cli.run import penstock

TRANSFORMS = "org.apache.kafka.connect.transforms"


def test_rows_of_one_database_reach_another(
    worker: PenstockWorker,
    kafka: str,
    registry: SchemaRegistry,
    mariadb: FreshDatabase,
    postgresql: FreshDatabase,
    unique: Callable[[str], str],
) -> None:
    """From MariaDB by a chain, Avro, a registry and a topic to PostgreSQL; a bad record beside."""
    prefix, source, sink, dead = unique("p") + "-", unique("from"), unique("to"), unique("dead")
    topic = f"{prefix}orders"
    mariadb.sql(
        "CREATE TABLE orders (id INT PRIMARY KEY, item VARCHAR(20), secret VARCHAR(20));"
        "INSERT INTO orders VALUES (1, 'tap', 'a'), (2, 'Rohr ü', 'b')"
    )
    avro = {
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "io.confluent.connect.avro.AvroConverter",
        "value.converter.schema.registry.url": registry.url,
    }
    worker.rest.create_running(
        source,
        {
            "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
            **mariadb.config,
            "mode": "incrementing",
            "incrementing.column.name": "id",
            "table.whitelist": "orders",
            "topic.prefix": prefix,
            "poll.interval.ms": "200",
            "transforms": "hide",
            "transforms.hide.type": f"{TRANSFORMS}.ReplaceField$Value",
            "transforms.hide.exclude": "secret",
            **avro,
        },
    )
    worker.rest.create_running(
        sink,
        {
            "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
            **postgresql.config,
            "topics": topic,
            "table.name.format": "orders",
            "auto.create": "true",
            "insert.mode": "upsert",
            "pk.mode": "record_value",
            "pk.fields": "id",
            "consumer.override.metadata.max.age.ms": "1000",
            "errors.tolerance": "all",
            "errors.deadletterqueue.topic.name": dead,
            "errors.deadletterqueue.topic.replication.factor": "1",
            **avro,
        },
    )
    topics.await_values(kafka, topic, 2)
    topics.produce(kafka, topic, [b"no Avro"])
    mariadb.sql("INSERT INTO orders VALUES (3, NULL, 'c')")
    worker.rest.await_offsets(sink, lambda now: [e["offset"]["kafka_offset"] for e in now] == [4])
    rows = postgresql.rows("SELECT id, COALESCE(item, '-') FROM orders ORDER BY id")
    assert rows == [("1", "tap"), ("2", "Rohr ü"), ("3", "-")]
    columns = "SELECT column_name FROM information_schema.columns WHERE table_name = 'orders'"
    assert ("secret",) not in postgresql.rows(columns)
    assert topics.values(kafka, dead) == [b"no Avro"]
    assert topics.committed(kafka, f"connect-{sink}", topic) == 4

    shown = penstock("get", source, "--connect", worker.url, "-o", "json")
    assert json.loads(shown.out)[0]["tasks"] == {"total": 1, "running": 1}
    worker.rest.stop(source)
    table = {"protocol": "1", "table": f"{mariadb.name}.orders"}
    worker.rest.alter_offsets(source, [{"partition": table, "offset": {"incrementing": 2}}])
    worker.rest.resume(source)
    assert len(topics.await_values(kafka, topic, 5)) == 5
    assert worker.rest.states(sink) == ["RUNNING", "RUNNING"]
