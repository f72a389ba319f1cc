"""Clients that other people wrote for Kafka Connect, unchanged, against Penstock's REST API."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.testing.waiting import patient
from penstock.testing.worker import PenstockWorker
from tests.rest_clients import go_client, python_client

# The first run installs them; later ones take seconds.

PLUGIN = "FileStreamSource"
RUNNING, PAUSED = ["RUNNING"] * 2, ["PAUSED"] * 2

needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="there is no go to build it with")


def run(*command: str | Path) -> str:
    result = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=patient(),
        check=False,
    )
    assert result.returncode == 0, (result.returncode, result.stdout, result.stderr)
    return result.stdout


def answer(*command: str | Path) -> Any:
    return json.loads(run(*command))


@pytest.fixture
def name(unique: Callable[[str], str]) -> str:
    return unique("lines")


@pytest.fixture
def config(tmp_path: Path, name: str) -> dict[str, str]:
    source = tmp_path / "in.txt"
    source.write_text("one\ntwo\n")
    return {"connector.class": PLUGIN, "tasks.max": "1", "file": str(source), "topic": name}


@pytest.fixture
def config_file(tmp_path: Path, config: dict[str, str]) -> Path:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config))
    return file


@pytest.fixture
def request_file(tmp_path: Path, name: str, config: dict[str, str]) -> Path:
    file = tmp_path / "request.json"
    file.write_text(json.dumps({"name": name, "config": config}))
    return file


def test_kafka_connect_py(
    lone: PenstockWorker, name: str, config: dict[str, str], request_file: Path
) -> None:
    kc = (python_client("kafka-connect-py") / "kc", "--url", lone.url)
    assert answer(*kc, "info")["kafka_cluster_id"]
    assert PLUGIN in str(answer(*kc, "list-plugins"))
    created = answer(*kc, "create", "--config-file", request_file)
    assert (created["name"], created["config"]["file"]) == (name, config["file"])
    lone.rest.await_running(name)
    assert answer(*kc, "list") == [name]
    assert answer(*kc, "list", "--expand", "status", "--state", "RUNNING").keys() == {name}
    assert answer(*kc, "list", "--state", "PAUSED") == []
    assert answer(*kc, "get", name)["type"] == "source"
    assert answer(*kc, "config", name) == {**config, "name": name}
    assert answer(*kc, "status", name)["tasks"][0]["state"] == "RUNNING"
    assert answer(*kc, "list-tasks", name)[0]["id"] == {"connector": name, "task": 0}
    assert answer(*kc, "task-status", name, "0")["state"] == "RUNNING"

    lone.rest.eventually(lambda: lone.rest.topics(name))
    assert answer(*kc, "list-topics", name) == {name: {"topics": [name]}}
    assert answer(*kc, "reset-topics", name) is None
    assert answer(*kc, "list-topics", name) == {name: {"topics": []}}

    assert run(*kc, "pause", "--all", "--pattern", name) == ""
    lone.rest.await_states(name, PAUSED)
    assert run(*kc, "resume", name) == ""
    lone.rest.await_states(name, RUNNING)
    restarted = answer(*kc, "restart", name, "--include-tasks")
    assert restarted["name"] == name
    lone.rest.await_states(name, RUNNING)
    assert answer(*kc, "restart-task", name, "0") is None
    lone.rest.await_states(name, RUNNING)
    changed = json.dumps({**config, "batch.size": "10"})
    updated = answer(*kc, "update", name, "--config-data", changed)
    assert updated["config"]["batch.size"] == "10"
    assert "404" in run(*kc, "status", "no-such-connector")
    assert run(*kc, "delete", "--all", "--pattern", name, "--state", "RUNNING") == ""
    assert answer(*kc, "list") == []


def test_validation_with_the_library_of_kafka_connect_py(
    lone: PenstockWorker, config: dict[str, str], name: str
) -> None:
    # The command line encodes the config twice, which Kafka Connect refuses as well.
    script = """
import json, sys
from kafka_connect import KafkaConnect

url, name, plugin, config = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
connect = KafkaConnect(url)
valid = connect.validate_connector_config(plugin, {**config, "name": name})
wrong = connect.validate_connector_config(plugin, {"connector.class": plugin, "name": name})
connect.create_connector({"name": name, "config": config})
connect.stop_connector(name)
print(json.dumps([valid["error_count"], wrong["error_count"]]))
"""
    python = python_client("kafka-connect-py") / "python"
    valid, wrong = answer(python, "-c", script, lone.url, name, PLUGIN, json.dumps(config))
    assert valid == 0
    assert wrong == 1
    lone.rest.await_states(name, ["STOPPED"])


def test_kafka_connect_api(lone: PenstockWorker, name: str, config: dict[str, str]) -> None:
    script = """
import json, sys, time
from kafka_connect_api.kafka_connect_api import Api, Cluster, Connector
from kafka_connect_api.errors import GenericConflict, GenericNotFound

url, name, config = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
cluster = Cluster(Api(url=url))


