"""The kafkacat recipes that Connect users keep in their notes, on Penstock's offsets topic."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from penstock.testing.connect import distributed_properties
from penstock.testing.waiting import eventually
from penstock.testing.worker import PenstockWorker

pytestmark = pytest.mark.timeout(500)


def kcat(kafka: str, *arguments: str, stdin: str = "") -> str:
    # People leave out -C and -P: kcat looks whether a terminal is there. Here is none.
    result = subprocess.run(
        ["kcat", "-b", kafka, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return result.stdout


@pytest.fixture
def worker(kafka: str, tmp_path: Path, unique: Callable[[str], str]) -> Iterator[PenstockWorker]:
    with PenstockWorker(tmp_path / "w", distributed_properties(kafka, unique("g"))) as worker:
        yield worker


def test_offsets_are_read_and_reset_with_kcat(
    kafka: str, tmp_path: Path, unique: Callable[[str], str], worker: PenstockWorker
) -> None:
    source, topic, name = tmp_path / "in.txt", unique("lines"), unique("source")
    offsets = worker.properties["offset.storage.topic"]
    source.write_text("one\ntwo\n")
    config = {
        "connector.class": "FileStreamSource",
        "file": str(source),
        "topic": topic,
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    }
    answer = httpx.put(f"{worker.url}/connectors/{name}/config", json=config, timeout=30)
    assert answer.status_code == httpx.codes.CREATED, answer.text

    def stored() -> list[tuple[str, str, str]]:
        text = kcat(kafka, "-C", "-t", offsets, "-e", "-q", "-f", r"%k###%s###%p\n")
        rows = [tuple(row.split("###")) for row in text.splitlines()]
        return [(key, value, partition) for key, value, partition in rows if name in key]

    def lines() -> list[str]:
        return kcat(kafka, "-C", "-t", topic, "-e", "-q").splitlines()

    key, value, partition = eventually(stored, seconds=150)[-1]
    assert json.loads(key) == [name, {"filename": str(source)}]
    assert json.loads(value) == {"position": 8}
    assert lines() == ["one", "two"]

    # Reset: stop the worker, write a tombstone for the key into its partition, start again.
    worker.stop()
    tombstone = ("-t", offsets, "-P", "-Z", "-K###", "-p", partition)
    kcat(kafka, *tombstone, stdin=f"{key}###\n")
    worker.start()
    assert eventually(lines, lambda got: len(got) >= 4, seconds=150) == ["one", "two"] * 2
