"""Many connectors with nothing to do cost next to nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from penstock.testing.processes import cpu_seconds, descendants
from penstock.testing.waiting import eventually, patient
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics
from tests.shared.sizes import Size

CONNECTORS = 30


def last_job(url: str) -> int:
    """The number of the newest Spark job; -1 before the first."""
    applications: Any = httpx.get(url, timeout=patient()).json()
    jobs: Any = httpx.get(f"{url}/{applications[0]['id']}/jobs", timeout=patient()).json()
    return max((int(job["jobId"]) for job in jobs), default=-1)


def test_thirty_idle_connectors_run_no_spark_job(
    lone: PenstockWorker, kafka: str, tmp_path: Path, unique: Callable[[str], str], size: Size
) -> None:
    rest, topic = lone.rest, unique("lines")
    spark = f"http://127.0.0.1:{lone.properties['spark.ui.port']}/api/v1/applications"
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
    family = {lone.child.pid} | descendants(lone.child.pid)
    used, begun = cpu_seconds(family), time.monotonic()
    # What happens in this time is what this is about.
    time.sleep(size.idle_seconds)
    used, passed = cpu_seconds(family) - used, time.monotonic() - begun
    assert last_job(spark) == job
    # Far below one core; the exact figure is the benchmark's to tell.
    assert used / passed < 0.25

    with busy.open("a") as stream:
        stream.write("two\n")
    rest.eventually(lambda: out.exists() and out.read_text() == "one\ntwo\n")
