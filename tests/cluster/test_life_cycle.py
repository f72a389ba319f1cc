"""States of real connectors and tasks: pause, stop, restart, delete, and one that hangs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import httpx

from penstock.testing.waiting import eventually
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics


def source(file: Path, topic: str) -> dict[str, str]:
    return {
        "connector.class": "FileStreamSource",
        "file": str(file),
        "topic": topic,
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    }


def append(file: Path, *lines: str) -> None:
    with file.open("a") as stream:
        stream.writelines(f"{line}\n" for line in lines)


def test_pause_resume_stop_and_delete(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    file, topic, name = tmp_path / "in.txt", unique("lines"), unique("source")
    append(file, "one")
    rest = worker.rest
    rest.create_running(name, source(file, topic))
    assert topics.await_values(kafka, topic, 1) == [b"one"]

    rest.pause(name)
    append(file, "two")
    # Another connector moves records meanwhile: time enough for this one to be wrong.
    witness = unique("witness")
    rest.create_running(unique("other"), source(file, witness))
    topics.await_values(kafka, witness, 2)
    assert topics.values(kafka, topic) == [b"one"]
    rest.resume(name)
    assert topics.await_values(kafka, topic, 2) == [b"one", b"two"]

    rest.stop(name)
    assert rest.get(f"/connectors/{name}/tasks") == []
    append(file, "three")
    topics.await_values(kafka, witness, 3)
    assert topics.values(kafka, topic) == [b"one", b"two"]
    rest.resume(name)
    assert topics.await_values(kafka, topic, 3) == [b"one", b"two", b"three"]

    rest.delete(name)
    assert rest.request("GET", f"/connectors/{name}/status").status_code == httpx.codes.NOT_FOUND
    assert rest.request("GET", f"/connectors/{name}").status_code == httpx.codes.NOT_FOUND
    append(file, "four")
    topics.await_values(kafka, witness, 4)
    assert len(topics.values(kafka, topic)) == 3
    # Created again it goes on where it was, as in Connect: offsets outlive their connector.
    rest.create_running(name, source(file, topic))
    assert topics.await_values(kafka, topic, 4)[3:] == [b"four"]


def test_created_stopped_or_paused(
    worker: PenstockWorker, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    config = source(tmp_path / "none.txt", unique("lines"))
    stopped, paused = unique("stopped"), unique("paused")
    worker.rest.create(stopped, config, "STOPPED")
    worker.rest.create(paused, config, "PAUSED")
    worker.rest.await_states(stopped, ["STOPPED"])
    # Its tasks come into being when it is started for the first time.
    worker.rest.await_states(paused, ["PAUSED"])
    worker.rest.resume(stopped)
    worker.rest.resume(paused)


def test_restarts_of_failed_tasks(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    folder, topic, name = tmp_path / "later", unique("lines"), unique("fails")
    topics.create(kafka, topic)
    topics.produce(kafka, topic, [b"one"])
    rest = worker.rest
    config = {
        "connector.class": "FileStreamSink",
        "file": str(folder / "out.txt"),
        "topics": topic,
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    }
    rest.create(name, config)
    assert "Couldn't find or create file" in rest.await_trace(name)
    # A restart of the connector alone leaves its task as it is.
    assert rest.restart(name).status_code == httpx.codes.NO_CONTENT
    rest.await_states(name, ["RUNNING", "FAILED"])
    # The cause is still there: the task fails again, once.
    before = worker.log_text.count(f"Task {name}-0 failed")
    rest.restart_task(name)
    eventually(
        lambda: worker.log_text.count(f"Task {name}-0 failed"),
        lambda count: count == before + 1,
    )
    rest.await_states(name, ["RUNNING", "FAILED"])

    folder.mkdir()
    answer = rest.restart(name, "includeTasks=true&onlyFailed=true")
    assert answer.status_code == httpx.codes.ACCEPTED
    told = answer.json()
    assert told["connector"]["state"] == "RUNNING"
    assert [task["state"] for task in told["tasks"]] == ["RESTARTING"]
    rest.await_running(name)
    eventually(lambda: (folder / "out.txt").read_text(), lambda text: text == "one\n")
    assert worker.log_text.count(f"Task {name}-0 failed") == before + 1

    # Nothing failed: nothing is restarted.
    answer = rest.restart(name, "includeTasks=true&onlyFailed=true")
    assert [task["state"] for task in answer.json()["tasks"]] == ["RUNNING"]
    answer = rest.restart(name, "includeTasks=true")
    assert answer.json()["connector"]["state"] == "RESTARTING"
    rest.await_running(name)
    topics.produce(kafka, topic, [b"two"])
    eventually(lambda: (folder / "out.txt").read_text(), lambda text: text == "one\ntwo\n")


def test_a_connector_that_hangs_holds_up_nobody(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    file, topic, name = tmp_path / "in.txt", unique("lines"), unique("hangs")
    append(file, "one")
    rest = worker.rest
    rest.create(name, {"connector.class": "troublesome.HangingConnector"})
    rest.create_running(unique("healthy"), source(file, topic))
    assert topics.await_values(kafka, topic, 1) == [b"one"]
    assert rest.states(name)[0] in (None, "UNASSIGNED")
    begun = time.monotonic()
    assert name in rest.connectors()
    rest.delete(name)
    # One request may wait for the graceful time of the one that hangs; none for its end.
    assert time.monotonic() - begun < 60
    assert name not in rest.connectors()
    append(file, "two")
    assert topics.await_values(kafka, topic, 2) == [b"one", b"two"]


def test_more_tasks_and_fewer(
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    file, topic, name = tmp_path / "out.txt", unique("wide"), unique("sink")
    topics.create(kafka, topic, 4)
    config = {
        "connector.class": "FileStreamSink",
        "file": str(file),
        "topics": topic,
        "tasks.max": "3",
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    }
    rest = worker.rest
    rest.create_running(name, config, tasks=3)
    for partition in range(4):
        values = [b"%d-%d" % (partition, number) for number in range(100)]
        topics.produce(kafka, topic, values, partition=partition)
    expected = {f"{part}-{number}" for part in range(4) for number in range(100)}

    def lines() -> list[str]:
        return file.read_text().splitlines() if file.exists() else []

    rest.eventually(lines, lambda got: expected <= set(got))
    # Partitions move between the tasks; what was committed does not come again.
    rest.configure(name, {**config, "tasks.max": "1"})
    rest.await_running(name, 1)
    topics.produce(kafka, topic, [b"last"], partition=2)
    rest.eventually(lines, lambda got: "last" in got)
    found = lines()
    assert sorted(found) == sorted([*expected, "last"])
    for partition in range(4):
        ours = [line for line in found if line.startswith(f"{partition}-")]
        assert ours == [f"{partition}-{number}" for number in range(100)]
