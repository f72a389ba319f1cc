"""`penstock demo`, `penstock up` and the docker images' variables, as users run them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from penstock.ports import free_port
from penstock.process import Child
from penstock.testing.connect import distributed_properties
from penstock.testing.waiting import eventually, patient

PENSTOCK = [sys.executable, "-m", "penstock"]


def descendants(pid: int) -> set[int]:
    """Every process below this one."""
    found: set[int] = set()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(entry.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        if parent == pid:
            child = int(entry.parent.name)
            found |= {child} | descendants(child)
    return found


def alive(pids: set[int]) -> set[int]:
    def runs(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    return {pid for pid in pids if runs(pid)}


def answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def test_the_demo_delivers_ten_thousand_records_in_order() -> None:
    result = subprocess.run(
        [*PENSTOCK, "demo", "--exit"],
        capture_output=True,
        text=True,
        timeout=patient(400),
        check=False,
    )
    assert "10,000 records arrived, unchanged and in order." in result.stdout, result.stdout
    assert result.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_outlives_the_demo(tmp_path: Path, number: signal.Signals) -> None:
    with Child("demo", [*PENSTOCK, "demo"], log=tmp_path / "log") as demo:
        eventually(lambda: "records/s" in demo.tail())
        family = descendants(demo.pid)
        assert len(family) >= 2  # Kafka and the worker at least
        demo.signal(number)
        assert demo.wait(patient())
        assert demo.exit_code == (0 if number is signal.SIGINT else -signal.SIGKILL)
        eventually(lambda: alive(family), lambda left: not left)


def test_up_keeps_connectors_between_runs(tmp_path: Path) -> None:
    port, kafka_port = free_port(), free_port()
    url = f"http://127.0.0.1:{port}/connectors"
    options = ["--port", str(port), "--kafka-port", str(kafka_port)]
    command = [*PENSTOCK, "up", "--data-dir", str(tmp_path / "data"), *options]
    config = {"connector.class": "FileStreamSource", "file": "/nowhere/at/all", "topic": "t"}
    for run in range(2):
        with Child("penstock up", command, log=tmp_path / "log") as child:
            child.wait_until(lambda: answers(url), patient(), "the REST API answered")
            if run == 0:
                body = {"name": "kept", "config": config}
                created = httpx.post(url, json=body, timeout=patient())
                assert created.status_code == httpx.codes.CREATED, created.text
            eventually(
                lambda: httpx.get(url, timeout=patient()).json(), lambda got: got == ["kept"]
            )
            child.signal(signal.SIGINT)
            assert child.wait(patient())
            assert child.exit_code == 0


def test_up_ends_with_the_reason_when_its_kafka_can_not_start(tmp_path: Path) -> None:
    logs = tmp_path / "data" / "data"
    logs.mkdir(parents=True)
    (logs / "meta.properties").write_text("version=1\ncluster.id=a\nnode.id=7\n")
    options = ["--port", str(free_port()), "--kafka-port", str(free_port())]
    command = [*PENSTOCK, "up", "--data-dir", str(tmp_path / "data"), *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert "penstock: Kafka ended with status 1 before it served a request" in ended.stderr
    assert "Stored node id 7 doesn't match previous node id 1" in ended.stderr


def test_docker_variables_start_a_worker(
    kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    properties = {**distributed_properties(kafka, unique("docker")), "listeners": url}
    variables = {
        f"CONNECT_{name.replace('.', '_').upper()}": value for name, value in properties.items()
    }
    environ = {**os.environ, **variables}
    with Child("worker", [*PENSTOCK, "distributed"], log=tmp_path / "log", env=environ) as child:
        child.wait_until(lambda: answers(f"{url}/connectors"), patient(), "the REST API answered")


def test_a_second_worker_on_the_port_is_a_clear_error(
    kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    port = free_port()
    properties = {
        **distributed_properties(kafka, unique("taken")),
        "listeners": f"http://127.0.0.1:{port}",
    }
    file = tmp_path / "worker.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    command = [*PENSTOCK, "distributed", str(file)]
    with Child("worker", command, log=tmp_path / "log") as first:
        first.wait_until(lambda: answers(f"http://127.0.0.1:{port}/"), patient(), "it answered")
        second = subprocess.run(
            command, capture_output=True, text=True, timeout=patient(), check=False
        )
        assert second.returncode == 1
        assert str(port) in second.stderr
        assert "Traceback" not in second.stderr
