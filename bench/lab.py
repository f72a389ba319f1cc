"""What all cases share: a broker, the two kinds of worker, topics, and a file of lines."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import confluent_kafka
import httpx
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from penstock.machine.embedded_kafka import EmbeddedKafka
from penstock.machine.process import Child
from penstock.testing.connect import ConnectProcess, distributed_properties
from penstock.testing.oracle import JavaConnect
from penstock.testing.worker import PenstockWorker

JSON = "org.apache.kafka.connect.json.JsonConverter"
STRING = "org.apache.kafka.connect.storage.StringConverter"
SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"

PENSTOCK = "Penstock"
JAVA = "Java Connect"


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line decides."""

    size_mb: int
    rounds: int
    starts: int
    heap_mb: int
    seconds: float
    records: int
    rows: int
    workers: tuple[str, ...]
    spark: Mapping[str, str]


class BenchError(Exception):
    """A run that did not do what it was to measure."""


class Worker:
    """A worker of either kind, with the few REST calls a benchmark needs."""

    def __init__(self, name: str, process: ConnectProcess) -> None:
        self.name = name
        self.process = process
        self._http = httpx.Client(base_url=process.url, timeout=90)

    @property
    def child(self) -> Child:
        return self.process.child

    @property
    def pid(self) -> int:
        return self.child.pid

    def create(self, name: str, config: Mapping[str, str]) -> None:
        body = {"name": name, "config": dict(config)}
        answer = self._http.post("/connectors", json=body)
        if answer.is_error:
            raise BenchError(f"{self.name}: {answer.text}")

    def delete(self, name: str) -> None:
        self._http.delete(f"/connectors/{name}")

    def await_running(self, name: str, seconds: float = 90) -> None:
        def running() -> bool:
            answer = self._http.get(f"/connectors/{name}/status")
            tasks = answer.json().get("tasks", []) if answer.is_success else []
            return bool(tasks) and all(task["state"] == "RUNNING" for task in tasks)

        wait_for(running, seconds, f"{self.name}: {name} runs", lambda: self.check(name))

    def check(self, name: str) -> None:
        """Raise if a task of the connector failed."""
        answer = self._http.get(f"/connectors/{name}/status")
        for task in answer.json().get("tasks", []) if answer.is_success else []:
            if task["state"] == "FAILED":
                raise BenchError(f"{self.name}: {name} failed: {task.get('trace')}")


def wait_for(
    ready: Callable[[], bool],
    seconds: float,
    what: str,
    check: Callable[[], None] = lambda: None,
    pause: float = 0.05,
) -> None:
    end = time.monotonic() + seconds
    looks = 0
    while not ready():
        looks += 1
        if looks % 40 == 0:
            check()
        if time.monotonic() > end:
            raise BenchError(f"not within {seconds:.0f} s: {what}")
        time.sleep(pause)


class Lab:
    """Owns the broker and makes workers on it."""

    def __init__(self, directory: Path, options: Options) -> None:
        self.directory = directory
        self.options = options
        # A broker as a production one runs: all of the compiler, and room for its buffers.
        self.broker = EmbeddedKafka(directory / "kafka", heap_mb=1024, java_options=())
        self._files: dict[int, LineFile] = {}

    @property
    def bootstrap(self) -> str:
        return self.broker.bootstrap_servers

    @contextmanager
    def workers(
        self,
        spark: Mapping[str, str] | None = None,
        *,
        only: str | None = None,
        java: Mapping[str, str] | None = None,
    ) -> Iterator[list[Worker]]:
        """Both workers, or those asked for, side by side; only one is given work at a time.

        `spark` and `java`: more properties, for Penstock and for the real Connect.
        """
        own = {PENSTOCK: spark or {}, JAVA: java or {}}
        with ExitStack() as stack:
            found = []
            for name in (only,) if only else self.options.workers:
                process = self._process(name, own[name])
                found.append(Worker(name, stack.enter_context(process)))
            yield found

    def _process(self, name: str, more: Mapping[str, str]) -> ConnectProcess:
        unique = uuid.uuid4().hex[:6]
        base = distributed_properties(self.bootstrap, f"bench-{unique}")
        base |= {"value.converter.schemas.enable": "true", "offset.flush.interval.ms": "10000"}
        directory = self.directory / f"{name.split()[0].lower()}-{unique}"
        if name == JAVA:
            # The heap of Connect's own start script, and the JVM's own choice of collector.
            java = {**base, **more}
            return JavaConnect(directory, java, heap_mb=2048, java_options=("-Xms256m",))
        own = {
            "spark.driver.memory": f"{self.options.heap_mb}m",
            "spark.driver.extraJavaOptions": "",
            **self.options.spark,
            **more,
        }
        return PenstockWorker(directory, {**base, **own})

    # ------------------------------------------------------------------------------- topics

    def create_topic(self, name: str) -> None:
        admin = self._admin()
        admin.create_topics([NewTopic(name, 1, 1)])[name].result(30)

    def delete_topic(self, name: str) -> None:
        admin = self._admin()
        admin.delete_topics([name])[name].result(30)

    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap})

    @contextmanager
    def consumer(self, **settings: Any) -> Iterator[confluent_kafka.Consumer]:
        consumer = confluent_kafka.Consumer(
            {"bootstrap.servers": self.bootstrap, "group.id": "bench-eye", **settings}
        )
        try:
            yield consumer
        finally:
            consumer.close()

    # -------------------------------------------------------------------------------- files

    def lines(self, size_mb: int) -> LineFile:
        """A file of about that size, made once."""
        if size_mb not in self._files:
            path = self.directory / f"lines-{size_mb}.txt"
            self._files[size_mb] = LineFile(path, make_lines(path, size_mb * 1_000_000))
        return self._files[size_mb]


@dataclass(frozen=True, slots=True)
class LineFile:
    """A text file and how many lines it has."""

    path: Path
    count: int

    @property
    def size(self) -> int:
        return self.path.stat().st_size


def make_lines(path: Path, size: int) -> int:
    """Lines like those of a web server's log, about 110 bytes each; how many were written."""
    count = written = 0
    with path.open("wb", buffering=1 << 20) as file:
        while written < size:
            block = "".join(_line(number) for number in range(count, count + 10_000)).encode()
            file.write(block)
            count += 10_000
            written += len(block)
    return count


def _line(number: int) -> str:
    return (
        f"{number:010d} 2025-06-{number % 28 + 1:02d}T12:{number % 60:02d}:07.{number % 1000:03d}Z"
        f' INFO  "GET /api/v1/orders/{number * 7919 % 1_000_003:07d}?page={number % 97:02d}"'
        f" status=200 bytes={number % 9000 + 1000} ms={number % 90 + 10}\n"
    )


def end_offset(consumer: confluent_kafka.Consumer, topic: str) -> int:
    """How many records a topic of one partition has; -1 while the broker does not know it yet."""
    partition = confluent_kafka.TopicPartition(topic, 0)
    try:
        return int(consumer.get_watermark_offsets(partition, timeout=10)[1])
    except confluent_kafka.KafkaException:
        return -1


def committed(consumer: confluent_kafka.Consumer, topic: str) -> int:
    """How far the consumer's group is in a topic of one partition; negative before its start."""
    partition = confluent_kafka.TopicPartition(topic, 0)
    return int(consumer.committed([partition], timeout=10)[0].offset)
