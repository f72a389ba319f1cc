"""Processes that die or go away in the middle of a transfer: nothing is lost, things go on."""

from __future__ import annotations

import os
import signal
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from penstock.machine.embedded_kafka import EmbeddedKafka
from penstock.testing.processes import alive, await_end, descendants
from penstock.testing.waiting import eventually, patient
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics
from tests.shared.servers import worker_properties
from tests.shared.sizes import Size

#: So many lines are read in one go, where a test says so.
CHUNK_LINES = 25_000
STRING = "org.apache.kafka.connect.storage.StringConverter"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedKafka]:
    """A broker that these tests may stop."""
    with EmbeddedKafka(tmp_path_factory.mktemp("kafka")) as node:
        yield node


@pytest.fixture(scope="module")
def crashing(
    broker: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PenstockWorker]:
    """A worker that these tests may kill."""
    properties = worker_properties(broker.bootstrap_servers, "crashes")
    with PenstockWorker(tmp_path_factory.mktemp("worker"), properties) as worker:
        yield worker


class Transfer:
    """A file of numbered lines to a topic, and the topic to another file."""

    def __init__(
        self, worker: PenstockWorker, kafka: str, folder: Path, unique: Callable[[str], str]
    ) -> None:
        self.worker, self.kafka = worker, kafka
        self.topic, self.source, self.sink = unique("lines"), unique("source"), unique("sink")
        self.inbound, self.outbound = folder / "in.txt", folder / "out.txt"
        self.written = 0

    def start(self, keys: Mapping[str, str] | None = None, **producer: str) -> None:
        common = {"value.converter": STRING, "key.converter": STRING}
        # A record's time is the moment in which the broker got it.
        topics.create(self.kafka, self.topic, settings={"message.timestamp.type": "LogAppendTime"})
        source = {"connector.class": "FileStreamSource", "file": str(self.inbound)}
        source |= {f"producer.override.{key}": value for key, value in producer.items()}
        source |= keys or {}
        sink = {"connector.class": "FileStreamSink", "file": str(self.outbound)}
        self.worker.rest.create_running(self.source, {**common, **source, "topic": self.topic})
        self.worker.rest.create_running(self.sink, {**common, **sink, "topics": self.topic})

    def append(self, count: int) -> None:
        numbers = range(self.written, self.written + count)
        with self.inbound.open("a") as stream:
            stream.writelines(map(self.line, numbers))
        self.written += count

    @staticmethod
    def line(number: int) -> str:
        return f"{number:09d} {'ü' * 40}\n"

    @property
    def expected(self) -> list[str]:
        return self.inbound.read_text().splitlines()

    @property
    def in_topic(self) -> int:
        return topics.end(self.kafka, self.topic)

    def await_middle(self, more: int = 1000) -> None:
        """Wait until that part of the big batch is in the topic."""
        begun = self.in_topic
        eventually(lambda: self.in_topic > begun + more)

    def await_arrival(self, seconds: float = 180) -> None:
        """Wait until the last line has arrived in topic and file; no task fails meanwhile."""
        last = self.expected[-1]
        ask = lambda: last in _end_of(self.outbound)  # noqa: E731
        self.worker.rest.eventually(ask, bool, seconds)

    def last_before_repeats(self) -> float:
        """When the topic got the last record before one came for the second time."""
        seen: set[bytes | None] = set()
        last = 0
        for record in topics.records(self.kafka, self.topic):
            if record.value in seen:
                break
            seen.add(record.value)
            last = record.timestamp
        return last / 1000

    def check(self, *, most_twice: int) -> None:
        """Everything arrived, in order; no more lines than that came twice, in topic and file."""
        expected = self.expected
        in_topic = [(value or b"").decode() for value in topics.values(self.kafka, self.topic)]
        for found in (in_topic, self.outbound.read_text().splitlines()):
            first = list(dict.fromkeys(found))
            assert first == expected
            assert len(found) - len(expected) <= most_twice


def _end_of(file: Path) -> str:
    if not file.exists():
        return ""
    with file.open("rb") as stream:
        stream.seek(max(0, file.stat().st_size - 4096))
        return stream.read().decode(errors="replace")


@pytest.fixture
def transfer(
    crashing: PenstockWorker, broker: EmbeddedKafka, tmp_path: Path, unique: Callable[[str], str]
) -> Iterator[Transfer]:
    yield Transfer(crashing, broker.bootstrap_servers, tmp_path, unique)
    for name in crashing.rest.connectors():
        crashing.rest.delete(name)


def test_the_spark_jvm_is_killed(crashing: PenstockWorker, transfer: Transfer, size: Size) -> None:
    transfer.append(10)
    transfer.start()
    transfer.await_arrival()
    transfer.append(size.lines)
    transfer.await_middle()
    crashing.kill_spark()
    transfer.await_arrival()
    assert crashing.rest.states(transfer.source) == ["RUNNING", "RUNNING"]
    assert crashing.rest.states(transfer.sink) == ["RUNNING", "RUNNING"]
    assert "The Spark JVM died; starting another" in crashing.log_text
    transfer.check(most_twice=size.lines)

    transfer.append(5)
    transfer.await_arrival()
    transfer.check(most_twice=size.lines)


