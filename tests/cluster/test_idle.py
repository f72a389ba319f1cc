"""Many connectors with nothing to do cost next to nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from penstock.ports import free_port
from penstock.testing.processes import cpu_seconds, descendants
from penstock.testing.waiting import eventually
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics
from tests.cluster.conftest import worker_properties

pytestmark = pytest.mark.timeout(400)

CONNECTORS = 30
LOOK_SECONDS = 10.0


@pytest.fixture
def watched(
    kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> Iterator[tuple[PenstockWorker, str]]:
    """A worker whose Spark tells about its jobs, and where it does."""
    port = free_port()
    properties = worker_properties(kafka, unique("idle")) | {
        "spark.ui.enabled": "true",
        "spark.ui.port": str(port),
        "spark.driver.host": "127.0.0.1",
    }
    with PenstockWorker(tmp_path / "worker", properties) as worker:
        yield worker, f"http://127.0.0.1:{port}/api/v1/applications"


def last_job(url: str) -> int:
    """The number of the newest Spark job; -1 before the first."""
    applications: Any = httpx.get(url, timeout=30).json()
    jobs: Any = httpx.get(f"{url}/{applications[0]['id']}/jobs", timeout=30).json()
    return max((int(job["jobId"]) for job in jobs), default=-1)


def test_thirty_idle_connectors_run_no_spark_job(
    watched: tuple[PenstockWorker, str],
    kafka: str,
    tmp_path: Path,
    unique: Callable[[str], str],
) -> None:
    worker, spark = watched
    rest, topic = worker.rest, unique("lines")
    topics.create(kafka, topic)
    busy, out = tmp_path / "in.txt", tmp_path / "out.txt"
    busy.touch()
    config = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}
    source = {**config, "connector.class": "FileStreamSource", "topic": topic}
    sink = {**config, "connector.class": "FileStreamSink", "topics": topic}
    names = [f"c{number}" for number in range(CONNECTORS)]
    for number, name in enumerate(names):
        own = source | {"file": str(tmp_path / f"in-{number}.txt")}
        if number % 2:
            own = sink | {"file": str(tmp_path / f"out-{number}.txt")}
        rest.create(name, own)
    for name in names:
        rest.await_running(name)
    rest.create_running("busy-source", source | {"file": str(busy)})
    rest.create_running("busy-sink", sink | {"file": str(out)})
    busy.write_text("one\n")
    # Every sink has read the line: they have joined their groups and committed.
    for number in range(1, CONNECTORS, 2):
        rest.await_offsets(f"c{number}", bool)

    job = eventually(lambda: last_job(spark), lambda number: number >= 0)
    family = {worker.child.pid} | descendants(worker.child.pid)
    used, begun = cpu_seconds(family), time.monotonic()
    # What happens in this time is what this is about.
    threading.Event().wait(LOOK_SECONDS)
    used, passed = cpu_seconds(family) - used, time.monotonic() - begun
    assert last_job(spark) == job
    # Far below one core; the exact figure is the benchmark's to tell.
    assert used / passed < 0.25

    with busy.open("a") as stream:
        stream.write("two\n")
    rest.eventually(lambda: out.exists() and out.read_text() == "one\ntwo\n")