def until(wanted):
    end = time.monotonic() + 600
    while True:
        connector = cluster.connectors[name]
        try:
            states = [connector.state, *(task.state for task in connector.tasks)]
        except GenericNotFound:  # the connector or its task has no status yet
            states = []
        if len(states) == 2 and set(states) == {wanted}:
            return
        if time.monotonic() > end:
            sys.exit(f"{states} instead of {wanted}")
        time.sleep(0.2)


try:
    Connector(cluster, name).exists()
except GenericNotFound:
    missing = True
cluster.api.post("/connectors", json={"name": name, "config": config})
until("RUNNING")
connector = cluster.connectors[name]
exists, first = connector.exists(), connector.config
try:
    cluster.api.post("/connectors", json={"name": name, "config": config})
except GenericConflict:
    conflict = True
connector.pause()
until("PAUSED")
connector.resume()
until("RUNNING")
connector.restart()
connector.restart_all_tasks()
until("RUNNING")
connector.cycle_connector()
until("RUNNING")
connector.config = {**first, "batch.size": "10"}
second = connector.config
before = cluster.root_logger["level"]
cluster.root_logger = "WARN"
during = cluster.root_logger["level"]
cluster.root_logger = before
connector.delete()
facts = [missing, conflict, exists, connector.connector_class if name in cluster.connectors else ""]
print(json.dumps([*facts, first, second, during, cluster.version, cluster.kafka_cluster]))
"""
    python = python_client("kafka-connect-api") / "python"
    found = answer(python, "-c", script, lone.url, name, json.dumps(config))
    own = {**config, "name": name}
    assert found[:6] == [True, True, True, "", own, {**own, "batch.size": "10"}]
    assert found[6] == "WARN"
    assert all(found[7:])


def test_kafkaconnect(
    lone: PenstockWorker, name: str, config: dict[str, str], config_file: Path, tmp_path: Path
) -> None:
    program = (python_client("kafkaconnect") / "kafkaconnect", "--connect", lone.url)
    assert PLUGIN in str(answer(*program, "plugins"))
    checked = answer(*program, "upload", "--dry-run", "--name", name, config_file)
    assert (checked["name"], checked["error_count"]) == (PLUGIN, 0)
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps({**config, "topic": ""}))
    assert "topic" in run(*program, "upload", "--name", name, wrong)
    assert answer(*program, "list") == []
    run(*program, "upload", "--name", name, config_file)
    lone.rest.await_running(name)
    assert answer(*program, "list") == [name]
    assert answer(*program, "info", name)["type"] == "source"
    assert answer(*program, "status", name)["connector"]["state"] == "RUNNING"
    assert answer(*program, "config", name) == {**config, "name": name}
    assert len(answer(*program, "tasks", name)) == 1
    lone.rest.eventually(lambda: lone.rest.topics(name))
    assert answer(*program, "topics", name) == {name: {"topics": [name]}}
    assert run(*program, "pause", name) == "\n"
    lone.rest.await_states(name, PAUSED)
    assert run(*program, "resume", name) == "\n"
    lone.rest.await_states(name, RUNNING)
    assert run(*program, "restart", name) == "\n"
    lone.rest.await_states(name, RUNNING)
    assert run(*program, "delete", name) == "\n"
    assert "not found" in run(*program, "status", name)


def test_kafka_connect_cli(
    lone: PenstockWorker, name: str, config: dict[str, str], config_file: Path
) -> None:
    program = python_client("kafka-connect-cli") / "kafka_connect"

    def connector(verb: str, *options: str | Path) -> str:
        return run(program, "connector", verb, "--url", lone.url, *options)

    named = ("--name", name)
    created = json.loads(connector("create", *named, "--configuration-file", config_file))
    assert created["config"] == {**config, "name": name}
    lone.rest.await_running(name)
    assert connector("create", *named, "--configuration-file", config_file, "--if-not-exists")
    healthy = {"connector": name, "state": "RUNNING", "failedTasks": []}
    assert json.loads(connector("list")) == [healthy]
    assert json.loads(connector("get", *named)) == healthy
    assert json.loads(connector("configuration", *named)) == {**config, "name": name}
    changed = json.dumps({**config, "batch.size": "10"})
    updated = json.loads(connector("update", *named, "--configuration", changed))
    assert updated["config"]["batch.size"] == "10"
    lone.rest.await_running(name)
    assert connector("pause", *named) == ""
    lone.rest.await_states(name, PAUSED)
    assert "PAUSED" in run(program, "health-check", "--url", lone.url, "--verbose")
    assert connector("resume-all", *named, "--verbose") == f"Connector {name} resumed\n"
    lone.rest.await_states(name, RUNNING)
    assert connector("restart", *named) == ""
    lone.rest.await_states(name, RUNNING)
    task = ("--url", lone.url, "--connector", name)
    assert answer(program, "task", "list", *task) == [
        {"taskId": 0, "state": "RUNNING", "trace": ""}
    ]
    assert run(program, "task", "restart", *task, "--task", "0") == ""
    lone.rest.await_states(name, RUNNING)
    assert connector("delete", *named) == ""
    assert lone.rest.connectors() == []


def test_kafka_connect_healthcheck(
    lone: PenstockWorker, name: str, config: dict[str, str], tmp_path: Path
) -> None:
    # Its program listens on all addresses and has no option for one; its handler needs not.
    script = """