def test_the_worker_is_killed(
    crashing: PenstockWorker, transfer: Transfer, size: Size, unique: Callable[[str], str]
) -> None:
    rest = crashing.rest
    quiet = {"connector.class": "FileStreamSource", "file": "/no/such/file", "topic": "none"}
    paused, stopped = unique("paused"), unique("stopped")
    for name in (paused, stopped):
        rest.create_running(name, quiet)
    rest.pause(paused)
    rest.stop(stopped)
    transfer.append(10)
    # Small requests, so that the batch lasts for seconds.
    transfer.start(
        {"chunk.bytes": str(CHUNK_LINES * len(transfer.line(0).encode()))},
        **{"batch.size": "3000", "linger.ms": "0", "max.in.flight.requests.per.connection": "1"},
    )
    transfer.await_arrival()
    rest.await_offsets(transfer.source, bool)
    transfer.append(size.lines)
    transfer.await_middle(size.lines // 2)
    family = descendants(crashing.child.pid)
    crashing.kill()
    killed = time.time()
    eventually(lambda: alive(family), lambda left: not left, seconds=1)

    crashing.start()
    rest.await_running(transfer.source)
    rest.await_running(transfer.sink)
    rest.await_states(paused, ["PAUSED", "PAUSED"])
    rest.await_states(stopped, ["STOPPED"])
    transfer.await_arrival()
    transfer.check(most_twice=size.lines)
    assert transfer.in_topic <= len(transfer.expected) + CHUNK_LINES
    assert transfer.last_before_repeats() < killed + patient(0.2)
    end = transfer.inbound.stat().st_size
    rest.await_offsets(transfer.source, lambda found: found[0]["offset"] == {"position": end})
    rest.resume(paused)


def test_the_worker_is_asked_to_end(
    crashing: PenstockWorker, transfer: Transfer, size: Size
) -> None:
    transfer.append(10)
    transfer.start()
    transfer.await_arrival()
    transfer.append(size.lines)
    transfer.await_middle()
    family = descendants(crashing.child.pid)
    crashing.child.signal(signal.SIGTERM)
    assert crashing.child.wait(patient())
    assert crashing.child.exit_code == 0
    await_end(family)
    crashing.start()
    transfer.await_arrival()
    transfer.check(most_twice=size.lines)

    # At rest everything is committed: after an orderly end nothing comes twice.
    before = transfer.in_topic
    crashing.stop()
    transfer.append(3)
    crashing.start()
    transfer.await_arrival()
    assert transfer.in_topic == before + 3
    assert transfer.outbound.read_text().splitlines()[-3:] == transfer.expected[-3:]


def test_the_broker_is_away(
    broker: EmbeddedKafka, crashing: PenstockWorker, transfer: Transfer, size: Size
) -> None:
    transfer.append(10)
    # The producer gives up a record long before the broker is back; the task does not.
    transfer.start({"producer.override.max.block.ms": "1000"})
    transfer.await_arrival()
    broker.stop()
    transfer.append(100)
    # How long it is away is what this is about, so here it is waited for.
    time.sleep(size.broker_away_seconds)
    broker.start()
    begun = time.monotonic()
    transfer.await_arrival()
    assert time.monotonic() - begun < patient()
    for name in (transfer.source, transfer.sink):
        assert crashing.rest.states(name) == ["RUNNING", "RUNNING"]
    transfer.check(most_twice=110)


def test_the_broker_hangs(
    broker: EmbeddedKafka, crashing: PenstockWorker, transfer: Transfer, size: Size
) -> None:
    """Worse than away: connections stay open and nobody answers."""
    transfer.append(10)
    transfer.start()
    transfer.await_arrival()
    os.kill(broker.pid, signal.SIGSTOP)
    try:
        transfer.append(100)
        time.sleep(size.hang_seconds)
    finally:
        os.kill(broker.pid, signal.SIGCONT)
    transfer.await_arrival()
    for name in (transfer.source, transfer.sink):
        assert crashing.rest.states(name) == ["RUNNING", "RUNNING"]
    transfer.check(most_twice=110)


def codecs(log: Path) -> Sequence[int]:
    """The compression of each batch in a segment: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd."""
    data, found, place = log.read_bytes(), [], 0
    while place + 61 <= len(data):
        (length,) = struct.unpack_from(">i", data, place + 8)
        (attributes,) = struct.unpack_from(">h", data, place + 21)
        if length <= 0:
            break
        found.append(attributes & 7)
        place += 12 + length
    return found


def test_producer_overrides_reach_the_producer(
    broker: EmbeddedKafka, crashing: PenstockWorker, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    file = tmp_path / "in.txt"
    file.write_text("one line\n" * 1000)
    for codec, override in ((0, {}), (1, {"producer.override.compression.type": "gzip"})):
        topic = unique(f"codec-{codec}")
        config = {"connector.class": "FileStreamSource", "file": str(file), "topic": topic}
        crashing.rest.create_running(unique(f"source-{codec}"), {**config, **override})
        assert len(topics.await_values(broker.bootstrap_servers, topic, 1000)) == 1000
        segments = sorted(broker.data_dir.glob(f"**/{topic}-0/*.log"))
        assert {found for segment in segments for found in codecs(segment)} == {codec}
