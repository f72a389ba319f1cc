"""The wheel, installed where nothing of this tree is, runs a worker."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import httpx
import pytest

from penstock.machine.free_ports import free_port
from penstock.machine.process import Child
from penstock.testing.connect import distributed_properties
from penstock.testing.rest import ConnectRest
from penstock.testing.waiting import patient
from penstock.testing.worker import QUICK_SPARK

ROOT = Path(__file__).parents[2]
#: Nothing that leads back to this tree.
ENVIRONMENT = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}


def run(directory: Path, *command: str | Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=directory,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=patient(120),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """The programs of a virtual environment with the wheel and, by a path, what it depends on."""
    venv, built = tmp_path / "venv", tmp_path / "built"
    run(ROOT, sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", built)
    (wheel,) = built.glob("*.whl")
    run(tmp_path, sys.executable, "-m", "venv", "--without-pip", venv)
    install = ("install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps")
    run(tmp_path, sys.executable, "-m", "pip", "--python", venv / "bin/python", *install, wheel)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(venv)}))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return venv / "bin"


def test_the_wheel_runs_a_worker(programs: Path, tmp_path: Path, kafka: str) -> None:
    where = run(tmp_path, programs / "python", "-c", "import penstock; print(penstock.__file__)")
    assert where.startswith(str(programs.parent))
    port = free_port()
    worker = tmp_path / "worker.properties"
    properties = distributed_properties(kafka, "wheel")
    properties["listeners"] = f"http://127.0.0.1:{port}"
    worker.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
    # The worker below tries Spark.
    assert "All is well." in run(tmp_path, programs / "penstock", "doctor", "--no-spark", worker)
    command = [
        *(str(programs / "penstock"), "up", "--data-dir", str(tmp_path / "data")),
        *("--port", str(port), "--kafka-port", str(free_port())),
        *("-p", "spark.driver.memory=768m"),
        *(part for name, value in QUICK_SPARK.items() for part in ("-p", f"{name}={value}")),
    ]
    with Child("penstock up", command, log=tmp_path / "up.log", env=ENVIRONMENT) as up:
        url = f"http://127.0.0.1:{port}"
        up.wait_until(lambda: _answers(url), patient(60), "it answered")
        _copies_a_file(ConnectRest(url), tmp_path)
        up.stop(patient(60))
        assert up.exit_code == 0


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/connectors", timeout=patient(10)).is_success
    except httpx.HTTPError:
        return False


def _copies_a_file(rest: ConnectRest, directory: Path) -> None:
    source, target = directory / "source.txt", directory / "target.txt"
    source.write_text("one\ntwo\n")
    package = "org.apache.kafka.connect.file"
    from_file = {"connector.class": f"{package}.FileStreamSourceConnector", "topic": "lines"}
    to_file = {"connector.class": f"{package}.FileStreamSinkConnector", "topics": "lines"}
    rest.create("from-file", {**from_file, "file": str(source)})
    rest.create("to-file", {**to_file, "file": str(target)})
    rest.eventually(
        lambda: target.read_text() if target.exists() else "", lambda text: text == "one\ntwo\n"
    )
    rest.close()
