"""`penstock offsets`: both kinds of connectors, both ways, on Penstock and on the real Connect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from penstock.cli.main import app
from penstock.kernel.errors import ConfigError, PenstockError
from penstock.testing.oracle import JavaConnect
from penstock.testing.rest import ConnectRest
from penstock.testing.waiting import eventually, patient
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics
from tests.cluster.old_connect import OldConnect

STRING = "org.apache.kafka.connect.storage.StringConverter"


class Command:
    """`penstock offsets` on one cluster, with a journal of its own."""

    def __init__(self, url: str, kafka: str, topic: str, state: Path) -> None:
        self.where = ["--connect", url, "--bootstrap-server", kafka, "--offset-topic", topic]
        self.environ = {"XDG_STATE_HOME": str(state)}

    def __call__(self, *arguments: str, answer: str = "") -> Result:
        """What it printed. In this process: most of a short command's time is its start."""
        only_shows = arguments[0] == "show" or {"--dry-run", "--list"} & {*arguments}
        sure = () if only_shows or answer else ("--yes",)
        command = ["offsets", *arguments, *sure, *self.where]
        result = CliRunner(env=self.environ).invoke(app, command, input=answer)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0 or answer, result.output
        return result

    def refused(self, *arguments: str) -> str:
        """Why it did not work."""
        with pytest.raises(PenstockError) as caught:
            self(*arguments)
        return str(caught.value)

    def rows(self, *arguments: str) -> list[dict[str, Any]]:
        """What scripts get, through jq as they would take it."""
        text = self(*arguments, "-o", "json").stdout
        checked = subprocess.run(
            ["jq", "-c", "."],
            input=text,
            capture_output=True,
            text=True,
            timeout=patient(),
            check=True,
        )
        return [json.loads(line) for line in checked.stdout.splitlines()]

    def table(self, *arguments: str) -> str:
        """What people see, of the program as it is installed."""
        return subprocess.run(
            [sys.executable, "-m", "penstock", "offsets", *arguments, *self.where],
            env={**os.environ, **self.environ, "COLUMNS": "300"},
            capture_output=True,
            text=True,
            timeout=patient(),
            check=True,
        ).stdout


@pytest.fixture
def offsets(worker: PenstockWorker, kafka: str, tmp_path: Path) -> Command:
    topic = worker.properties["offset.storage.topic"]
    return Command(worker.url, kafka, topic, tmp_path / "state")


def source(file: Path, topic: str) -> dict[str, str]:
    return {
        "connector.class": "FileStreamSource",
        "file": str(file),
        "topic": topic,
        "value.converter": STRING,
    }


def sink(file: Path, topic: str) -> dict[str, str]:
    return {
        "connector.class": "FileStreamSink",
        "file": str(file),
        "topics": topic,
        "value.converter": STRING,
    }


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def texts(kafka: str, topic: str) -> list[str]:
    return [(value or b"").decode() for value in topics.values(kafka, topic)]


def append(file: Path, text: str) -> None:
    with file.open("a") as handle:
        handle.write(text)


def moment() -> str:
    return datetime.now(UTC).isoformat()


def await_position(rest: ConnectRest, name: str, position: int) -> None:
    rest.await_offsets(
        name, lambda found: bool(found) and found[0]["offset"] == {"position": position}
    )


