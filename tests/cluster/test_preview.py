"""Previews: what a connector would make of records, with nothing written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from penstock.cli.main import app
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics

SINK = {
    "connector.class": "FileStreamSink",
    "file": "/nowhere/at/all",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
    "transforms": "route,only,cast",
    "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
    "transforms.route.regex": "(.*)",
    "transforms.route.replacement": "$1-routed",
    "transforms.only.type": "Sql",
    "transforms.only.query": "SELECT * FROM record WHERE CAST(id AS INT) < 10",
    "transforms.cast.type": "org.apache.kafka.connect.transforms.Cast$Value",
    "transforms.cast.spec": "id:string",
}


def previewed(worker: PenstockWorker, config: dict[str, str], **more: Any) -> list[Any]:
    path = f"/connector-plugins/{config['connector.class']}/preview"
    answer = worker.rest.expect(200, "POST", path, {"config": config, **more})
    return [record["steps"] for record in answer["records"]]


def test_given_records_step_by_step(worker: PenstockWorker) -> None:
    records = [
        {"topic": "t", "key": "k", "value": {"id": 1}, "headers": {"h": "x"}, "timestamp": 7},
        {"topic": "t", "value": {"id": 11}},
        {"topic": "t", "value": "{no JSON"},
        {"topic": "t", "value": {"id": {"a": 1}}},
    ]
    good, dropped, unread, failed = previewed(worker, SINK | {"topics": "t"}, records=records)

    assert [step["step"] for step in good] == [
        "read",
        "transforms.route",
        "transforms.only",
        "transforms.cast",
    ]
    [read], [routed], _, [cast] = (step["records"] for step in good)
    assert read == {
        "topic": "t",
        "partition": 0,
        "offset": 0,
        "timestamp": 7,
        "key": "k",
        "key_schema": {"type": "string", "optional": True},
        "value": {"id": 1},
        "value_schema": None,
        "headers": [{"key": "h", "value": "x"}],
    }
    assert routed == {**read, "topic": "t-routed"}
    assert cast == {**routed, "value": {"id": "1"}}
    assert [step["records"] for step in dropped][2:] == [[]]
    assert unread[0]["error"]["stage"] == "VALUE_CONVERTER"
    assert failed[-1]["step"] == "transforms.only"
    assert failed[-1]["error"]["message"] == "WHERE of the query can't be computed"


def test_the_last_records_of_a_sink_s_topics(
    worker: PenstockWorker, kafka: str, unique: Callable[[str], str]
) -> None:
    topic, name = unique("peeked"), unique("peek")
    topics.create(kafka, topic)
    topics.produce(kafka, topic, [b'{"id": %d}' % number for number in range(9)])
    found = previewed(worker, SINK | {"topics": topic, "name": name}, limit=2)
    assert [steps[0]["records"][0]["offset"] for steps in found] == [7, 8]
    assert [steps[-1]["records"][0]["value"] for steps in found] == [{"id": "7"}, {"id": "8"}]
    assert name not in worker.rest.connectors()


def test_what_a_source_would_read_and_write(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    file, topic = tmp_path / "in.txt", unique("never")
    file.write_text("one\ntwo\nthree\n")
    config = {
        "connector.class": "FileStreamSource",
        "file": str(file),
        "topic": topic,
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "transforms": "x",
        "transforms.x.type": "Sql",
        "transforms.x.query": "SELECT _value AS line, length(_value) AS n FROM record",
    }
    first, second = previewed(worker, config, limit=2)
    assert [step["step"] for step in first] == ["read", "transforms.x", "converters"]
    assert first[0]["records"][0]["value_schema"]["type"] == "string"
    assert first[1]["records"][0]["value"] == {"line": "one", "n": 3}
    assert json.loads(second[-1]["records"][0]["value"]) == {"line": "two", "n": 3}
    assert topics.partitions_of(kafka, topic) == 0

    given = {"schema": {"type": "string"}, "payload": "four"}
    [steps] = previewed(worker, config, records=[{"value": given}])
    assert steps[1]["records"][0]["value"] == {"line": "four", "n": 4}


def test_a_query_is_checked_against_the_records_that_are_there(
    worker: PenstockWorker, tmp_path: Path
) -> None:
    """At validate, before a connector is made."""
    file = tmp_path / "in.txt"
    file.write_text("one\n")
    config = {
        "name": "checked",
        "connector.class": "FileStreamSource",
        "file": str(file),
        "topic": "never",
        "transforms": "x",
        "transforms.x.type": "Sql",
    }
    path = "/connector-plugins/FileStreamSource/config/validate"
    for query, wrong in (
        ("SELECT _value AS line FROM record", None),
        ("SELECT line FROM record", "the query names line; the record has no fields"),
        ("SELECT explode(_value) AS x FROM record", "explode"),
        ("SELECT nothing(_value) AS x FROM record", "nothing"),
        ("SELEC x FROM record", "the query can't be read"),
    ):
        body = config | {"transforms.x.query": query}
        answer = worker.rest.expect(200, "PUT", path, body)
        found = {
            each["value"]["name"]: each["value"]["errors"]
            for each in answer["configs"]
            if each["value"]["errors"]
        }
        if wrong is None:
            assert not found
        else:
            assert list(found) == ["transforms.x.query"]
            assert wrong in found["transforms.x.query"][0]


def test_a_query_is_not_checked_against_a_tombstone(
    worker: PenstockWorker, kafka: str, unique: Callable[[str], str]
) -> None:
    topic = unique("tombstones")
    topics.create(kafka, topic)
    fields = [{"field": "a", "type": "int32", "optional": False}]
    schema = {"type": "struct", "fields": fields, "optional": False}
    record = json.dumps({"schema": schema, "payload": {"a": 1}}).encode()
    topics.produce(kafka, topic, [record, None])
    config = {
        "name": "checked-sink",
        "connector.class": "FileStreamSink",
        "file": "never",
        "topics": topic,
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "transforms": "x",
        "transforms.x.type": "Sql",
        "transforms.x.query": "SELECT a * 2 AS b FROM record",
    }
    first, tombstone = previewed(worker, config)
    assert first[1]["records"][0]["value"] == {"b": 2}
    assert tombstone[1]["records"][0]["value"] is None


@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        ({"records": ["x"]}, "record 0 must be an object"),
        ({"records": [{"valeu": 1}]}, "record 0 has unknown keys valeu; use"),
        ({"records": [{"value_base64": "*"}]}, "value_base64 of record 0"),
        ({"limit": 0}, "1 to 100 records"),
    ],
)
def test_records_that_are_none(worker: PenstockWorker, more: dict[str, Any], wrong: str) -> None:
    path = "/connector-plugins/FileStreamSink/preview"
    body = {"config": SINK | {"topics": "t"}, **more}
    assert wrong in worker.rest.expect(400, "POST", path, body)["message"]


def test_the_command(worker: PenstockWorker, tmp_path: Path) -> None:
    file, records = tmp_path / "sink.json", tmp_path / "records.json"
    file.write_text(json.dumps({"name": "shown", "config": SINK | {"topics": "t"}}))
    records.write_text('{"topic": "t", "value": {"id": 1}}\n{"topic": "t", "value": "{no"}\n')
    command = ["preview", str(file), "--records", str(records), "--url", worker.rest.url]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1
    assert 'topic: "t-routed"' in done.output
    assert 'value: {"id": "1"}' in done.output
    assert "VALUE_CONVERTER org.apache.kafka.connect.json.JsonConverter" in done.output
    done = CliRunner().invoke(app, [*command, "--json"])
    assert len(json.loads(done.output)["records"]) == 2
