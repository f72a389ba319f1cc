"""What a connector says about its Kafka clients, and secrets it only refers to."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

from penstock.testing.worker import PenstockWorker
from tests.cluster import topics

STRING = "org.apache.kafka.connect.storage.StringConverter"


def sink(file: Path, topic: str, **more: str) -> dict[str, str]:
    return {
        "connector.class": "FileStreamSink",
        "file": str(file),
        "topics": topic,
        "value.converter": STRING,
        **more,
    }


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def test_a_sink_may_begin_at_the_end(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    file, topic = tmp_path / "out.txt", unique("latest")
    topics.create(kafka, topic)
    topics.produce(kafka, topic, [b"old"] * 10)
    config = sink(file, topic, **{"consumer.override.auto.offset.reset": "latest"})
    worker.rest.create_running(unique("sink"), config)
    # Nobody can tell when it stands at the end, so new records come until one is seen.
    number = itertools.count()

    def seen() -> bool:
        topics.produce(kafka, topic, [b"%d" % next(number)])
        return bool(lines(file))

    worker.rest.eventually(seen)
    topics.produce(kafka, topic, [b"last"])
    worker.rest.eventually(lambda: lines(file)[-1:] == ["last"])
    found = lines(file)
    assert "old" not in found
    first = int(found[0])
    assert found == [*(str(n) for n in range(first, next(number))), "last"]


def test_the_size_of_a_poll_and_the_group(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    file, topic, name, group = tmp_path / "out", unique("small"), unique("sink"), unique("group")
    topics.create(kafka, topic)
    topics.produce(kafka, topic, [b"%d" % number for number in range(50)])
    config = {
        "connector.class": "troublesome.MoodySinkConnector",
        "topics": topic,
        "file": str(file),
        "value.converter": STRING,
        "consumer.override.max.poll.records": "7",
        "consumer.override.group.id": group,
    }
    worker.rest.create_running(name, config)

    def offsets() -> list[list[int]]:
        return [json.loads(line)["offsets"] for line in lines(file)]

    worker.rest.eventually(lambda: [at for batch in offsets() for at in batch], _has(50))
    assert [at for batch in offsets() for at in batch] == list(range(50))
    assert max(map(len, offsets())) <= 7
    shown = worker.rest.await_offsets(name, bool)
    worker.rest.await_offsets(name, lambda got: got[0]["offset"] == {"kafka_offset": 50})
    assert shown[0]["partition"] == {"kafka_partition": 0, "kafka_topic": topic}
    assert topics.committed(kafka, group, topic) == 50
    assert topics.committed(kafka, f"connect-{name}", topic) < 0


def _has(count: int) -> Callable[[list[int]], bool]:
    return lambda found: len(found) >= count


def test_secrets_are_resolved_for_the_task_only(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    secrets, seen = tmp_path / "secrets.properties", tmp_path / "seen.json"
    secrets.write_text("password=open-sesame-4711\ntopic=unused\n")
    reference = f"${{file:{secrets}:password}}"
    name, topic = unique("sink"), unique("secret")
    topics.create(kafka, topic)
    config = {
        "connector.class": "troublesome.MoodySinkConnector",
        "topics": topic,
        "file": str(tmp_path / "out"),
        "config.file": str(seen),
        "secret": reference,
    }
    rest = worker.rest
    created = rest.create(name, config)
    rest.await_running(name)
    task_config = json.loads(seen.read_text())
    assert task_config["secret"] == "open-sesame-4711"

    shown = [
        created,
        rest.get(f"/connectors/{name}"),
        rest.get(f"/connectors/{name}/config"),
        rest.get(f"/connectors/{name}/tasks"),
        rest.get("/connectors?expand=info&expand=status"),
    ]
    assert "open-sesame" not in json.dumps(shown)
    assert rest.get(f"/connectors/{name}/config")["secret"] == reference
    assert rest.get(f"/connectors/{name}/tasks")[0]["config"]["secret"] == reference
    stored = [
        value or b""
        for kind in ("config", "status", "offset")
        for value in topics.values(kafka, worker.properties[f"{kind}.storage.topic"])
    ]
    assert any(reference.encode() in value for value in stored)
    assert not any(b"open-sesame" in value for value in stored)
    assert "open-sesame" not in worker.log_text