import json, sys, threading, urllib.error, urllib.request
from functools import partial
from http.server import HTTPServer
from kafka_connect_healthcheck.handler import RequestHandler
from kafka_connect_healthcheck.health import Health

health = Health(sys.argv[1], sys.argv[2], ["FAILED"], "", 0, ["CONNECTOR", "TASK"])
server = HTTPServer(("127.0.0.1", 0), partial(RequestHandler, health))
threading.Thread(target=server.serve_forever, daemon=True).start()
try:
    answer = urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/", timeout=60)
except urllib.error.HTTPError as error:
    answer = error
print(json.dumps([answer.status, json.load(answer)]))
server.shutdown()
"""
    python = python_client("kafka-connect-healthcheck") / "python"

    def health() -> Any:
        return answer(python, "-c", script, lone.url, lone.url.removeprefix("http://"))

    lone.rest.create_running(name, config)
    status, report = health()
    assert (status, report["healthy"], report["failures"]) == (200, True, [])
    # A directory can't be read as a file: the task fails.
    failing = f"{name}-fails"
    lone.rest.create(failing, {**config, "file": str(tmp_path)})
    lone.rest.await_trace(failing)
    status, report = health()
    assert (status, report["healthy"]) == (503, False)
    (failure,) = report["failures"]
    assert (failure["type"], failure["connector"], failure["id"]) == ("task", failing, 0)
    assert str(tmp_path) in failure["trace"]


@needs_go
def test_go_kafka_connect(
    lone: PenstockWorker, name: str, config: dict[str, str], request_file: Path
) -> None:
    program = go_client("go-kafka-connect")

    def cli(verb: str, *options: str | Path) -> str:
        return run(program, verb, "--url", lone.url, *options)

    named = ("--connector", name)
    assert '"Code": 201' in cli("create", "--path", request_file, "--sync")
    lone.rest.await_running(name)
    assert name in cli("list")
    assert config["file"] in cli("get", *named)
    assert config["file"] in cli("get", *named, "--config")
    assert "RUNNING" in cli("get", *named, "--status")
    assert name in cli("get", *named, "--tasks")
    cli("pause", *named, "--sync")
    lone.rest.await_states(name, PAUSED)
    cli("resume", *named, "--sync")
    lone.rest.await_states(name, RUNNING)
    cli("update", *named, "--string", json.dumps({**config, "batch.size": "10"}), "--sync")
    assert lone.rest.get(f"/connectors/{name}/config")["batch.size"] == "10"
    cli("deploy", "--path", request_file)
    assert lone.rest.get(f"/connectors/{name}/config") == {**config, "name": name}
    cli("delete", *named, "--sync")
    assert lone.rest.connectors() == []


@needs_go
def test_go_kafka_connect_waits_until_it_reads_the_secret_that_it_wrote(
    mortal: PenstockWorker, name: str, config: dict[str, str], request_file: Path
) -> None:
    """As Terraform's provider does, which is built on it."""
    secret = {**config, "db.password": "hunter2"}
    request_file.write_text(json.dumps({"name": name, "config": secret}))
    program = (go_client("go-kafka-connect"),)
    url = ("--url", mortal.url)
    run(*program, "create", *url, "--path", request_file, "--sync")
    changed = {**secret, "batch.size": "10", "db.password": "hunter3"}
    run(*program, "update", *url, "--connector", name, "--string", json.dumps(changed), "--sync")
    assert mortal.rest.get(f"/connectors/{name}/config") == {**changed, "name": name}


@needs_go
def test_go_kafka(
    lone: PenstockWorker,
    name: str,
    config: dict[str, str],
    request_file: Path,
    tmp_path: Path,
) -> None:
    program = (go_client("go-kafka"), f"--host={lone.url}/")
    run(*program, "create", f"--from-file={request_file}")
    lone.rest.await_running(name)
    assert name in run(*program, "list")
    assert answer(*program, "show", name)["config"] == {**config, "name": name}
    assert answer(*program, "config", name) == {**config, "name": name}
    assert len(answer(*program, "tasks", name)) == 1
    assert answer(*program, "status", name)["connector"]["state"] == "RUNNING"
    run(*program, "pause", name)
    lone.rest.await_states(name, PAUSED)
    run(*program, "resume", name)
    lone.rest.await_states(name, RUNNING)
    run(*program, "restart", name)
    lone.rest.await_states(name, RUNNING)
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps({**config, "batch.size": "10"}))
    run(*program, "update", name, f"--config={changed}")
    assert answer(*program, "config", name)["batch.size"] == "10"
    run(*program, "delete", name)
    assert lone.rest.connectors() == []