def test_a_source_is_set_reset_rewound_and_put_back(
    worker: PenstockWorker,
    kafka: str,
    tmp_path: Path,
    unique: Callable[[str], str],
    offsets: Command,
) -> None:
    file, topic, name = tmp_path / "in.txt", unique("lines"), unique("source")
    file.write_text("one\n")
    worker.rest.create_running(name, source(file, topic))
    await_position(worker.rest, name, 4)
    time.sleep(0.01)
    between = moment()
    append(file, "two\nthree\n")
    await_position(worker.rest, name, 14)

    (row,) = offsets.rows("show", name)
    assert row["partition"] == {"filename": str(file)}
    assert row["offset"] == {"position": 14}
    key = f'["{name}",{{"filename":"{file}"}}]'.encode()
    stored = [
        record
        for record in topics.records(kafka, worker.properties["offset.storage.topic"])
        if record.key == key
    ]
    assert (row["topic_partition"], row["topic_offset"]) == (
        stored[-1].partition,
        stored[-1].offset,
    )
    written = datetime.fromisoformat(row["written"])
    assert abs((datetime.now(UTC) - written).total_seconds()) < 120
    assert [each["offset"] for each in offsets.rows("show", name, "--history", "5")] == [
        {"position": 14},
        {"position": 4},
    ]
    shown = offsets.table("show", name)
    assert '{"position":14}' in shown
    assert f"{row['topic_partition']}@{row['topic_offset']}" in shown

    # Nobody there to be asked, or only shown: nothing happens.
    change = ("set", name, "--offset", "position=8")
    with pytest.raises(ConfigError, match="no terminal to ask on; give --yes"):
        offsets(*change, answer="y\n")
    preview = offsets(*change, "--dry-run", "-o", "json").stdout
    assert "position after 8" in preview
    assert worker.rest.offsets(name)[0]["offset"] == {"position": 14}
    assert worker.rest.states(name) == ["RUNNING", "RUNNING"]

    offsets(*change)
    worker.rest.await_running(name)
    wanted = ["one", "two", "three", "three"]
    worker.rest.eventually(lambda: texts(kafka, topic), lambda got: len(got) >= 4)
    assert texts(kafka, topic) == wanted
    await_position(worker.rest, name, 14)

    # A connector that is paused stays so.
    worker.rest.pause(name)
    offsets("reset", name, "--partition", f"filename={file}")
    assert worker.rest.states(name)[0] == "PAUSED"
    assert worker.rest.offsets(name) == []
    (row,) = offsets.rows("show", name)
    assert row["offset"] is None
    assert "null" in offsets("show", name).stdout
    assert "no offsets changed; the connector is PAUSED" in offsets("reset", name).stderr
    offsets("undo", name)
    assert worker.rest.states(name)[0] == "PAUSED"
    assert worker.rest.offsets(name)[0]["offset"] == {"position": 14}

    # And one that is stopped; to what was stored at a time, by the history in the topic.
    worker.rest.stop(name)
    (move,) = offsets.rows("rewind", name, "--to", between)
    assert (move["before"], move["after"]) == ({"position": 14}, {"position": 4})
    assert worker.rest.states(name) == ["STOPPED"]
    worker.rest.resume(name)
    worker.rest.eventually(lambda: texts(kafka, topic), lambda got: len(got) >= 6)
    assert texts(kafka, topic) == [*wanted, "two", "three"]
    refusal = offsets.refused("rewind", name, "--to", "2001-01-01")
    assert "holds no offset" in refusal
    assert "--to-start" in refusal
    worker.rest.await_running(name)

    # Further and further back: the reset was undone already, so the first change is next.
    worker.rest.stop(name)
    offsets("undo", name)
    offsets("undo", name)
    assert worker.rest.offsets(name)[0]["offset"] == {"position": 14}
    assert "no change" in offsets.refused("undo", name)
    undone = offsets.rows("undo", name, "--list")
    assert [entry["action"] for entry in undone] == ["set", "reset", "rewind"]
    assert all(entry["undone"] for entry in undone)


def test_a_sink_is_set_reset_rewound_and_put_back(
    worker: PenstockWorker,
    kafka: str,
    tmp_path: Path,
    unique: Callable[[str], str],
    offsets: Command,
) -> None:
    file, topic, name = tmp_path / "out.txt", unique("orders"), unique("sink")
    topics.create(kafka, topic)
    topics.produce(kafka, topic, [b"a", b"b"])
    time.sleep(0.01)
    between = moment()
    topics.produce(kafka, topic, [b"c", b"d"])
    worker.rest.create_running(name, sink(file, topic))

    def at(offset: int) -> None:
        worker.rest.await_offsets(
            name, lambda found: [each["offset"]["kafka_offset"] for each in found] == [offset]
        )

    at(4)
    (row,) = offsets.rows("show", name)
    assert row["partition"] == {"kafka_topic": topic, "kafka_partition": 0}
    assert (row["offset"], row["end"], row["lag"]) == ({"kafka_offset": 4}, 4, 0)
    assert "no history" in offsets.refused("show", name, "--history", "3")

    refusal = offsets.refused("set", name, f"{topic}:0=9")
    assert f"{topic}:0 has the offsets 0 to 4, not 9" in refusal
    (move,) = offsets.rows("set", name, f"{topic}:0=3")
    assert move["read_again"] == "1 record"
    expected = ["a", "b", "c", "d", "d"]
    worker.rest.eventually(lambda: lines(file), lambda got: len(got) >= len(expected))
    at(4)
    offsets("rewind", name, "--to", between)
    expected += ["c", "d"]
    worker.rest.eventually(lambda: lines(file), lambda got: len(got) >= len(expected))
    at(4)
    offsets("rewind", name, "--by", "2h", "--via", "topic")
    expected += ["a", "b", "c", "d"]
    worker.rest.eventually(lambda: lines(file), lambda got: len(got) >= len(expected))
    at(4)
    worker.rest.stop(name)
    offsets("reset", name)
    assert worker.rest.offsets(name) == []
    offsets("undo", name)
    at(4)
    assert worker.rest.states(name) == ["STOPPED"]
    assert "nothing to change" in offsets("set", name, f"{topic}:0=4").stderr
    assert lines(file) == expected


