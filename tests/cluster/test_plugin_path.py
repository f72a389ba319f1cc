"""Plugins that appear, change and break while the worker runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

from penstock.testing.worker import PenstockWorker
from tests.cluster import topics

SHOUT = '''
from penstock.api import Record, RecordTransformation
from penstock.kernel.config import Config, Type, key
from shout_marks import marks


class ShoutConfig(Config):
    mark: str = key(Type.STRING, default="!", doc="What a shout ends with.")


class Shout(RecordTransformation):
    """Its value in capitals."""

    Config = ShoutConfig
    java_name = "com.example.Shout$Value"

    def apply(self, record: Record) -> Record:
        if record.value == "whisper":
            raise ValueError("nobody shouts that")
        return record.replace(value=record.value.upper() + marks(self.config.mark))
'''
MARKS = "def marks(mark):\n    return mark * {times}\n"


EXAMPLE = Path(__file__).parents[2] / "examples" / "plugins" / "insert_uuid.py"


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def test_a_plugin_comes_changes_and_another_is_broken(
    worker: PenstockWorker,
    kafka: str,
    dropped_plugins: Path,
    tmp_path: Path,
    unique: Callable[[str], str],
) -> None:
    file, topic, dead, name = tmp_path / "out.txt", unique("shout"), unique("dead"), unique("shout")
    config = {
        "connector.class": "FileStreamSink",
        "file": str(file),
        "topics": topic,
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": dead,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
        "transforms": "s",
        "transforms.s.type": "com.example.Shout$Value",
        "transforms.s.mark": "?",
    }
    answer = worker.rest.request("PUT", f"/connectors/{name}/config", config)
    assert answer.status_code == 400
    assert "Class com.example.Shout$Value could not be found." in answer.text

    (dropped_plugins / "shout_marks.py").write_text(MARKS.format(times=1))
    (dropped_plugins / "shout.py").write_text(SHOUT)
    topics.create(kafka, topic)
    topics.produce(kafka, topic, [b"one", b"whisper", b"two"])
    worker.rest.create_running(name, config)
    worker.rest.eventually(lambda: lines(file), lambda got: len(got) >= 2)
    assert lines(file) == ["ONE?", "TWO?"]
    listed = worker.rest.get("/connector-plugins?connectorsOnly=false")
    assert {"class": "com.example.Shout$Value", "type": "transformation"} in listed
    [letter] = worker.rest.eventually(lambda: topics.records(kafka, dead), bool)
    headers = dict(letter.headers)
    assert letter.value == b"whisper"
    assert headers["__connect.errors.stage"] == b"TRANSFORMATION"
    assert headers["__connect.errors.class.name"] == b"com.example.Shout$Value"
    message = (headers["__connect.errors.exception.message"] or b"").decode()
    assert message.startswith("ValueError: nobody shouts that (shout.py, line ")

    # A changed file counts from the next start on, without another JVM.
    jvm = worker.spark_pid
    (dropped_plugins / "shout_marks.py").write_text(MARKS.format(times=2))
    topics.produce(kafka, topic, [b"three"])
    worker.rest.eventually(lambda: lines(file), lambda got: len(got) >= 3)
    assert lines(file)[-1] == "THREE?"
    assert worker.rest.restart(name, "includeTasks=true").status_code == 202
    worker.rest.await_running(name)
    topics.produce(kafka, topic, [b"four"])
    worker.rest.eventually(lambda: lines(file), lambda got: len(got) >= 4)
    assert lines(file)[-1] == "FOUR??"
    assert worker.spark_pid == jvm

    # A broken one is told by name, wherever somebody looks, and disturbs nobody.
    broken = dropped_plugins / "mumble.py"
    broken.write_text("java_name = 'com.example.Mumble'\nimport sys\nsys.exit('not today')\n")
    [entry] = worker.rest.get("/penstock/broken-plugins")
    assert entry == {
        "name": "mumble",
        "path": str(broken),
        "error": f"SystemExit: not today ({broken}, line 3)",
    }
    other = {**config, "transforms.s.type": "com.example.Mumble"}
    answer = worker.rest.request("PUT", f"/connectors/{unique('mumble')}/config", other)
    assert answer.status_code == 400
    assert f"Plugin mumble ({broken}) can't be loaded: SystemExit: not today" in answer.text
    assert f"Plugin mumble ({broken}) can't be loaded" in worker.log_text
    topics.produce(kafka, topic, [b"five"])
    worker.rest.eventually(lambda: lines(file), lambda got: len(got) >= 5)
    assert lines(file)[-1] == "FIVE??"
    assert worker.rest.states(name) == ["RUNNING", "RUNNING"]


def test_the_example_in_a_source(
    worker: PenstockWorker,
    kafka: str,
    dropped_plugins: Path,
    tmp_path: Path,
    unique: Callable[[str], str],
) -> None:
    (dropped_plugins / EXAMPLE.name).write_text(EXAMPLE.read_text())
    file, topic = tmp_path / "in.txt", unique("uuids")
    file.write_text("one\ntwo\n")
    config = {
        "connector.class": "FileStreamSource",
        "file": str(file),
        "topic": topic,
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "transforms": "hoist,column,record",
        "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
        "transforms.hoist.field": "line",
        "transforms.column.type": "com.github.cjmatta.kafka.connect.smt.InsertUuid$Value",
        "transforms.record.type": "insert_uuid.RecordInsertUuidValue",
        "transforms.record.uuid.field.name": "other",
    }
    worker.rest.create_running(unique("uuids"), config)
    found = [json.loads(value or b"") for value in topics.await_values(kafka, topic, 2)]
    assert [record.pop("line") for record in found] == ["one", "two"]
    uuids = {UUID(text) for record in found for text in record.values()}
    assert len(uuids) == 4
