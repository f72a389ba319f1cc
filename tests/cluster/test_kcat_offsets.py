"""The kafkacat recipes that Connect users keep in their notes, on Penstock's offsets topic."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from penstock.cli.main import app
from penstock.testing.databases import FreshDatabase
from penstock.testing.waiting import eventually, patient
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics

KEYS_AND_PARTITIONS = r"Key:%k Partitions: %p \n"
AS_JSON = r'{"Key": %k , "Payload": %s, "Partition": %p,  "Offset": %o }\n'


def kcat(kafka: str, *arguments: str, stdin: str = "") -> str:
    # People leave out -C and -P: kcat looks whether a terminal is there. Here is none.
    result = subprocess.run(
        ["kcat", "-b", kafka, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=patient(),
        check=True,
    )
    return result.stdout


def test_offsets_are_read_and_reset_with_kcat_while_the_connector_is_deleted(
    kafka: str, tmp_path: Path, unique: Callable[[str], str], worker: PenstockWorker
) -> None:
    source, topic, name = tmp_path / "in.txt", unique("lines"), unique("source")
    offsets = worker.properties["offset.storage.topic"]
    source.write_text("one\ntwo\n")
    config = {
        "connector.class": "FileStreamSource",
        "file": str(source),
        "topic": topic,
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    }
    worker.rest.create_running(name, config)

    def stored() -> list[tuple[str, str, str]]:
        text = kcat(kafka, "-C", "-t", offsets, "-e", "-q", "-f", r"%k###%s###%p\n")
        rows = [tuple(row.split("###")) for row in text.splitlines()]
        return [(key, value, partition) for key, value, partition in rows if name in key]

    def lines() -> list[str]:
        return kcat(kafka, "-C", "-t", topic, "-e", "-q").splitlines()

    key, value, partition = eventually(stored)[-1]
    assert json.loads(key) == [name, {"filename": str(source)}]
    assert json.loads(value) == {"position": 8}
    assert lines() == ["one", "two"]

    # Deleted and created again it goes on; with a tombstone for its key in between, from the start.
    worker.rest.delete(name)
    tombstone = ("-t", offsets, "-P", "-Z", "-K###", "-p", partition)
    kcat(kafka, *tombstone, stdin=f"{key}###\n")
    worker.rest.create_running(name, config)
    assert eventually(lines, lambda got: len(got) >= 4) == ["one", "two"] * 2


class Desk:
    """kcat and `penstock offsets`, side by side."""

    def __init__(self, worker: PenstockWorker, kafka: str, state: Path) -> None:
        self.kafka = kafka
        self.topic = worker.properties["offset.storage.topic"]
        self._where = ["--connect", worker.url, "--bootstrap-server", kafka]
        self._where += ["--offset-topic", self.topic]
        self._environ = {"XDG_STATE_HOME": str(state)}

    def listed(self, form: str, name: str) -> list[str]:
        """What `kafkacat -t connect-offsets -e -q -f…` has of a connector."""
        text = kcat(self.kafka, "-C", "-t", self.topic, "-e", "-q", "-f", form)
        return [line for line in text.splitlines() if f'"{name}"' in line]

    def last(self, name: str) -> Any:
        """The youngest line of the notes' second command."""
        return json.loads(self.listed(AS_JSON, name)[-1])

    def write(self, partition: str, line: str, *options: str) -> None:
        """The notes' fourth command."""
        kcat(self.kafka, "-t", self.topic, "-P", *options, "-p", partition, stdin=line + "\n")

    def ours(self, *arguments: str) -> list[Any]:
        command = ["offsets", *arguments, *self._where, "-o", "json"]
        done = CliRunner(env=self._environ).invoke(app, command)
        assert done.exit_code == 0, (done.output, done.exception)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def agree(self, name: str) -> Any:
        """The offset, which both must show alike."""
        line, (row,) = self.last(name), self.ours("show", name)
        assert line["Key"] == [name, row["partition"]]
        assert (line["Partition"], line["Offset"]) == (row["topic_partition"], row["topic_offset"])
        assert line["Payload"] == row["offset"]
        return row["offset"]


@pytest.fixture
def desk(worker: PenstockWorker, kafka: str, tmp_path: Path) -> Desk:
    return Desk(worker, kafka, tmp_path / "state")


def jdbc(database: FreshDatabase, topic: str, **keys: str) -> dict[str, str]:
    return {
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        **database.config,
        "topic.prefix": topic,
        "poll.interval.ms": "200",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        **{name.replace("_", "."): value for name, value in keys.items()},
    }


def await_numbers(worker: PenstockWorker, kafka: str, topic: str, count: int) -> list[int]:
    values = worker.rest.eventually(
        lambda: topics.values(kafka, topic), lambda got: len(got) >= count, 60
    )
    return [json.loads(value or b"")["id"] for value in values]


