"""`penstock demo`, `penstock up` and the docker images' variables, as users run them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import httpx

from penstock.machine.free_ports import free_port
from penstock.machine.process import Child
from penstock.testing.connect import distributed_properties
from penstock.testing.processes import await_end, descendants
from penstock.testing.waiting import eventually, patient
from penstock.testing.worker import PenstockWorker

PENSTOCK = [sys.executable, "-m", "penstock"]


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


def end_demo(tmp_path: Path, number: signal.Signals) -> int | None:
    """Send a signal to a demo at work; its exit status, once nothing is left of its family."""
    with Child("demo", [*PENSTOCK, "demo"], log=tmp_path / "log") as demo:
        eventually(demo.tail, lambda text: "records/s" in text)
        family = descendants(demo.pid)
        assert len(family) >= 2  # Kafka and the worker at least
        demo.signal(number)
        assert demo.wait(patient())
        await_end(family)
        return demo.exit_code


def test_nothing_outlives_the_demo(tmp_path: Path) -> None:
    assert end_demo(tmp_path, signal.SIGINT) == 0


def test_up_keeps_connectors_between_runs_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """Ctrl-C ends the first run, and Spark with it, as service managers do; a kill the second."""
    port, kafka_port, log = free_port(), free_port(), tmp_path / "log"
    url = f"http://127.0.0.1:{port}/connectors"
    options = ["--port", str(port), "--kafka-port", str(kafka_port)]
    command = [*PENSTOCK, "up", "--data-dir", str(tmp_path / "data"), *options]
    config = {"connector.class": "FileStreamSource", "file": "/nowhere/at/all", "topic": "t"}
    for number, status in ((signal.SIGINT, 0), (signal.SIGKILL, -signal.SIGKILL)):
        with Child("penstock up", command, log=log) as child:
            child.wait_until(lambda: answers(url), patient(), "the REST API answered")
            if number == signal.SIGINT:
                body = {"name": "kept", "config": config}
                created = httpx.post(url, json=body, timeout=patient())
                assert created.status_code == httpx.codes.CREATED, created.text
            eventually(
                lambda: httpx.get(url, timeout=patient()).json(), lambda got: got == ["kept"]
            )
            family = descendants(child.pid)
            if number == signal.SIGINT:
                _refuse_a_second_kafka(tmp_path / "data", child)
                eventually(lambda: "Spark started" in log.read_text())
                os.kill(_below(child.pid, "org.apache.spark")[0], signal.SIGTERM)
            child.signal(number)
            assert child.wait(patient())
            assert child.exit_code == status
            await_end(family)
    for word in ("py4j", "Traceback"):
        assert word not in log.read_text()


def test_up_ends_with_its_kafka(tmp_path: Path) -> None:
    """It does not wait for a Kafka that is dead, and reports once what that did not store."""
    options = ["--port", str(free_port()), "--kafka-port", str(free_port())]
    command = [*PENSTOCK, "up", "--data-dir", str(tmp_path / "data"), *options]
    with Child("penstock up", command, log=tmp_path / "log") as child:
        kafka = eventually(lambda: _below(child.pid, "kafka.Kafka"))[0]
        child.wait_until(
            lambda: answers(f"http://127.0.0.1:{options[1]}/health"), patient(), "it was healthy"
        )
        config = {"connector.class": "FileStreamSource", "file": "/nowhere/at/all", "topic": "t"}
        url = f"http://127.0.0.1:{options[1]}/connectors"
        httpx.post(url, json={"name": "c", "config": config}, timeout=patient()).raise_for_status()
        eventually(
            lambda: httpx.get(f"{url}/c/status", timeout=patient()).json()["tasks"],
            lambda tasks: [task["state"] for task in tasks] == ["RUNNING"],
        )
        os.kill(kafka, signal.SIGKILL)
        assert child.wait(patient())
        assert child.exit_code == 1
    lines = (tmp_path / "log").read_text().splitlines()
    told = [at for at, line in enumerate(lines) if "Kafka ended by itself" in line]
    assert len(told) == 1
    assert lines[told[0]].startswith(f"penstock: Kafka ended by itself; its log is {tmp_path}/data")
    last = [line for line in lines[told[0] :] if " INFO Sto" in line]
    assert [line.split(" INFO ")[-1] for line in last] == [
        "Stopping (penstock.worker.bootstrap)",
        "Stopping 1 tasks of 1 connectors (penstock.worker.herder.local_herder)",
        "Storing the last states (penstock.worker.herder.local_herder)",
        "Stopped (penstock.worker.bootstrap)",
    ]
    storing, stopped = (datetime.fromisoformat(line[1:24]) for line in last[-2:])
    assert stopped - storing < timedelta(seconds=10)
    lost = [line for line in lines[told[0] :] if "tatuses" in line]
    assert [line.split(" WARNING ")[-1] for line in lost] == [
        "Last statuses are not stored: ran out of time while writing 2 statuses to connect-status"
        " (penstock.worker.herder.local_herder)"
    ]


def _refuse_a_second_kafka(data: Path, holder: Child) -> None:
    """What it would do to the first one's files ends both."""
    command = [*PENSTOCK, "kafka", "--data-dir", str(data), "--port", str(free_port())]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=patient(), check=False)
    assert ended.returncode != 0
    assert f"is in use by process {holder.pid}; end that (kill {holder.pid})" in ended.stderr


def _below(pid: int, word: str) -> list[int]:
    """The descendants of a process that have this word in their command lines."""
    commands = {each: Path(f"/proc/{each}/cmdline").read_text() for each in descendants(pid)}
    return [each for each, command in commands.items() if word in command]


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
    worker: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    properties = {**distributed_properties(kafka, unique("taken")), "listeners": worker.url}
    file = tmp_path / "worker.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    second = subprocess.run(
        [*PENSTOCK, "distributed", str(file)],
        capture_output=True,
        text=True,
        timeout=patient(),
        check=False,
    )
    assert second.returncode == 1
    assert worker.url.rpartition(":")[2] in second.stderr
    assert "Traceback" not in second.stderr
