"""`penstock dlq`: bad records, their letters, a mended connector, and all of them arrive."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.machine.free_ports import free_port
from penstock.testing.waiting import patient
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics

JSON = "org.apache.kafka.connect.json.JsonConverter"
STRING = "org.apache.kafka.connect.storage.StringConverter"


def dlq(*arguments: str, status: int = 0, answer: str = "") -> str:
    result = subprocess.run(
        [sys.executable, "-m", "penstock", "dlq", *arguments],
        input=answer,
        env={**os.environ, "COLUMNS": "300"},
        capture_output=True,
        text=True,
        timeout=patient(),
        check=False,
    )
    assert result.returncode == status, result.stderr
    assert "Traceback" not in result.stderr
    return result.stdout if status == 0 else result.stderr


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def test_there_and_back(
    lone: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    file, topic, dead, name = tmp_path / "out", unique("orders"), unique("dead"), unique("sink")
    topics.create(kafka, topic, partitions=2)
    values = [b"7" if number % 2 else b"{broken %d" % number for number in range(6)]
    headers: topics.Headers = [("trace", b"\xff\x00"), ("empty", None)]
    for partition in (0, 1):
        topics.produce(
            kafka, topic, values, key=lambda _: b"\x01k", headers=headers, partition=partition
        )
    config = {
        "connector.class": "FileStreamSink",
        "file": str(file),
        "topics": topic,
        "key.converter": STRING,
        "value.converter": JSON,
        "value.converter.schemas.enable": "false",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": dead,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    lone.rest.create_running(name, config)
    lone.rest.eventually(lambda: topics.records(kafka, dead), lambda now: len(now) >= 6)
    place = ["--bootstrap-server", kafka, "--url", lone.rest.url]

    listed: dict[str, Any] = json.loads(dlq("list", *place, "--json"))
    assert listed["topics"] == [
        {"topic": dead, "connectors": [name], "exists": True, "letters": 6, "replayed": 0}
    ]
    assert sum(each["count"] for each in listed["groups"]) == 6
    assert {
        (each["connector"], each["original_topic"], each["stage"]) for each in listed["groups"]
    } == {(name, topic, "VALUE_CONVERTER")}
    assert dead in dlq("list", *place)

    shown = json.loads(dlq("show", *place, "--limit", "2", "--offset", "1", "--json"))
    assert [each["offset"] for each in shown] == [1, 2]
    assert shown[0]["key"] == {"text": "\x01k"}
    assert shown[0]["headers"] == [
        {"key": "trace", "value": {"hex": "ff00"}},
        {"key": "empty", "value": None},
    ]
    assert shown[0]["value"]["text"].startswith("{broken")
    text = dlq("show", *place, "--stage", "value_converter", "--connector", name, "--limit", "1")
    assert f"VALUE_CONVERTER {JSON}" in text
    assert "There are no such letters" in dlq("show", *place, "--error", "no such words")

    # The connector is mended: it takes any text now.
    lone.rest.configure(name, config | {"value.converter": STRING})
    assert f"6 letters to {topic}" in dlq("replay", *place, "--dry-run")
    assert "no terminal to ask on; give --yes" in dlq("replay", *place, status=2, answer="y\n")
    assert topics.end(kafka, topic) == 6
    assert "6 letters were replayed" in dlq("replay", *place, "--yes")
    lone.rest.eventually(lambda: lines(file), lambda got: len(got) >= 12)
    assert sorted(lines(file)) == sorted(2 * [value.decode() for value in values])
    back = [each for each in topics.records(kafka, topic) if each.offset >= 6]
    assert [(each.partition, each.value) for each in back] == [
        (partition, value) for partition in (0, 1) for value in values if value != b"7"
    ]
    assert all(each.key == b"\x01k" and each.headers == dict(headers) for each in back)

    # What was replayed is not replayed again, unless somebody asks for that.
    assert "nothing to replay" in dlq("replay", "--topic", dead, *place, "--yes")
    assert json.loads(dlq("list", *place, "--json"))["topics"][0]["replayed"] == 6
    other = unique("other")
    topics.create(kafka, other)
    dlq("replay", "--topic", dead, *place, "--to", other, "--error", "", "--again", "--yes")
    assert len(topics.values(kafka, other)) == 6


def test_what_is_not_there(kafka: str, unique: Callable[[str], str]) -> None:
    nowhere = unique("nowhere")
    text = dlq("list", "--topic", nowhere, "--bootstrap-server", kafka, status=1)
    assert f"there is no topic {nowhere} in Kafka at {kafka}" in " ".join(text.split())
    port = free_port()
    text = dlq("show", "--url", f"http://127.0.0.1:{port}", status=1)
    assert f"no Connect worker answers at http://127.0.0.1:{port}" in text
    away = f"127.0.0.1:{port}"
    text = dlq("show", "-t", "dead", "--bootstrap-server", away, "--timeout", "2", status=1)
    assert away in text
