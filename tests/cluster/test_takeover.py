"""Penstock goes on where the real Kafka Connect stopped, and the other way round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from penstock.testing.connect import ConnectMode, ConnectProcess, distributed_properties
from penstock.testing.oracle import JavaConnect
from penstock.testing.rest import ConnectRest
from penstock.testing.waiting import eventually
from penstock.testing.worker import PenstockWorker
from tests.cluster import topics

STRING = "org.apache.kafka.connect.storage.StringConverter"


def append(file: Path, *lines: str) -> None:
    with file.open("a") as stream:
        stream.writelines(f"{line}\n" for line in lines)


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


class Pipeline:
    """A file to a topic to a file, and what of it is stored."""

    def __init__(self, kafka: str, folder: Path, unique: Callable[[str], str]) -> None:
        self.kafka = kafka
        self.inbound, self.outbound = folder / "in.txt", folder / "out.txt"
        self.topic = unique("lines")
        self.source, self.sink = unique("source"), unique("sink")
        self.expected: list[str] = []
        topics.create(kafka, self.topic)

    @property
    def configs(self) -> dict[str, dict[str, str]]:
        common = {"key.converter": STRING, "value.converter": STRING, "tasks.max": "1"}
        source = {"connector.class": "FileStreamSource", "file": str(self.inbound)}
        sink = {"connector.class": "FileStreamSink", "file": str(self.outbound)}
        return {
            self.source: {**common, **source, "topic": self.topic},
            self.sink: {**common, **sink, "topics": self.topic},
        }

    def move(self, rest: ConnectRest, *new: str) -> None:
        """Append lines; they arrive once, after all before, and the offsets are stored."""
        append(self.inbound, *new)
        self.expected += new
        self.arrive(rest)

    def arrive(self, rest: ConnectRest) -> None:
        count = len(self.expected)
        eventually(lambda: lines(self.outbound), lambda got: len(got) >= count)
        assert lines(self.outbound) == self.expected
        in_topic = [(value or b"").decode() for value in topics.values(self.kafka, self.topic)]
        assert in_topic == self.expected
        size = self.inbound.stat().st_size
        rest.await_offsets(
            self.source,
            lambda found: (
                found
                == [{"partition": {"filename": str(self.inbound)}, "offset": {"position": size}}]
            ),
        )
        rest.await_offsets(
            self.sink,
            lambda found: [entry["offset"] for entry in found] == [{"kafka_offset": count}],
        )


def test_a_cluster_is_taken_over_and_given_back(
    kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    properties = distributed_properties(kafka, unique("cluster"))
    java = JavaConnect(tmp_path / "java", properties)
    same = {**properties, "listeners": java.properties["listeners"]}
    penstock = PenstockWorker(tmp_path / "penstock", same)
    rest = ConnectRest(java.url)
    pipeline = Pipeline(kafka, tmp_path, unique)
    quiet = {"connector.class": "FileStreamSource", "file": "/no/such/file", "topic": "none"}
    paused, stopped = unique("paused"), unique("stopped")

    with java:
        for name, config in pipeline.configs.items():
            rest.create_running(name, config)
        for name in (paused, stopped):
            rest.create_running(name, quiet)
        rest.pause(paused)
        rest.stop(stopped)
        # Java counts characters where it means bytes, so until it has stopped they are the same.
        pipeline.move(rest, "one", "two", "")
        names, infos = rest.connectors(), rest.get("/connectors?expand=info")

    with penstock:
        eventually(rest.connectors, lambda found: found == names)
        assert rest.get("/connectors?expand=info") == infos
        rest.await_running(pipeline.source)
        rest.await_running(pipeline.sink)
        rest.await_states(paused, ["PAUSED", "PAUSED"])
        rest.await_states(stopped, ["STOPPED"])
        pipeline.arrive(rest)
        pipeline.move(rest, "vier — ü", "five")
        rest.resume(stopped)
        rest.stop(paused)
        added = unique("added")
        rest.create(added, {**quiet, "name": added})
        rest.await_running(added)
        rest.delete(stopped)
        names, infos = rest.connectors(), rest.get("/connectors?expand=info")

    append(pipeline.inbound, "while nobody runs")
    pipeline.expected.append("while nobody runs")
    with java:
        eventually(rest.connectors, lambda found: found == names)
        rest.await_running(pipeline.source)
        rest.await_running(pipeline.sink)
        rest.await_running(added)
        rest.await_states(paused, ["STOPPED"])
        assert rest.get("/connectors?expand=info") == infos
        pipeline.arrive(rest)
        pipeline.move(rest, "seven")
    assert len(pipeline.expected) == 7


def test_a_standalone_worker_is_taken_over_and_given_back(
    kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    pipeline = Pipeline(kafka, tmp_path, unique)
    properties = {
        "bootstrap.servers": kafka,
        "key.converter": STRING,
        "value.converter": STRING,
        "offset.storage.file.filename": str(tmp_path / "connect.offsets"),
        "offset.flush.interval.ms": "1000",
    }
    files: list[Path] = []
    for name, config in pipeline.configs.items():
        files.append(tmp_path / f"{name}.properties")
        text = "".join(f"{key}={value}\n" for key, value in {"name": name, **config}.items())
        files[-1].write_text(text)

    def workers() -> Sequence[ConnectProcess]:
        options = {"mode": ConnectMode.STANDALONE, "connectors": files}
        java = JavaConnect(tmp_path / "java", properties, **options)  # type: ignore[arg-type]
        same = {**properties, "listeners": java.properties["listeners"]}
        return java, PenstockWorker(tmp_path / "penstock", same, **options), java  # type: ignore[arg-type]

    for number, worker in enumerate(workers()):
        rest = ConnectRest(worker.url)
        with worker:
            rest.await_running(pipeline.source)
            rest.await_running(pipeline.sink)
            pipeline.move(rest, f"first of {number}", f"second of {number}")
