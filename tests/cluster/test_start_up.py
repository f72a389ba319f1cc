"""How a worker starts, and how it does not."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from penstock.kernel.errors import SetupError
from penstock.machine.embedded_kafka import EmbeddedKafka
from penstock.machine.process import Child
from penstock.testing.connect import distributed_properties
from penstock.testing.waiting import patient
from penstock.testing.worker import PenstockWorker


def run(tmp_path: Path, properties: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """A worker that is expected to end by itself."""
    file = tmp_path / "worker.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    return subprocess.run(
        [sys.executable, "-m", "penstock", "distributed", str(file)],
        capture_output=True,
        text=True,
        timeout=patient(),
        check=False,
    )


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("offset.flush.interval.ms", "soon", "Not a number of type LONG"),
        ("offset.storage.partitions", "0", "Number of partitions must be positive"),
        ("listeners", "telnet://:8083", ""),
        ("key.converter", "no.such.Converter", ""),
    ],
)
def test_a_wrong_value_stops_the_start(tmp_path: Path, key: str, value: str, rule: str) -> None:
    properties = {**distributed_properties("127.0.0.1:1", "wrong"), key: value}
    result = run(tmp_path, properties)
    assert result.returncode == 1
    assert key in result.stderr
    assert value in result.stderr
    assert rule in result.stderr
    assert "Traceback" not in result.stderr


def test_what_is_wrong_with_the_login_is_said_without_traces(tmp_path: Path) -> None:
    login = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": "a.B required username=geheim password;",
    }
    worker = PenstockWorker(tmp_path, distributed_properties("127.0.0.1:1", "wrong") | login)
    # Its requests are open when it ends.
    with pytest.raises(SetupError, match=r'sasl\.jaas\.config: options must have the form name="v'):
        worker.start()
    assert "Traceback" not in worker.log_text
    assert "geheim" not in worker.log_text


def test_a_missing_value_stops_the_start(tmp_path: Path) -> None:
    properties = distributed_properties("127.0.0.1:1", "missing")
    del properties["group.id"]
    result = run(tmp_path, properties)
    assert result.returncode == 1
    assert 'Missing required configuration "group.id"' in result.stderr


def test_unknown_keys_are_warned_about_and_the_root_tells_who_it_is(worker: PenstockWorker) -> None:
    """The shared worker has a key that nobody knows."""
    warnings = [line for line in worker.log_text.splitlines() if "WARN" in line]
    assert any("offset.flush.intervall" in line for line in warnings)
    assert not any("bootstrap.servers" in line for line in warnings)
    root = worker.rest.get("/")
    assert root["kafka_cluster_id"]
    assert root["version"]


def test_without_a_broker_the_worker_waits_and_says_so(tmp_path: Path) -> None:
    worker = PenstockWorker(tmp_path / "w", distributed_properties("127.0.0.1:1", "lonely"))
    with _waiting_for_its_broker(worker) as child:
        told = "Kafka can't be used yet"
        child.wait_until(lambda: told in worker.log_text, patient(15), "it told what it waits for")
        health = _health(worker.url)
        assert health is not None
        assert "the broker at 127.0.0.1:1 does not answer" in health.json()["message"]
        begun = time.monotonic()
        child.stop(patient(60))
        assert child.exit_code == 0
        assert time.monotonic() - begun < patient(20)


def test_a_broker_may_start_after_its_worker(tmp_path: Path) -> None:
    node = EmbeddedKafka(tmp_path / "kafka")
    properties = distributed_properties(node.bootstrap_servers, "early")
    worker = PenstockWorker(tmp_path / "w", properties)
    with _waiting_for_its_broker(worker) as child, node:
        child.wait_until(worker.answers, patient(), "it found its broker")
        assert worker.rest.get("/")["kafka_cluster_id"]
        assert worker.rest.connectors() == []


@contextmanager
def _waiting_for_its_broker(worker: PenstockWorker) -> Iterator[Child]:
    """The worker's process, as soon as it answers; its broker does not yet."""
    worker.directory.mkdir()
    file = worker.directory / "worker.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in worker.properties.items()))
    with Child("worker", worker.command([str(file)]), log=worker.log, env=os.environ) as child:
        child.wait_until(lambda: _health(worker.url) is not None, patient(), "it answered")
        health = _health(worker.url)
        assert health is not None
        assert health.status_code == httpx.codes.SERVICE_UNAVAILABLE
        assert health.json()["status"] == "starting"
        yield child


def _health(url: str) -> httpx.Response | None:
    try:
        return httpx.get(f"{url}/health", timeout=patient())
    except httpx.HTTPError:
        return None