def test_a_change_that_fails_leaves_the_connector_as_it_was(
    worker: PenstockWorker,
    kafka: str,
    tmp_path: Path,
    unique: Callable[[str], str],
    offsets: Command,
) -> None:
    file, topic, name = tmp_path / "in.txt", unique("lines"), unique("source")
    file.write_text("one\ntwo\n")
    worker.rest.create_running(name, source(file, topic))
    await_position(worker.rest, name, 8)

    # The connector does not know this field.
    refusal = offsets.refused("set", name, "--offset", "line=1")
    assert "No offset was changed" in refusal
    assert "RUNNING again" in refusal
    assert "no change" in offsets.refused("undo", name)
    # A typing error in the partition.
    wrong = offsets.refused("set", name, "--partition", "filename=x", "--offset", "position=1")
    assert f'"filename":"{file}"' in wrong
    assert "--new" in wrong

    # Another topic than the worker's: what is written there changes nothing, and is told.
    other = unique("other-offsets")
    topics.create(kafka, other)
    elsewhere = Command(worker.url, kafka, other, tmp_path / "other")
    told = elsewhere.refused(
        *("set", name, "--partition", json.dumps({"filename": str(file)})),
        *("--offset", "position=4", "--new", "--via", "topic"),
    )
    assert "offset.storage.topic" in told
    assert "RUNNING again" in told
    assert worker.rest.offsets(name)[0]["offset"] == {"position": 8}
    note = elsewhere("show", name).stderr
    assert "offset.storage.topic" in note
    assert texts(kafka, topic) == ["one", "two"]


def test_without_kafka_the_api_alone_is_used(
    worker: PenstockWorker,
    tmp_path: Path,
    unique: Callable[[str], str],
) -> None:
    file, topic, name = tmp_path / "in.txt", unique("lines"), unique("source")
    file.write_text("one\ntwo\n")
    worker.rest.create_running(name, source(file, topic))
    await_position(worker.rest, name, 8)
    lonely = Command(worker.url, "127.0.0.1:1", "connect-offsets", tmp_path / "state")
    (row,) = lonely.rows("show", name)
    assert row == {
        "connector": name,
        "type": "source",
        "partition": {"filename": str(file)},
        "offset": {"position": 8},
    }
    assert "no Kafka listens" in lonely("show", name).stderr
    lonely("set", name, "--offset", '{"position": 4}')
    await_position(worker.rest, name, 8)
    assert "no Kafka listens" in lonely.refused("show", name, "--via", "topic")


