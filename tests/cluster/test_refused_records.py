"""Bad records at each step of a sink: one of them costs itself, in a large batch too."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from penstock.testing.databases import FreshDatabase
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics
from tests.cluster.jdbc_records import CONVERTERS, encoded, key
from tests.shared.sizes import Size

SINK = "io.confluent.connect.jdbc.JdbcSinkConnector"
TRANSFORMS = "org.apache.kafka.connect.transforms"
LONGS = "org.apache.kafka.connect.converters.LongConverter"
JSON = "org.apache.kafka.connect.json.JsonConverter"
ERRORS = {
    "errors.tolerance": "all",
    "errors.log.enable": "true",
    "errors.deadletterqueue.topic.replication.factor": "1",
    "errors.deadletterqueue.context.headers.enable": "true",
}


@pytest.fixture(params=["mariadb", "postgresql"])
def database(request: pytest.FixtureRequest) -> FreshDatabase:
    found: FreshDatabase = request.getfixturevalue(request.param)
    return found


def sink(database: FreshDatabase, topic: str, dead: str, **more: str) -> dict[str, str]:
    keys = {name.replace("_", "."): value for name, value in more.items()}
    return {
        "connector.class": SINK,
        "topics": topic,
        "table.name.format": "items",
        "errors.deadletterqueue.topic.name": dead,
        **database.config,
        **CONVERTERS,
        **ERRORS,
        **keys,
    }


def story(letter: topics.Record) -> dict[str, str]:
    prefix = "__connect.errors."
    found = {name.removeprefix(prefix): text for name, text in letter.headers.items()}
    return {name: (text or b"").decode() for name, text in found.items()}


def await_offset(worker: PenstockWorker, name: str, offset: int) -> None:
    def there(found: list[Any]) -> bool:
        return [each["offset"]["kafka_offset"] for each in found] == [offset]

    worker.rest.eventually(lambda: worker.rest.offsets(name), there, seconds=400)


def test_one_bad_record_for_each_step_among_many(
    worker: PenstockWorker,
    kafka: str,
    postgresql: FreshDatabase,
    unique: Callable[[str], str],
    size: Size,
) -> None:
    topic, dead, name = unique("items"), unique("dead"), unique("sink")
    topics.create(kafka, topic)
    count, order = size.records, ("key", "value", "age", "day", "put")
    bad = {step: count * place // 6 for place, step in enumerate(order, start=1)}
    rows = (
        {
            "id": number,
            "age": "young" if number == bad["age"] else "7",
            "day": "some day" if number == bad["day"] else "2026-01-31",
        }
        for number in range(count)
    )
    values = (
        b"{this is no JSON" if number == bad["value"] else value
        for number, value in enumerate(encoded(rows))
    )
    topics.produce(
        kafka, topic, values, key=lambda number: b"abc" if number == bad["key"] else key(number)
    )
    postgresql.sql(
        f"CREATE TABLE items (id BIGINT, age INTEGER, day DATE, CHECK (id <> {bad['put']}))"
    )
    chain = {
        "transforms": "age,day",
        "transforms.age.type": f"{TRANSFORMS}.Cast$Value",
        "transforms.age.spec": "age:int32",
        "transforms.day.type": f"{TRANSFORMS}.TimestampConverter$Value",
        "transforms.day.field": "day",
        "transforms.day.target.type": "Date",
        "transforms.day.format": "yyyy-MM-dd",
    }
    worker.rest.create_running(name, sink(postgresql, topic, dead) | chain)
    await_offset(worker, name, count)

    query = "SELECT COUNT(*), COUNT(DISTINCT id), SUM(id) FROM items"
    total = sum(range(count)) - sum(bad.values())
    assert postgresql.rows(query) == [(str(count - 5), str(count - 5), str(total))]

    letters = {int(story(each)["offset"]): each for each in topics.records(kafka, dead)}
    assert sorted(letters) == sorted(bad.values())
    steps = {
        step: (story(letters[at])["stage"], story(letters[at])["class.name"])
        for step, at in bad.items()
    }
    assert steps == {
        "key": ("KEY_CONVERTER", LONGS),
        "value": ("VALUE_CONVERTER", JSON),
        "age": ("TRANSFORMATION", f"{TRANSFORMS}.Cast$Value"),
        "day": ("TRANSFORMATION", f"{TRANSFORMS}.TimestampConverter$Value"),
        "put": ("TASK_PUT", SINK),
    }
    assert letters[bad["key"]].key == b"abc"
    assert letters[bad["value"]].value == b"{this is no JSON"
    refused = letters[bad["put"]]
    assert refused.key == key(bad["put"])
    assert (refused.value or b"").count(b'"id": %d,' % bad["put"]) == 1
    told = story(refused)
    assert (told["topic"], told["partition"], told["connector.name"]) == (topic, "0", name)
    assert "constraint" in told["exception.message"].lower()
    for step, at in bad.items():
        assert f"offset={at}" in worker.log_text, step


def test_one_refused_record_among_many(
    worker: PenstockWorker,
    kafka: str,
    mariadb: FreshDatabase,
    unique: Callable[[str], str],
    size: Size,
) -> None:
    topic, dead, name = unique("items"), unique("dead"), unique("sink")
    topics.create(kafka, topic)
    count, wrong = size.records, size.records * 7 // 9
    rows = (
        {"id": number, "name": "far too long" if number == wrong else f"n{number}"}
        for number in range(count)
    )
    topics.produce(kafka, topic, encoded(rows))
    mariadb.sql("CREATE TABLE items (id BIGINT, name VARCHAR(6))")
    worker.rest.create_running(name, sink(mariadb, topic, dead))
    await_offset(worker, name, count)
    query = "SELECT COUNT(*), COUNT(DISTINCT id), SUM(id) FROM items"
    total = sum(range(count)) - wrong
    assert mariadb.rows(query) == [(str(count - 1), str(count - 1), str(total))]
    (letter,) = topics.records(kafka, dead)
    told = story(letter)
    assert (told["stage"], told["class.name"], told["offset"]) == ("TASK_PUT", SINK, str(wrong))
    assert "name" in told["exception.message"]


@pytest.mark.parametrize(
    ("database", "once"), [("mariadb", "false"), ("postgresql", "true")], indirect=["database"]
)
def test_fifty_bad_records_of_a_thousand(
    worker: PenstockWorker,
    kafka: str,
    database: FreshDatabase,
    unique: Callable[[str], str],
    once: str,
) -> None:
    topic, dead, name = unique("items"), unique("dead"), unique("sink")
    topics.create(kafka, topic)
    bad = {number for number in range(1000) if number % 20 == 19}
    rows = [
        {"id": number % 100, "name": "far too long" if number in bad else f"n{number}"}
        for number in range(1000)
    ]
    topics.produce(kafka, topic, encoded(rows), key=lambda number: key(number % 100))
    database.sql("CREATE TABLE items (id BIGINT PRIMARY KEY, name VARCHAR(6))")
    config = sink(
        database,
        topic,
        dead,
        insert_mode="upsert",
        pk_mode="record_key",
        pk_fields="id",
        exactly_once=once,
    )
    worker.rest.create_running(name, config)
    await_offset(worker, name, 1000)

    # The last good record of each key counts: in their order, and none of them lost.
    last = {number % 100: f"n{number}" for number in range(1000) if number not in bad}
    found = database.rows("SELECT id, name FROM items ORDER BY id")
    assert found == [(str(number), text) for number, text in sorted(last.items())]
    letters = [story(each) for each in topics.records(kafka, dead)]
    assert [int(each["offset"]) for each in letters] == sorted(bad)
    assert {each["stage"] for each in letters} == {"TASK_PUT"}
    words = re.compile("too long|truncated")
    assert all(words.search(each["exception.message"]) for each in letters)
    if once == "true":
        stored = database.rows("SELECT next_offset FROM penstock_offsets")
        assert stored == [("1000",)]


def test_a_refused_record_fails_the_task_unless_it_is_tolerated(
    worker: PenstockWorker, kafka: str, postgresql: FreshDatabase, unique: Callable[[str], str]
) -> None:
    topic, dead, name = unique("items"), unique("dead"), unique("fails")
    topics.create(kafka, topic)
    rows = [{"id": number, "name": "much too long" if number == 2 else "n"} for number in range(4)]
    topics.produce(kafka, topic, encoded(rows))
    postgresql.sql("CREATE TABLE items (id BIGINT PRIMARY KEY, name VARCHAR(6))")
    config = sink(postgresql, topic, dead)
    worker.rest.create(name, config | {"errors.tolerance": "none"})
    reason = worker.rest.await_trace(name).splitlines()[0]
    assert "too long" in reason
    assert f", record {topic}-0, offset 2)" in reason
    assert postgresql.rows("SELECT COUNT(*) FROM items") == [("2",)]
    worker.rest.configure(name, config)
    await_offset(worker, name, 4)
    assert postgresql.rows("SELECT id FROM items ORDER BY id") == [("0",), ("1",), ("3",)]
