"""The client and the commands on connectors, on a worker of ours."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.client import Client
from penstock.testing.waiting import eventually
from penstock.testing.worker import PenstockWorker
from tests.client_cycle import SOURCE, all_commands, await_states, whole_cycle
from tests.unit.cli.run import penstock


@pytest.fixture
def client(worker: PenstockWorker) -> Client:
    return Client(worker.rest.url)


def test_every_operation(client: Client, tmp_path: Path, unique: Callable[[str], str]) -> None:
    whole_cycle(client, unique("cycle"), unique("lines"), tmp_path)


def test_every_command(client: Client, tmp_path: Path, unique: Callable[[str], str]) -> None:
    all_commands(client.url, unique("command"), unique("lines"), tmp_path)


def test_operations_that_only_penstock_has(client: Client) -> None:
    config = {"connector.class": "FileStreamSink", "topics": "t", "file": "/nowhere", "name": "x"}
    shown = client.preview("FileStreamSink", config, [{"topic": "t", "value": 1}])
    assert shown[0]["steps"][0]["step"] == "read"


def test_what_failed_is_found_read_and_started_again(
    client: Client, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    name, topic = unique("jdbc_fails"), unique("t")
    config = {
        "connector.class": "FileStreamSink",
        "topics": topic,
        "file": str(tmp_path / "no" / "such" / "folder" / "out.txt"),
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    }
    client.create(name, config)
    await_states(client, name, "RUNNING", "FAILED")

    def ok(*arguments: str) -> str:
        done = penstock(*arguments, "--connect", client.url)
        assert done.status == 0, done
        return done.out

    assert name in ok("get", "--failed")
    assert "1 failed" in ok("get", f"{name[:-1]}*")
    assert "more lines: --trace" in ok("describe", name)
    assert "Traceback" in ok("describe", name, "--trace")
    logged = json.loads(ok("logs", name, "--level", "error", "-o", "json"))
    assert logged[-1]["task"] == 0
    assert f"Task {name}-0 failed" in logged[-1]["message"]
    assert f"Task {name}-0 is FAILED" in ok("logs", name)
    (tmp_path / "no" / "such" / "folder").mkdir(parents=True)
    restarted = ok("restart", f"{name[:-1]}*", "--failed", "--wait")
    assert restarted.startswith(f"{name}: restarted task 0")
    assert f"Task {name}-0 is RUNNING" in ok("logs", name, "--since", "5m", "--tail", "3")


def test_lines_of_the_log_name_the_connector(
    worker: PenstockWorker, client: Client, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    name = unique("told")
    file = tmp_path / "in.txt"
    file.touch()
    client.create(name, {"connector.class": SOURCE, "file": str(file), "topic": unique("t")})
    await_states(client, name, "RUNNING", "RUNNING")
    assert f"INFO [{name}|worker] Connector {name} is RUNNING" in worker.log_text
    assert f"INFO [{name}|task-0] Task {name}-0 is RUNNING" in worker.log_text
    # Lines of one connector are not among those of another.
    assert all(name in line.message or "file" in line.message for line in client.logs(name).lines)


def test_following_a_log(client: Client, tmp_path: Path, unique: Callable[[str], str]) -> None:
    name = unique("followed")
    file = tmp_path / "in.txt"
    file.touch()
    client.create(name, {"connector.class": SOURCE, "file": str(file), "topic": unique("t")})
    await_states(client, name, "RUNNING", "RUNNING")
    command = [sys.executable, "-m", "penstock", "logs", name, "--follow", "--connect", client.url]
    seen = tmp_path / "seen"
    with seen.open("w") as out, subprocess.Popen(command, stdout=out) as follower:
        try:
            eventually(lambda: "is RUNNING" in seen.read_text())
            client.pause(name)
            eventually(lambda: f"Task {name}-0 is PAUSED" in seen.read_text())
        finally:
            follower.terminate()