def test_a_server_without_offsets_and_stop(
    lone: PenstockWorker,
    kafka: str,
    tmp_path: Path,
    unique: Callable[[str], str],
) -> None:
    file, topic, name = tmp_path / "in.txt", unique("lines"), unique("source")
    out, sunk = tmp_path / "out.txt", unique("sink")
    file.write_text("one\ntwo\nthree\n")
    lone.rest.create_running(name, source(file, topic))
    lone.rest.create_running(sunk, sink(out, topic))
    await_position(lone.rest, name, 14)
    lone.rest.eventually(lambda: lines(out), lambda got: len(got) >= 3)
    lone.rest.await_offsets(
        sunk, lambda found: [each["offset"]["kafka_offset"] for each in found] == [3]
    )
    with OldConnect(lone.url) as old:
        offset_topic = lone.properties["offset.storage.topic"]
        offsets = Command(old.url, kafka, offset_topic, tmp_path / "state")
        found = {row["connector"]: row for row in offsets.rows("show")}
        assert found[name]["offset"] == {"position": 14}
        assert (found[sunk]["offset"], found[sunk]["lag"]) == ({"kafka_offset": 3}, 0)
        assert "--recreate" in offsets.refused("reset", sunk)
        assert lone.rest.states(sunk) == ["RUNNING", "RUNNING"]

        offsets("set", sunk, f"{topic}:0=1", "--recreate")
        lone.rest.eventually(lambda: lines(out), lambda got: len(got) >= 5)
        offsets("set", name, "--offset", "position=8", "--recreate")
    expected = ["one", "two", "three", "two", "three", "three"]
    lone.rest.eventually(lambda: lines(out), lambda got: len(got) >= 6)
    assert lines(out) == expected
    assert texts(kafka, topic) == ["one", "two", "three", "three"]
    assert lone.rest.get(f"/connectors/{name}/config")["file"] == str(file)
    assert list((tmp_path / "state").rglob("deleted/*.json")) == []

    # Connect 3.5 shows offsets and stops connectors, but does not change offsets.
    await_position(lone.rest, name, 14)
    with OldConnect(lone.url, knows_stop=True) as newer:
        offsets = Command(newer.url, kafka, offset_topic, tmp_path / "state")
        assert "--via topic" in offsets.refused("reset", name, "--via", "rest")
        lone.rest.await_running(name)
        offsets("set", name, "--offset", "position=8")
    lone.rest.eventually(lambda: texts(kafka, topic), lambda got: len(got) >= 5)
    await_position(lone.rest, name, 14)

    # What a deleted connector has left.
    lone.rest.delete(name)
    offsets = Command(lone.url, kafka, offset_topic, tmp_path / "state")
    assert offsets.rows("show", name)[0]["offset"] == {"position": 14}
    offsets("reset", name)
    lone.rest.create_running(name, source(file, topic))
    lone.rest.eventually(lambda: texts(kafka, topic), lambda got: len(got) >= 8)
    assert texts(kafka, topic)[5:] == ["one", "two", "three"]


def test_the_real_connect_both_ways(
    oracle_connect: JavaConnect,
    kafka: str,
    tmp_path: Path,
    unique: Callable[[str], str],
) -> None:
    rest = ConnectRest(oracle_connect.url)
    topic_of_offsets = oracle_connect.properties["offset.storage.topic"]
    offsets = Command(oracle_connect.url, kafka, topic_of_offsets, tmp_path / "state")
    file, topic, name = tmp_path / "in.txt", unique("lines"), unique("source")
    file.write_text("one\ntwo\nthree\n")
    rest.create_running(name, source(file, topic))
    await_position(rest, name, 14)
    (row,) = offsets.rows("show", name)
    assert row["offset"] == {"position": 14}

    def places() -> set[tuple[bytes, int]]:
        stored = topics.records(kafka, topic_of_offsets)
        keys = [(record.key or b"", record.partition) for record in stored]
        return {(key, partition) for key, partition in keys if name.encode() in key}

    before = places()
    offsets("set", name, "--offset", "position=8", "--via", "topic")
    eventually(lambda: texts(kafka, topic), lambda got: len(got) >= 4)
    offsets("reset", name, "--via", "rest")
    eventually(lambda: texts(kafka, topic), lambda got: len(got) >= 7)
    offsets("reset", name, "--via", "topic")
    eventually(lambda: texts(kafka, topic), lambda got: len(got) >= 10)
    whole = ["one", "two", "three"]
    assert texts(kafka, topic) == [*whole, "three", *whole, *whole]
    # One key in one partition, whoever wrote it.
    assert len(before) == 1
    assert places() == before

    out, sunk = tmp_path / "out.txt", unique("sink")
    rest.create_running(sunk, sink(out, topic))
    read = len(texts(kafka, topic))
    committed = [{"kafka_offset": read}]
    rest.await_offsets(sunk, lambda found: [each["offset"] for each in found] == committed)
    for via in ("rest", "topic"):
        (move,) = offsets.rows("set", sunk, f"{topic}:0={read - 2}", "--via", via)
        assert move["read_again"] == "2 records"
        rest.await_running(sunk)
        rest.await_offsets(sunk, lambda found: [each["offset"] for each in found] == committed)
    assert lines(out)[read:] == ["two", "three"] * 2
    for each in (name, sunk):
        rest.delete(each)
