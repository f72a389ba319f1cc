"""From a record's production to its line in the sink's file, one record at a time."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import confluent_kafka

from bench.lab import JSON, PENSTOCK, STRING, BenchError, Lab, Worker, wait_for
from bench.measure import percentile
from bench.report import Result
from bench.throughput import fill_topic_name, sink_config

INTERVAL_SECONDS = 0.2
#: A JVM needs a while until what it runs is compiled; a worker runs for months.
WARM_UP_RECORDS = 300
_ENVELOPE = '{{"schema":{{"type":"string","optional":false}},"payload":"{}"}}'


def latency(lab: Lab) -> Result:
    result = Result("latency", "Sink latency, one record every 200 ms, milliseconds")
    with lab.workers() as workers:
        for worker in workers:
            for label, converter in (("String", STRING), ("JSON", JSON)):
                _add(result, worker, label, _measure(lab, worker, converter))
    return result


def _add(result: Result, worker: Worker, label: str, delays: list[float]) -> None:
    middle, late = percentile(delays, 50), percentile(delays, 99)
    result.figures |= {
        f"{worker.name}, {label}: median": middle,
        f"{worker.name}, {label}: p99": late,
        f"{worker.name}, {label}: max": max(delays),
    }
    if worker.name == PENSTOCK:
        result.at_most(f"median, {label}", middle, 150)
        result.at_most(f"p99, {label}", late, 400)


def _measure(lab: Lab, worker: Worker, converter: str) -> list[float]:
    topic = fill_topic_name()
    lab.create_topic(topic)
    target = lab.directory / f"{topic}.txt"
    worker.create(topic, sink_config(target, topic, converter))
    worker.await_running(topic)
    count = WARM_UP_RECORDS + lab.options.records
    sent = _send(lab, topic, converter, count)
    seen = Watcher(target, count)
    for number, at in sent:
        seen.sent[number] = at
    wait_for(lambda: seen.complete, 60, f"{worker.name}: all records in the file")
    seen.close()
    worker.delete(topic)
    lab.delete_topic(topic)
    return seen.delays()[WARM_UP_RECORDS:]


def _send(lab: Lab, topic: str, converter: str, count: int):  # type: ignore[no-untyped-def]
    producer = confluent_kafka.Producer({"bootstrap.servers": lab.bootstrap, "linger.ms": 0})
    next_at = time.monotonic()
    for number in range(count):
        text = f"{number:08d} a line of the latency measurement"
        value = _ENVELOPE.format(text) if converter == JSON else text
        at = time.monotonic()
        producer.produce(topic, value.encode())
        producer.poll(0)
        yield number, at
        next_at += INTERVAL_SECONDS
        time.sleep(max(0.0, next_at - time.monotonic()))
    producer.flush(10)


class Watcher:
    """Notes when each line appears: looks at the file's length every millisecond."""

    def __init__(self, path: Path, count: int) -> None:
        self.sent: dict[int, float] = {}
        self._path = path
        self._count = count
        self._seen: list[tuple[int, float]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)
        self._thread.start()

    @property
    def complete(self) -> bool:
        return len(self._seen) >= self._count

    def close(self) -> None:
        self._stop.set()
        self._thread.join(5)

    def delays(self) -> list[float]:
        """Milliseconds for each record, in order."""
        if [number for number, _ in self._seen] != sorted(self.sent):
            raise BenchError("records are missing, doubled or out of order")
        return [1000 * (at - self.sent[number]) for number, at in self._seen]

    def _run(self) -> None:
        rest = b""
        position = 0
        while not self._stop.is_set():
            size = self._path.stat().st_size if self._path.exists() else 0
            if size == position:
                time.sleep(0.001)
                continue
            at = time.monotonic()
            with self._path.open("rb") as file:
                file.seek(position)
                data = rest + file.read()
            position += len(data) - len(rest)
            *lines, rest = data.split(b"\n")
            self._seen.extend((int(line[:8]), at) for line in lines)
