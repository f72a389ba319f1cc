"""Connector files, as commands and as programs, against a worker and against the real Connect."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from penstock import manager
from penstock.client import Client
from penstock.manager import MARKER, Connector, Connectors
from penstock.testing.oracle import JavaConnect
from penstock.testing.waiting import eventually, patient
from penstock.testing.worker import PenstockWorker
from penstock.tools.manager.exporting import write_text
from tests.cluster import topics

EXAMPLES = Path(__file__).parents[2] / "examples" / "manager"
SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
JDBC = "io.confluent.connect.jdbc.JdbcSourceConnector"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def shop(lone: PenstockWorker) -> Path:
    """The database that the worker knows, with the tables of the examples."""
    path = lone.directory / "shop.db"
    with closing(sqlite3.connect(path)) as database:
        for table in ("country", "currency", "order_status"):
            database.execute(f"CREATE TABLE {table} (code TEXT PRIMARY KEY, label TEXT)")
            database.execute(f"INSERT INTO {table} VALUES ('A', '{table} a'), ('B', NULL)")
        for table, column in (("access", "path"), ("payment", "amount"), ("audit", "who")):
            columns = f"id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT, {column} TEXT"
            database.execute(f"CREATE TABLE {table}_log ({columns})")
            database.execute(f"INSERT INTO {table}_log (at, {column}) VALUES ('now', 'x')")
        database.commit()
    return path


@pytest.fixture
def client(lone: PenstockWorker) -> Iterator[Client]:
    """The client of a worker without connectors."""
    with Client(lone.url) as found:
        yield found


@pytest.fixture
def penstock(client: Client) -> Run:
    """Runs a command as a user does."""

    def run(*arguments: str | Path, status: int = 0) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "penstock", *map(str, arguments), "--connect", client.url]
        found = subprocess.run(
            command, capture_output=True, text=True, timeout=patient(), check=False
        )
        assert found.returncode == status, f"{found.stdout}\n{found.stderr}"
        return found

    return run


def write_many(directory: Path, count: int, topic: str = "many") -> None:
    directory.mkdir(exist_ok=True)
    for first in range(0, count, 10):
        lines = [f"defaults: {{connector.class: {SOURCE}, tasks.max: 1}}", "connectors:"]
        for number in range(first, first + 10):
            config = f"{{file: /none/{number}, topic: {topic}}}"
            lines.append(f"  many-{number:02d}: {{state: paused, config: {config}}}")
        (directory / f"{first:02d}.yaml").write_text("\n".join(lines))


def await_nothing_to_change(client: Client, files: Path) -> None:
    """States follow a moment after the answer."""
    wanted = manager.load(files)
    eventually(
        lambda: manager.plan(client, wanted, prune=True).pending,
        lambda pending: pending == [],
    )


def test_forty_connectors_from_files(client: Client, penstock: Run, tmp_path: Path) -> None:
    files = tmp_path / "files"
    write_many(files, 40)
    client.create("not-ours", {"connector.class": SOURCE, "file": "/none", "topic": "t"}, "PAUSED")
    planned = penstock("plan", files, "--exit-code", status=2)
    assert "Plan: 40 to create, 0 unchanged." in planned.stdout

    begun = time.monotonic()
    applied = penstock("apply", files, "--wait")
    assert time.monotonic() - begun < patient(40)
    assert applied.stdout.count("created many-") == 40
    assert "Applied: 40 done." in applied.stdout
    assert "40 of 40 are in the state they should have." in applied.stdout
    await_nothing_to_change(client, files)

    write_many(files, 30, topic="other")
    (files / "30.yaml").unlink()
    planned = penstock("plan", files, "--prune")
    assert "~ topic: many -> other" in planned.stdout
    assert "- many-39  delete" in planned.stdout
    assert "Plan: 30 to update, 10 to delete, 0 unchanged." in planned.stdout
    penstock("apply", files, "--dry-run", "--prune")
    assert len(client.connectors()) == 41
    penstock("apply", files, "--prune", "--yes")
    assert len(client.connectors()) == 31
    assert client.config("many-29")["topic"] == "other"
    await_nothing_to_change(client, files)
    penstock("plan", files, "--prune", "--exit-code")

    exported = tmp_path / "exported"
    penstock("export", "--output-dir", exported, "--format", "json")
    assert len(list(exported.iterdir())) == 31
    assert "31 connectors are as wanted." in penstock("plan", exported, "--prune").stdout
    text = penstock("export", "many-0*").stdout
    assert len(manager.load(_written(tmp_path / "all.yaml", text))) == 10


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_nothing_is_changed_if_a_config_is_wrong(
    client: Client, penstock: Run, tmp_path: Path
) -> None:
    write_many(tmp_path / "files", 10)
    (tmp_path / "files" / "wrong.yaml").write_text(
        f"name: wrong\nconnector.class: {JDBC}\nmode: backwards\n"
        "connection.url: jdbc:sqlite:x\ntopic.prefix: t\ntasks.max: many\n"
    )
    found = penstock("apply", tmp_path / "files", status=1)
    assert "wrong.yaml:3: wrong: mode: Invalid value backwards" in found.stderr
    assert "wrong.yaml:6: wrong: tasks.max: Invalid value many" in found.stderr
    assert client.connectors() == []
    (tmp_path / "files" / "wrong.yaml").write_text("name: wrong\nconnector.class: no.such.Thing\n")
    found = penstock("apply", tmp_path / "files", "--dry-run", status=1)
    assert "wrong.yaml:2: wrong: connector.class: " in found.stderr
    assert client.connectors() == []


def test_waiting_shows_why_a_connector_failed(
    client: Client, penstock: Run, tmp_path: Path
) -> None:
    config = {
        "connector.class": JDBC,
        "connection.url": f"jdbc:sqlite:{tmp_path}/none/x.db?password=hunter2",
        "mode": "bulk",
        "topic.prefix": "t",
    }
    body = json.dumps({"name": "bad", "config": config})
    found = penstock("apply", _written(tmp_path / "bad.json", body), "--wait", status=1)
    assert "bad: the connector has failed" in found.stderr
    assert "0 of 1 are in the state they should have." in found.stdout
    assert "hunter2" not in found.stdout + found.stderr


def test_a_cluster_is_kept_equal_to_its_files(client: Client, tmp_path: Path) -> None:
    write_many(tmp_path / "files", 10)
    command = [sys.executable, "-m", "penstock", "watch", str(tmp_path / "files"), "--prune"]
    command += ["--interval", "0.3", "--connect", client.url]
    said, complained = tmp_path / "out", tmp_path / "err"
    with (
        said.open("w") as out,
        complained.open("w") as err,
        subprocess.Popen(command, stdout=out, stderr=err) as watch,
    ):
        try:
            eventually(client.connectors, lambda names: len(names) == 10)
            client.delete("many-03")
            eventually(client.connectors, lambda names: len(names) == 10)
            (tmp_path / "files" / "broken.yaml").write_text("connectors: [")
            eventually(complained.read_text)
            (tmp_path / "files" / "broken.yaml").write_text("connectors: []")
            (tmp_path / "files" / "00.yaml").unlink()
            eventually(client.connectors, lambda names: names == [])
        finally:
            watch.send_signal(signal.SIGTERM)
            watch.wait(patient())
    assert watch.returncode == 0, complained.read_text()
    assert complained.read_text().count("broken.yaml:1: not valid YAML") == 1
    assert "All is well again." in said.read_text()
    assert "deleted many-09" in said.read_text()
    assert said.read_text().endswith("Ended.\n")


# ------------------------------------------------------------------------------------ examples


def example(name: str, client: Client, *arguments: str, status: int = 0) -> str:
    command = [sys.executable, str(EXAMPLES / name), "--connect", client.url, *arguments]
    found = subprocess.run(command, capture_output=True, text=True, timeout=patient(), check=False)
    assert found.returncode == status, found.stderr
    return found.stdout + found.stderr


def first_payload(kafka: str, topic: str) -> Any:
    [value] = eventually(lambda: topics.values(kafka, topic), bool)
    return json.loads(value or b"")["payload"]


def test_the_examples_of_the_tables(
    client: Client, kafka: str, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_DATABASE", f"jdbc:sqlite:{shop}")
    program = "create_jdbc_sources_for_code_tables.py"
    assert "create jdbc_code_country" in example(program, client, "--dry-run")
    assert client.connectors() == []
    example(program, client)
    assert example(program, client) == ""
    for table in ("country", "currency", "order_status"):
        assert first_payload(kafka, f"code_{table}") == {
            "code": "A", "label": f"{table} a"
        }  # fmt: skip

    found = example("create_jdbc_sources_for_log_tables.py", client)
    assert found.splitlines() == [
        "jdbc_log_access running", "jdbc_log_audit paused", "jdbc_log_payment running"
    ]  # fmt: skip
    assert client.config("jdbc_log_access")["connection.url"] == "${env:SHOP_DATABASE}"
    assert first_payload(kafka, "log_payment") == {"id": 1, "at": "now", "amount": "x"}

    found = example("create_s3_sink_for_code_tables.py", client, status=1)
    assert "create s3_code_tables for code_country,code_currency,code_order_status" in found
    assert "io.confluent.connect.s3.S3SinkConnector is not installed there" in found
    found = example("create_s3_sink_for_log_tables.py", client, "--dry-run", status=1)
    assert "create s3_log_tables for log_access,log_audit,log_payment" in found
    assert "s3_sink_log_tables.yaml:4: s3_log_tables: connector.class: " in found

    found = example("delete_connectors.py", client, "jdbc_code_*", "jdbc_log_audit")
    assert found.splitlines() == [
        "jdbc_code_country", "jdbc_code_currency", "jdbc_code_order_status", "jdbc_log_audit"
    ]  # fmt: skip
    assert client.connectors() == ["jdbc_log_access", "jdbc_log_payment"]


def test_all_example_files_can_be_read() -> None:
    found = manager.load(EXAMPLES / "config")
    assert len(found) == 9
    assert found["s3_log_tables"].is_sink


# ----------------------------------------------------------------------------- the real Connect


def test_the_real_connect(oracle_connect: JavaConnect, tmp_path: Path) -> None:
    jaas = "producer.override.sasl.jaas.config"
    config = {"connector.class": SOURCE, "file": "/none", "topic": "t", "tasks.max": "1"}
    secret = {**config, jaas: 'M required password="hunter2";'}
    wanted = Connectors([Connector("a", secret, "paused"), Connector("b", config, "stopped")])
    with Client(oracle_connect.url) as client:
        try:
            client.create("c", config)
            assert manager.plan(client, wanted).apply(client).ok
            assert client.config("a")[MARKER] == "default"
            eventually(
                lambda: manager.plan(client, wanted, prune=True).pending,
                lambda pending: pending == [],
            )
            other = {**secret, jaas: 'M required password="hunter3";', "topic": "u"}
            plan = manager.plan(client, Connectors([Connector("a", other)]), prune=True)
            assert [(each.name, str(each.action)) for each in plan.pending] == [
                ("a", "update"),
                ("b", "delete"),
            ]
            assert "hunter" not in json.dumps(plan.to_json())

            exported = manager.export(client)
            assert exported.secrets == [("a", jaas)]
            text = write_text(exported, manager.Format.YAML)
            assert "hunter" not in text
            files = manager.load(_written(tmp_path / "all.yaml", text))
            assert manager.plan(client, files, prune=True).pending == []

            assert plan.apply(client).ok
            assert client.config("a")[jaas] == 'M required password="hunter3";'
            assert client.connectors() == ["a", "c"]
            wrong = Connectors([Connector("d", {**config, "tasks.max": "x"})])
            with pytest.raises(manager.ProblemsError, match=r"d: tasks\.max: Invalid value x"):
                manager.plan(client, wrong).apply(client)
        finally:
            for name in client.connectors():
                client.delete(name)
