"""Offsets of connectors: as Kafka's own tool sees and sets them, and by the REST API."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from penstock.testing.oracle import CONSUMER_GROUPS, run_tool
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics

LINE = b'{"schema":{"type":"string","optional":false},"payload":"%d"}'


def sink(file: Path, topic: str, **more: str) -> dict[str, str]:
    return {"connector.class": "FileStreamSink", "file": str(file), "topics": topic, **more}


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def numbers(start: int, stop: int) -> list[str]:
    return [str(number) for number in range(start, stop)]


def position(topic: str, offset: int | None) -> dict[str, Any]:
    return {
        "partition": {"kafka_topic": topic, "kafka_partition": 0},
        "offset": None if offset is None else {"kafka_offset": offset},
    }


def groups(kafka: str, *arguments: str) -> str:
    result = run_tool(
        CONSUMER_GROUPS, ["--bootstrap-server", kafka, *arguments], timeout_seconds=120
    )
    return result.stdout + result.stderr


def described(kafka: str, group: str, topic: str) -> list[str]:
    """TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID."""
    text = groups(kafka, "--describe", "--group", group)
    for row in text.splitlines():
        columns = row.split()
        if len(columns) >= 9 and columns[:2] == [group, topic]:
            return columns[1:]
    raise AssertionError(f"no row for {topic} in:\n{text}")


def test_kafkas_tool_sees_the_member_and_resets_only_a_stopped_sink(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    file, topic, name = tmp_path / "out.txt", unique("seen"), unique("member")
    group = f"connect-{name}"
    topics.create(kafka, topic)
    topics.produce(kafka, topic, [LINE % number for number in range(10)])
    worker.rest.create_running(name, sink(file, topic))
    worker.rest.eventually(lambda: lines(file), lambda got: len(got) >= 10)

    _, partition, current, end, lag, member, _, client = described(kafka, group, topic)
    assert (partition, current, end, lag) == ("0", "10", "10", "0")
    assert re.search(rf"connector-consumer-{re.escape(name)}-0", member + client)

    reset = ("--group", group, "--topic", topic, "--reset-offsets", "--to-offset", "4", "--execute")
    refusal = groups(kafka, *reset)
    assert "inactive" in refusal, refusal
    assert described(kafka, group, topic)[2] == "10"

    worker.rest.stop(name)
    topics.produce(kafka, topic, [LINE % number for number in range(10, 13)])
    _, _, current, end, lag, member, _, _ = described(kafka, group, topic)
    assert (current, end, lag, member) == ("10", "13", "3", "-")
    assert re.search(rf"{re.escape(topic)}\s+0\s+4", groups(kafka, *reset))
    worker.rest.resume(name)
    expected = numbers(0, 10) + numbers(4, 13)
    worker.rest.eventually(lambda: lines(file), lambda got: len(got) >= len(expected))
    assert lines(file) == expected


def test_offsets_of_a_sink_are_shown_altered_and_reset(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    file, topic, name = tmp_path / "out.txt", unique("sunk"), unique("sink")
    topics.create(kafka, topic)
    topics.produce(kafka, topic, [LINE % number for number in range(5)])
    worker.rest.create_running(name, sink(file, topic))
    worker.rest.await_offsets(name, lambda found: found == [position(topic, 5)])
    path = f"/connectors/{name}/offsets"
    running = worker.rest.request("PATCH", path, {"offsets": [position(topic, 2)]})
    assert running.status_code == httpx.codes.BAD_REQUEST
    assert "STOPPED" in running.json()["message"]

    worker.rest.stop(name)
    message = worker.rest.alter_offsets(name, [position(topic, 2)])
    assert message == "The offsets for this connector have been altered successfully"
    assert worker.rest.offsets(name) == [position(topic, 2)]
    worker.rest.resume(name)
    expected = numbers(0, 5) + numbers(2, 5)
    worker.rest.eventually(lambda: lines(file), lambda got: len(got) >= len(expected))
    assert lines(file) == expected
    worker.rest.await_offsets(name, lambda found: found == [position(topic, 5)])

    worker.rest.stop(name)
    message = worker.rest.reset_offsets(name)
    assert message == "The offsets for this connector have been reset successfully"
    assert worker.rest.offsets(name) == []
    worker.rest.resume(name)
    expected += numbers(0, 5)
    worker.rest.eventually(lambda: lines(file), lambda got: len(got) >= len(expected))
    assert lines(file) == expected


def test_offsets_of_a_source_are_shown_altered_and_reset(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    file, topic, name = tmp_path / "in.txt", unique("read"), unique("source")
    file.write_text("äöü\nsecond\nthird\n")
    config = {"connector.class": "FileStreamSource", "file": str(file), "topic": topic}
    worker.rest.create_running(name, config)

    def at(offset: int) -> list[dict[str, Any]]:
        return [{"partition": {"filename": str(file)}, "offset": {"position": offset}}]

    end = file.stat().st_size
    worker.rest.await_offsets(name, lambda found: found == at(end))
    worker.rest.stop(name)
    wrong = worker.rest.request(
        "PATCH", f"/connectors/{name}/offsets", {"offsets": [{**at(0)[0], "offset": {"line": 1}}]}
    )
    assert wrong.status_code in (httpx.codes.BAD_REQUEST, httpx.codes.INTERNAL_SERVER_ERROR)
    assert worker.rest.offsets(name) == at(end)

    # Seven bytes: three letters of two bytes each, and the line end.
    message = worker.rest.alter_offsets(name, at(7))
    assert message == "The offsets for this connector have been altered successfully"
    assert worker.rest.offsets(name) == at(7)
    worker.rest.resume(name)

    def payloads() -> list[str]:
        return [
            (value or b"").decode().rpartition('"payload":"')[2][:-2]
            for value in topics.values(kafka, topic)
        ]

    expected = ["äöü", "second", "third", "second", "third"]
    worker.rest.eventually(payloads, lambda got: len(got) >= 5)
    assert payloads() == expected

    worker.rest.stop(name)
    message = worker.rest.reset_offsets(name)
    assert message == "The offsets for this connector have been reset successfully"
    assert worker.rest.offsets(name) == []
    worker.rest.resume(name)
    worker.rest.eventually(payloads, lambda got: len(got) >= 8)
    assert payloads() == [*expected, "äöü", "second", "third"]
