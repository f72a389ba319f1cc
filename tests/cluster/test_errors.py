"""errors.*: records that can't be read fail the task, or go where the connector says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from penstock.testing.databases import FreshDatabase
from penstock.testing.waiting import eventually
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics
from tests.shared.sizes import Size

JSON = "org.apache.kafka.connect.json.JsonConverter"
GOOD = b'{"schema":{"type":"string","optional":false},"payload":"%d"}'
BAD = b"{this is no JSON"


def sink(file: Path, topic: str, **more: str) -> dict[str, str]:
    return {
        "connector.class": "FileStreamSink",
        "file": str(file),
        "topics": topic,
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": JSON,
        **more,
    }


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def test_a_bad_record_fails_the_task_which_stays_failed(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    file, topic, name = tmp_path / "out.txt", unique("bad"), unique("fails")
    topics.create(kafka, topic)
    topics.produce(kafka, topic, [GOOD % 0, GOOD % 1, BAD, GOOD % 3])
    worker.rest.create(name, sink(file, topic))
    trace = worker.rest.await_trace(name)
    assert "VALUE_CONVERTER" in trace
    assert JSON in trace
    assert f"{topic}-0, offset 2" in trace
    assert worker.rest.states(name) == ["RUNNING", "FAILED"]

    # Others do not notice, and nothing starts it again but a user.
    other = tmp_path / "other.txt"
    fine = unique("fine")
    topics.produce(kafka, fine, [GOOD % 7])
    worker.rest.create_running(unique("other"), sink(other, fine))
    worker.rest.eventually(lambda: lines(other), lambda got: got == ["7"])
    assert worker.rest.states(name) == ["RUNNING", "FAILED"]

    # Tolerated from now on: the bad one is passed over, nothing is lost, nothing comes twice.
    worker.rest.configure(name, sink(file, topic, **{"errors.tolerance": "all"}))
    worker.rest.await_running(name)
    eventually(lambda: lines(file), lambda got: len(got) >= 3)
    assert lines(file) == ["0", "1", "3"]
    worker.rest.await_offsets(
        name,
        lambda found: [entry["offset"] for entry in found] == [{"kafka_offset": 4}],
    )


def test_what_is_wrong_with_chain_or_dead_letters_is_seen_without_a_record(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    file, topic, dead = tmp_path / "out.txt", unique("silent"), unique("dead")
    topics.create(kafka, topic)
    chain = {"transforms": "x", "transforms.x.type": "RegexRouter", "transforms.x.regex": ".*"}
    chain |= {"transforms.x.replacement": "y", "transforms.x.predicate": "nobody"}
    letters = {"errors.deadletterqueue.topic.name": dead}
    copies = "errors.deadletterqueue.topic.replication.factor"
    name, lonely = unique("wrong-chain"), unique("too-many-copies")
    worker.rest.create(name, sink(file, topic, **chain))
    worker.rest.create(lonely, sink(file, topic, **letters))
    assert "transforms.x: Unknown predicate 'nobody'" in worker.rest.await_trace(name)
    assert f"3 copies ({copies})" in worker.rest.await_trace(lonely)
    worker.rest.configure(lonely, sink(file, topic, **letters, **{copies: "1"}))
    worker.rest.await_running(lonely)
    assert topics.records(kafka, dead) == []


def test_a_bad_record_deep_in_a_large_backlog(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str], size: Size
) -> None:
    count, bad = size.backlog, size.backlog * 9 // 10
    file, topic, name = tmp_path / "out.txt", unique("deep"), unique("fails")
    topics.create(kafka, topic)
    values = [BAD if number == bad else GOOD % number for number in range(count)]
    topics.produce(kafka, topic, values)
    worker.rest.create(name, sink(file, topic))
    assert f"{topic}-0, offset {bad}" in worker.rest.await_trace(name)
    assert lines(file) == [str(number) for number in range(bad)]
    worker.rest.configure(name, sink(file, topic, **{"errors.tolerance": "all"}))
    eventually(lambda: lines(file), lambda got: len(got) >= count - 1)
    assert lines(file) == [str(number) for number in range(count) if number != bad]


def test_tolerated_records_go_to_the_dead_letter_topic_with_their_story(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    file, topic, dead = tmp_path / "out.txt", unique("mixed"), unique("dead")
    name = unique("tolerant")
    topics.create(kafka, topic)
    values = [BAD if number % 10 == 3 else GOOD % number for number in range(40)]
    topics.produce(
        kafka,
        topic,
        values,
        key=lambda number: f"key-{number}".encode(),
        headers=[("trace", b"abc"), ("empty", None)],
    )
    config = sink(file, topic) | {
        "errors.tolerance": "all",
        "errors.log.enable": "true",
        "errors.log.include.messages": "true",
        "errors.deadletterqueue.topic.name": dead,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
        # The story is about the record as it was, not as a transformation left it.
        "transforms": "route",
        "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.route.regex": ".*",
        "transforms.route.replacement": "elsewhere",
    }
    worker.rest.create_running(name, config)
    worker.rest.eventually(lambda: lines(file), lambda got: len(got) >= 36)
    assert lines(file) == [str(number) for number in range(40) if number % 10 != 3]

    found = worker.rest.eventually(lambda: topics.records(kafka, dead), lambda now: len(now) >= 4)
    assert topics.partitions_of(kafka, dead) == 1
    assert [record.key for record in found] == [b"key-3", b"key-13", b"key-23", b"key-33"]
    for record, offset in zip(found, (3, 13, 23, 33), strict=True):
        assert record.value == BAD
        headers = dict(record.headers)
        assert headers.pop("trace") == b"abc"
        assert headers.pop("empty") is None
        story = {
            header.removeprefix("__connect.errors."): (value or b"").decode()
            for header, value in headers.items()
        }
        assert story.pop("exception.message")
        assert "DataException" in story.pop("exception.stacktrace")
        assert story == {
            "topic": topic,
            "partition": "0",
            "offset": str(offset),
            "connector.name": name,
            "task.id": "0",
            "stage": "VALUE_CONVERTER",
            "class.name": JSON,
            "exception.class.name": "org.apache.kafka.connect.errors.DataException",
        }
    logged = [text for text in worker.log_text.splitlines() if f"task {name}-0" in text]
    for offset in (3, 13, 23, 33):
        assert any(f"offset={offset}" in text for text in logged)
    assert any("VALUE_CONVERTER" in text and JSON in text for text in logged)


def test_a_record_a_transformation_refuses_is_reported_and_fails_the_task(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    file, topic, dead, name = tmp_path / "out", unique("bare"), unique("dead"), unique("fails")
    topics.create(kafka, topic)
    values = [b'{"id":%d}' % number if number != 2 else b'"no map"' for number in range(4)]
    topics.produce(kafka, topic, values)
    prefix = "org.apache.kafka.connect.transforms"
    config = sink(file, topic) | {
        "value.converter.schemas.enable": "false",
        "transforms": "route,name",
        "transforms.route.type": f"{prefix}.RegexRouter",
        "transforms.route.regex": ".*",
        "transforms.route.replacement": "elsewhere",
        "transforms.name.type": f"{prefix}.InsertField$Value",
        "transforms.name.topic.field": "from",
        "errors.log.enable": "true",
        "errors.deadletterqueue.topic.name": dead,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    worker.rest.create(name, config)
    trace = worker.rest.await_trace(name)
    assert "TRANSFORMATION" in trace
    assert f"{topic}-0, offset 2" in trace
    # In the order of Java's HashMap, which InsertField makes of a map.
    assert lines(file) == ["{id=0, from=elsewhere}", "{id=1, from=elsewhere}"]
    worker.rest.await_offsets(
        name, lambda found: [entry["offset"] for entry in found] == [{"kafka_offset": 2}]
    )
    (letter,) = topics.records(kafka, dead)
    assert letter.value == b'"no map"'
    assert letter.headers["__connect.errors.topic"] == topic.encode()
    assert letter.headers["__connect.errors.stage"] == b"TRANSFORMATION"
    assert letter.headers["__connect.errors.class.name"] == f"{prefix}.InsertField$Value".encode()
    assert f"Error encountered in task {name}-0" in worker.log_text


def test_a_converter_that_asks_for_another_attempt(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    file, passes, topic = tmp_path / "out", tmp_path / "passes", unique("patience")
    dead, name = unique("dead"), unique("patient")
    topics.create(kafka, topic)
    config = sink(file, topic) | {
        "value.converter": "troublesome.PatientConverter",
        "value.converter.passes": str(passes),
        "errors.tolerance": "all",
        "errors.retry.timeout": "700",
        "errors.retry.delay.max.ms": "400",
        "errors.deadletterqueue.topic.name": dead,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    worker.rest.create_running(name, config)
    topics.produce(kafka, topic, [b"a", b"later", b"b"])
    worker.rest.eventually(lambda: lines(file), lambda got: len(got) >= 2)
    assert lines(file) == ["a", "b"]
    assert "the registry is away; trying again in 0.3 s" in worker.log_text
    (letter,) = topics.records(kafka, dead)
    assert letter.value == b"later"
    assert letter.headers["__connect.errors.exception.message"] == b"the registry is away"
    assert letter.headers["__connect.errors.class.name"] == b"troublesome.PatientConverter"

    # With all the time it needs nothing is skipped.
    worker.rest.configure(name, config | {"errors.retry.timeout": "-1"})
    waiting = worker.log_text.count("the registry is away")
    topics.produce(kafka, topic, [b"later", b"c"])
    worker.rest.eventually(lambda: worker.log_text.count("the registry is away") > waiting + 3)
    passes.touch()
    worker.rest.eventually(lambda: lines(file), lambda got: len(got) >= 4)
    assert lines(file) == ["a", "b", "later", "c"]
    assert len(topics.records(kafka, dead)) == 1


def test_a_target_that_asks_for_patience_gets_it(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    """As in Connect, what write() asks to repeat is repeated without end, whatever errors.* say."""
    file, passes, topic = tmp_path / "out.json", tmp_path / "passes", unique("patience")
    name = unique("moody")
    topics.create(kafka, topic)
    topics.produce(kafka, topic, [GOOD % number for number in range(5)])
    config = {
        "connector.class": "troublesome.MoodySinkConnector",
        "topics": topic,
        "file": str(file),
        "passes": str(passes),
        "errors.retry.timeout": "0",
    }
    worker.rest.create_running(name, config)
    worker.rest.eventually(lambda: worker.log_text.count(f"Task {name}-0: the target is"), bool)
    assert worker.rest.states(name) == ["RUNNING", "RUNNING"]
    assert not file.exists()
    assert worker.rest.offsets(name) == []
    passes.touch()
    worker.rest.eventually(lambda: lines(file), bool)
    written = [json.loads(line) for line in lines(file)]
    assert [value for entry in written for value in entry["values"]] == list("01234")


def test_any_other_failure_of_a_target_fails_the_task_at_once(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    topic, name = unique("broken"), unique("fails")
    topics.create(kafka, topic)
    topics.produce(kafka, topic, [GOOD % 0])
    config = {
        "connector.class": "troublesome.MoodySinkConnector",
        "topics": topic,
        "file": str(tmp_path / "out.json"),
        "breaks": "true",
    }
    worker.rest.create(name, config)
    trace = worker.rest.await_trace(name)
    assert "ValueError: the target is broken" in trace
    assert worker.rest.offsets(name) == []


def source(database: FreshDatabase, prefix: str, dead: str) -> dict[str, str]:
    cast = "org.apache.kafka.connect.transforms.Cast$Value"
    return {
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        **database.config,
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "table.whitelist": "people",
        "topic.prefix": prefix,
        "poll.interval.ms": "200",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": JSON,
        "transforms": "key,age,route",
        "transforms.key.type": "org.apache.kafka.connect.transforms.ValueToKey",
        "transforms.key.fields": "id",
        "transforms.age.type": cast,
        "transforms.age.spec": "age:int32",
        "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.route.regex": ".*",
        "transforms.route.replacement": f"{prefix}routed",
        "errors.log.enable": "true",
        "errors.log.include.messages": "true",
        "errors.deadletterqueue.topic.name": dead,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }


def test_dead_letters_of_a_source(
    worker: PenstockWorker, kafka: str, postgresql: FreshDatabase, unique: Callable[[str], str]
) -> None:
    prefix, dead, name = unique("people") + "-", unique("dead"), unique("source-fails")
    postgresql.sql(
        "CREATE TABLE people (id INTEGER PRIMARY KEY, age TEXT);"
        "INSERT INTO people SELECT n, CASE WHEN n % 400 = 7 THEN 'young' ELSE '7' END"
        " FROM generate_series(1, 1000) n"
    )
    config = source(postgresql, prefix, dead)
    worker.rest.create(name, config)
    assert "Cast$Value" in worker.rest.await_trace(name)
    (first,) = topics.records(kafka, dead)
    worker.rest.configure(name, config | {"errors.tolerance": "all"})
    topics.await_values(kafka, f"{prefix}routed", 997)
    worker.rest.await_offsets(
        name, lambda found: [each["offset"]["incrementing"] for each in found] == [1000]
    )
    keys = [
        json.loads(each.value or b"")["payload"]["id"]
        for each in topics.records(kafka, f"{prefix}routed")
    ]
    assert sorted(set(keys)) == [number for number in range(1, 1001) if number % 400 != 7]

    # Which of them the task met first when it failed is not said; then all of them came.
    letters = topics.records(kafka, dead)[1:]
    payloads = [json.loads(letter.value or b"") for letter in letters]
    assert [each["payload"] for each in payloads] == [
        {"id": number, "age": "young"} for number in (7, 407, 807)
    ]
    assert payloads[0]["schema"]["type"] == "struct"
    assert first.value in [letter.value for letter in letters]
    # As it was before the chain: there was no key.
    assert {letter.key for letter in letters} == {None}
    story = {
        header.removeprefix("__connect.errors."): (value or b"").decode()
        for header, value in letters[0].headers.items()
    }
    assert "young" in story.pop("exception.message")
    assert "DataException" in story.pop("exception.stacktrace")
    assert story == {
        "topic": f"{prefix}routed",
        "connector.name": name,
        "task.id": "0",
        "stage": "TRANSFORMATION",
        "class.name": "org.apache.kafka.connect.transforms.Cast$Value",
        "exception.class.name": "org.apache.kafka.connect.errors.DataException",
    }
    logged = [text for text in worker.log_text.splitlines() if f"task {name}-0" in text]
    assert any("source record is {" in text and '"id":407' in text for text in logged)