def test_the_lines_of_the_notes_before_and_after_our_commands(
    worker: PenstockWorker,
    kafka: str,
    mariadb: FreshDatabase,
    unique: Callable[[str], str],
    desk: Desk,
) -> None:
    mariadb.sql(
        "CREATE TABLE users (id INT PRIMARY KEY);INSERT INTO users SELECT seq FROM seq_1_to_5"
    )
    name, topic = unique("jdbc_src_1"), unique("users")
    config = jdbc(mariadb, topic, mode="incrementing", query="SELECT id FROM users")
    worker.rest.create_running(name, {**config, "incrementing.column.name": "id"})
    await_numbers(worker, kafka, topic, 5)
    worker.rest.await_offsets(name, bool)
    mark = {"source_hash": desk.last(name)["Payload"].get("source_hash")}
    assert {**desk.agree(name), **mark} == {"incrementing": 5, **mark}
    (place,) = set(desk.listed(KEYS_AND_PARTITIONS, name))
    partition = place.split()[-1]
    key = place.removeprefix("Key:").split(" Partitions:")[0]
    assert key == f'["{name}",{{"query":"query"}}]'

    # Ours, then as kcat shows it: the same key in the same partition, by either way.
    for via, number in (("rest", 3), ("topic", 4)):
        desk.ours("set", name, "--offset", f"incrementing={number}", "--via", via, "--yes")
        assert set(desk.listed(KEYS_AND_PARTITIONS, name)) == {place}
        wanted = [*range(1, 6), *range(4, 6), *([5] if via == "topic" else [])]
        assert await_numbers(worker, kafka, topic, len(wanted)) == wanted
        worker.rest.await_offsets(name, lambda now: now[0]["offset"]["incrementing"] == 5)

    # kcat's, then as ours shows it; and the connector goes on from there.
    worker.rest.stop(name)
    desk.write(partition, f'{key}#{{"incrementing":2}}', "-K#")
    assert desk.agree(name) == {"incrementing": 2}
    raw = kcat(kafka, "-C", "-t", desk.topic, "-e", "-q", "-K###").splitlines()
    assert f'{key}###{{"incrementing":2}}' in raw
    worker.rest.resume(name)
    assert await_numbers(worker, kafka, topic, 11)[8:] == [3, 4, 5]
    worker.rest.await_offsets(name, lambda now: now[0]["offset"]["incrementing"] == 5)

    # A tombstone of either: kcat's line is no JSON then, ours is.
    worker.rest.stop(name)
    desk.ours("reset", name, "--via", "topic", "--yes")
    assert '"Payload": ,' in desk.listed(AS_JSON, name)[-1]
    assert desk.ours("show", name)[0]["offset"] is None
    desk.ours("undo", name, "--via", "topic", "--yes")
    assert desk.agree(name)["incrementing"] == 5
    desk.write(partition, f"{key}###", "-Z", "-K###")
    assert desk.ours("show", name)[0]["offset"] is None
    worker.rest.resume(name)
    assert await_numbers(worker, kafka, topic, 16)[11:] == [1, 2, 3, 4, 5]


def test_bulk_has_a_line_without_a_payload(
    worker: PenstockWorker,
    kafka: str,
    mariadb: FreshDatabase,
    unique: Callable[[str], str],
    desk: Desk,
) -> None:
    mariadb.sql("CREATE TABLE codes (id INT PRIMARY KEY);INSERT INTO codes VALUES (1), (2)")
    name, topic = unique("jdbc_src_bulk"), unique("codes")
    config = jdbc(mariadb, topic, mode="bulk", query="SELECT id FROM codes")
    worker.rest.create_running(name, {**config, "poll.interval.ms": "3600000"})
    assert await_numbers(worker, kafka, topic, 2) == [1, 2]
    (line,) = eventually(lambda: desk.listed(AS_JSON, name))
    # What breaks jq in the notes is a null in ours.
    assert line.startswith(f'{{"Key": ["{name}",{{"query":"query"}}] , "Payload": , ')
    (row,) = desk.ours("show", name)
    assert (row["partition"], row["offset"]) == ({"query": "query"}, None)
    assert f'"Partition": {row["topic_partition"]},' in line


def test_a_source_with_times_is_rewound_by_them(
    worker: PenstockWorker,
    kafka: str,
    mariadb: FreshDatabase,
    unique: Callable[[str], str],
    desk: Desk,
) -> None:
    mariadb.sql(
        "CREATE TABLE log (id INT PRIMARY KEY, at DATETIME(3) NOT NULL);"
        "INSERT INTO log VALUES (1, '2022-11-29 05:00'), (2, '2022-11-29 05:30'),"
        " (3, '2022-11-29 05:59:55.817')"
    )
    name, topic = unique("jdbc_src_3"), unique("log")
    config = jdbc(mariadb, topic, mode="timestamp", query="SELECT id, at FROM log")
    worker.rest.create_running(name, {**config, "timestamp.column.name": "at"})
    await_numbers(worker, kafka, topic, 3)
    worker.rest.await_offsets(name, bool)
    assert desk.agree(name)["timestamp"] == 1669701595817
    assert desk.agree(name)["timestamp_nanos"] == 817000000
    (move,) = desk.ours("rewind", name, "--to", "2022-11-29T05:30", "--yes")
    assert move["after"]["timestamp"] == 1669699799999
    assert move["read_again"] == "since 2022-11-29T05:29:59.999Z"
    assert await_numbers(worker, kafka, topic, 5) == [1, 2, 3, 2, 3]
