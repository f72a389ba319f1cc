"""`penstock dlq` with more letters than should be in memory: streamed, and killed in the middle."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
import uuid
from dataclasses import dataclass

import pytest

from penstock.testing.waiting import eventually, patient
from tests.cluster import topics
from tests.unit.cli.run import penstock

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Dead:
    """A dead letter topic, and the topic that its letters came from."""

    kafka: str
    name: str
    source: str

    def write(self, values: list[bytes], partition: int = 0) -> None:
        story = {"topic": self.source, "partition": "0", "offset": "3", "stage": "TASK_PUT"}
        headers: topics.Headers = [
            (f"__connect.errors.{name}", text.encode()) for name, text in story.items()
        ]
        topics.produce(self.kafka, self.name, values, headers=headers, partition=partition)

    def arguments(self, command: str, *more: str) -> list[str]:
        return ["dlq", command, "--topic", self.name, "--bootstrap-server", self.kafka, *more]

    def dlq(self, command: str, *more: str) -> str:
        done = penstock(*self.arguments(command, *more))
        assert done.status == 0, done.err
        return done.out


@pytest.fixture
def dead(kafka: str) -> Dead:
    suffix = uuid.uuid4().hex[:8]
    found = Dead(kafka, f"dead-{suffix}", f"orders-{suffix}")
    topics.create(kafka, found.name, partitions=2)
    topics.create(kafka, found.source)
    return found


def test_letters_are_streamed(dead: Dead) -> None:
    values = [b"%06d" % number + bytes(10_000) for number in range(6000)]
    dead.write(values[:3500], partition=0)
    dead.write(values[3500:], partition=1)

    dead.dlq("replay", "--dry-run")  # imports what it needs
    tracemalloc.start()
    try:
        text = dead.dlq("replay", "--batch", "100", "--yes")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert f"{dead.name}: 6000 letters to {dead.source}" in text
    assert "6000 letters were replayed." in text
    # A partition after another, in their order.
    assert topics.values(dead.kafka, dead.source) == values
    # The reader takes up to 1000 at once, 10 MB, while it still has those before them.
    assert peak < 35 * MEGABYTE, f"{peak / MEGABYTE:.1f} of 60 MB"

    assert "there is nothing to replay" in dead.dlq("replay", "--yes")
    listed = json.loads(dead.dlq("list", "-o", "json"))
    assert (listed["topics"][0]["letters"], listed["topics"][0]["replayed"]) == (6000, 6000)
    pages = [
        json.loads(dead.dlq("show", "-o", "json", "--limit", "2", "--offset", offset))
        for offset in ("3499", "3501")
    ]
    places = [(each["partition"], each["offset"]) for page in pages for each in page]
    assert places == [(0, 3499), (1, 0), (1, 1), (1, 2)]

    dead.write([b"one more"], partition=1)
    text = dead.dlq("replay", "--yes")
    assert text.splitlines() == [
        f"{dead.name}: 1 letter to {dead.source}",
        f"{dead.name}: 1 letter was replayed.",
    ]
    assert topics.end(dead.kafka, dead.source) == 6001


def test_a_replay_that_is_killed_goes_on_where_it_was(dead: Dead) -> None:
    values = [b"%d" % number for number in range(3000)]
    dead.write(values)
    command = dead.arguments("replay", "--batch", "5", "--yes")
    process = subprocess.Popen(
        [sys.executable, "-m", "penstock", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        eventually(
            lambda: topics.committed(dead.kafka, f"penstock-dlq-{dead.name}", dead.name),
            lambda floor: floor >= 20,
        )
    finally:
        process.kill()
        process.wait(patient())
    written = topics.end(dead.kafka, dead.source)
    floor = topics.committed(dead.kafka, f"penstock-dlq-{dead.name}", dead.name)
    assert 20 <= floor <= written < len(values)
    assert floor % 5 == 0

    assert f"{len(values) - floor} letters were replayed" in dead.dlq("replay", "--yes")
    got = topics.values(dead.kafka, dead.source)
    assert got == values[:written] + values[floor:]
    assert len(got) - len(values) <= 5


def test_nothing_is_asked_or_written_if_the_target_is_gone(dead: Dead) -> None:
    dead.write([b"x"])
    done = penstock(*dead.arguments("replay", "--to", f"{dead.source}-gone"))
    assert done.status == 1
    assert f"there is no topic {dead.source}-gone" in done.words
