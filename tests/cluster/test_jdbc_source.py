"""Tables through a worker into topics, with the configurations that people keep in their notes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock.testing.databases import FreshDatabase, MariaDb
from penstock.testing.waiting import eventually, patient
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics
from tests.shared.sizes import Size

CONFLUENT = "io.confluent.connect.jdbc.JdbcSourceConnector"
PASSWORD = "tr0ub4dor"
#: What two readers have in hand, a part of 100,000 rows at most each.
MOST_REPEATED = 200_000

USERS = (
    b'{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"},'
    b'{"type":"string","optional":true,"field":"user_id"},'
    b'{"type":"string","optional":true,"field":"pwd"},'
    b'{"type":"string","optional":true,"field":"name"},'
    b'{"type":"int64","optional":true,"name":"org.apache.kafka.connect.data.Timestamp",'
    b'"version":1,"field":"created_at"}],"optional":false,"name":"users"},'
    b'"payload":{"id":2,"user_id":"user2","pwd":"1234","name":"lee","created_at":1638687468000}}'
)
PRODUCT = (
    b'{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"},'
    b'{"type":"string","optional":false,"field":"name"},'
    b'{"type":"int64","optional":false,"name":"org.apache.kafka.connect.data.Timestamp",'
    b'"version":1,"field":"updated_time"}],"optional":false,"name":"product"},'
    b'"payload":{"id":0,"name":"iPad","updated_time":1704220634262}}'
)


@pytest.fixture
def shop(mariadb: FreshDatabase) -> FreshDatabase:
    """The tables of the notes, for a user with a password."""
    mariadb.sql(
        f"CREATE USER '{mariadb.name}'@'%' IDENTIFIED BY '{PASSWORD}';"
        f"GRANT ALL ON `{mariadb.name}`.* TO '{mariadb.name}'@'%';"
        "CREATE TABLE users (id INT AUTO_INCREMENT PRIMARY KEY, user_id VARCHAR(20),"
        " pwd VARCHAR(20), name VARCHAR(20), created_at DATETIME DEFAULT NOW());"
        "CREATE TABLE product (id INT NOT NULL, name VARCHAR(30) NOT NULL,"
        " updated_time TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), PRIMARY KEY (id));"
        "INSERT INTO users VALUES (2, 'user2', '1234', 'lee', '2021-12-05 06:57:48');"
        "INSERT INTO product VALUES (0, 'iPad', '2024-01-02 18:37:14.262')"
    )
    return mariadb


def config(shop: FreshDatabase, prefix: str, **keys: str) -> dict[str, str]:
    return {
        "connector.class": CONFLUENT,
        "connection.url": shop.url.replace("mariadb", "mysql"),
        "connection.user": shop.name,
        "connection.password": PASSWORD,
        "topic.prefix": prefix,
        "poll.interval.ms": "200",
        "tasks.max": "1",
        **{name.replace("_", "."): value for name, value in keys.items()},
    }


def by_id(shop: FreshDatabase, prefix: str, **keys: str) -> dict[str, str]:
    column = {"incrementing.column.name": "id", "table.whitelist": "users"}
    return config(shop, prefix, mode="incrementing", **keys) | column


def test_the_messages_of_the_notes_byte_for_byte(
    worker: PenstockWorker, kafka: str, shop: FreshDatabase, unique: Callable[[str], str]
) -> None:
    prefix, name = unique("my") + "_", unique("users")
    worker.rest.create_running(name, by_id(shop, prefix))
    assert list(topics.await_values(kafka, f"{prefix}users", 1)) == [USERS]
    table = {"protocol": "1", "table": f"{shop.name}.users"}
    assert worker.rest.await_offsets(
        name, lambda now: now == [{"partition": table, "offset": {"incrementing": 2}}]
    )
    shop.sql("INSERT INTO users (name) VALUES ('kim')")
    second = topics.await_values(kafka, f"{prefix}users", 2)[1]
    assert json.loads(second or b"")["payload"]["name"] == "kim"

    bulk = config(shop, prefix, mode="bulk") | {"table.whitelist": "product"}
    worker.rest.create_running(unique("product"), bulk)
    found = topics.await_values(kafka, f"{prefix}product", 2)
    assert set(found) == {PRODUCT}
    assert PASSWORD not in worker.log_text


def test_each_record_has_its_own_uuid_and_moment(
    worker: PenstockWorker, kafka: str, shop: FreshDatabase, unique: Callable[[str], str]
) -> None:
    """The source keeps its plans; what Spark settles in a plan must not be kept with it."""
    prefix = unique("own") + "_"
    query = "SELECT id, uuid() AS uuid, current_timestamp() AS at FROM record"
    sql = {"transforms": "x", "transforms.x.type": "Sql", "transforms.x.query": query}
    worker.rest.create_running(unique("uuids"), by_id(shop, prefix) | sql)
    for count in (1, 2, 3):
        found = topics.await_values(kafka, f"{prefix}users", count)
        shop.sql("INSERT INTO users (name) VALUES ('kim')")
    payloads = [json.loads(each or b"")["payload"] for each in found]
    assert len({each["uuid"] for each in payloads}) == 3
    assert len({each["at"] for each in payloads}) == 3


def kcat(kafka: str, *arguments: str, stdin: str = "") -> str:
    command = ["kcat", "-b", kafka, *arguments]
    done = subprocess.run(
        command, input=stdin, capture_output=True, text=True, timeout=patient(), check=True
    )
    return done.stdout


def test_kafkacat_rewinds_a_stopped_connector(
    worker: PenstockWorker, kafka: str, shop: FreshDatabase, unique: Callable[[str], str]
) -> None:
    shop.sql("INSERT INTO users (id, name) VALUES (3, 'a'), (4, 'b')")
    topic, name = unique("query"), unique("rewound")
    column = {"incrementing.column.name": "id", "query": "SELECT id, name FROM users"}
    worker.rest.create_running(name, config(shop, topic, mode="incrementing") | column)
    topics.await_values(kafka, topic, 3)
    worker.rest.await_offsets(name, lambda now: bool(now))
    worker.rest.stop(name)

    offsets = worker.properties["offset.storage.topic"]
    listed = kcat(kafka, "-C", "-t", offsets, "-e", "-q", "-f", r"%k#%p\n").splitlines()
    key, place = next(row.rsplit("#", 1) for row in listed if name in row)
    assert json.loads(key) == [name, {"query": "query"}]
    kcat(kafka, "-P", "-t", offsets, "-K#", "-p", place, stdin=f'{key}#{{"incrementing":2}}\n')
    worker.rest.resume(name)
    values = topics.await_values(kafka, topic, 5)
    payloads = [json.loads(value or b"")["payload"]["id"] for value in values]
    assert payloads == [2, 3, 4, 3, 4]


def test_what_is_wrong_is_told_without_the_password(
    worker: PenstockWorker, shop: FreshDatabase, unique: Callable[[str], str]
) -> None:
    refused = worker.rest.request(
        "PUT", f"/connectors/{unique('x')}/config", {**by_id(shop, "x"), "mode": "timestamp"}
    )
    assert refused.status_code == 400
    assert "timestamp.column.name is required" in refused.text
    path = f"/connectors/{unique('y')}/config"
    login = {**by_id(shop, "x"), "connection.password": "n0nsense"}
    refused = worker.rest.request("PUT", path, login)
    assert refused.status_code == 400
    assert "Access denied" in refused.text
    assert "n0nsense" not in refused.text
    lacking = {**by_id(shop, "x"), "incrementing.column.name": "nope"}
    refused = worker.rest.request("PUT", path, lacking)
    assert refused.status_code == 400
    assert "has no column nope" in refused.text


@pytest.fixture
def fragile(tmp_path: Path) -> Iterator[MariaDb]:
    """A server that a test may kill."""
    with MariaDb(tmp_path / "fragile") as server:
        server.create_database("x")
        yield server


def test_a_database_that_dies_in_the_middle_of_a_load(
    worker: PenstockWorker, kafka: str, fragile: MariaDb, unique: Callable[[str], str], size: Size
) -> None:
    fragile.sql(
        "x",
        "CREATE TABLE big (id INT PRIMARY KEY, filler VARCHAR(200));"
        f"INSERT INTO big SELECT seq, REPEAT('x', 200) FROM seq_1_to_{size.load_rows}",
    )
    prefix, name = unique("died") + "-", unique("survivor")
    keys = {
        "connector.class": CONFLUENT,
        "connection.url": fragile.url("x"),
        "connection.user": "root",
        "connection.attempts": "1",
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "topic.prefix": prefix,
        "poll.interval.ms": "200",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }
    topics.create(kafka, f"{prefix}big")
    worker.rest.create(name, keys)
    eventually(lambda: topics.end(kafka, f"{prefix}big") > 1000)
    fragile.kill()
    # Long enough for several attempts in vain.
    eventually(lambda: worker.log_text.count(f"Task {name}-0:") >= 3)
    fragile.start()
    worker.rest.await_offsets(
        name, lambda now: bool(now) and now[0]["offset"] == {"incrementing": size.load_rows}
    )
    values = topics.values(kafka, f"{prefix}big")
    assert {json.loads(value or b"")["id"] for value in values} == set(range(1, size.load_rows + 1))
    assert worker.rest.states(name) == ["RUNNING", "RUNNING"]


def test_a_worker_that_is_killed_goes_on_within_a_chunk(
    mortal: PenstockWorker,
    kafka: str,
    mariadb: FreshDatabase,
    unique: Callable[[str], str],
    size: Size,
) -> None:
    """A first load of many rows: few of those that are in the topic come again."""
    rows = size.chunk_rows
    mariadb.sql(f"CREATE TABLE big (id INT PRIMARY KEY) AS SELECT seq AS id FROM seq_1_to_{rows}")
    prefix, name = unique("killed") + "-", unique("loader")
    # Small requests, so that the load lasts for seconds.
    slowly = {"batch.size": "6000", "linger.ms": "0", "max.in.flight.requests.per.connection": "1"}
    keys = {
        "connector.class": CONFLUENT,
        **mariadb.config,
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "topic.prefix": prefix,
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        **{f"producer.override.{key}": value for key, value in slowly.items()},
    }
    topic = f"{prefix}big"
    topics.create(kafka, topic)
    mortal.rest.create(name, keys)

    def stored() -> int:
        found = mortal.rest.offsets(name)
        return int(found[0]["offset"]["incrementing"]) if found else 0

    within = eventually(stored, seconds=300)
    mortal.kill()
    assert within < rows
    mortal.start()
    eventually(stored, lambda now: now == rows, seconds=300)
    assert mortal.rest.states(name) == ["RUNNING", "RUNNING"]
    assert topics.end(kafka, topic) <= rows + min(rows - within, MOST_REPEATED)
    found = {int((value or b"")[6:-1]) for value in topics.values(kafka, topic)}
    assert found == set(range(1, rows + 1))
