"""What a record of a sink costs in batches of one to a hundred thousand."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import confluent_kafka

from bench.lab import JSON, PENSTOCK, Lab, Worker, wait_for
from bench.processes import cpu_seconds
from bench.report import Result
from bench.throughput import fill_topic_name, sink_config

SIZES = (1, 10, 50, 100, 200, 500, 1_000, 2_000, 3_000, 5_000, 9_900, 10_000, 19_000, 100_000)
#: The first batches of a size teach the JVM. As many follow as make so many records, within limits.
WARM_UPS = 3
FEWEST, MOST, RECORDS = 5, 30, 20_000
#: A record of a larger batch costs no more than one of a smaller batch, but for noise.
MOST_RISE = 1.3
_LONGEST_SECONDS = 120.0
_LINE = b"a line of a batch of some size"
_VALUE = b'{"schema":{"type":"string","optional":false},"payload":"%s"}' % _LINE


def batches(lab: Lab) -> Result:
    result = Result("batches", "A file sink's batches of JSON: CPU microseconds a record, by size")
    with lab.workers(only=PENSTOCK) as (worker,):
        topic = fill_topic_name()
        lab.create_topic(topic)
        target = lab.directory / f"{topic}.txt"
        worker.create(topic, sink_config(target, topic, JSON))
        worker.await_running(topic)
        # Nothing leaves before the whole batch is there.
        room = {"batch.num.messages": 200_000, "queue.buffering.max.messages": 200_000}
        producer = confluent_kafka.Producer(
            {"bootstrap.servers": lab.bootstrap, "linger.ms": 200, **room}
        )
        # Twice: the first sizes would pay for what the JVM learns from the later ones.
        for _ in range(2):
            costs = {size: _cost(worker, topic, producer, target, size) for size in SIZES}
    result.figures |= {f"{size:,} records": cost for size, cost in costs.items()}
    for smaller, larger in pairwise(SIZES):
        rise = costs[larger] / costs[smaller]
        result.at_most(f"{larger:,} to {smaller:,} records", rise, MOST_RISE)
    return result


def _cost(
    worker: Worker, topic: str, producer: confluent_kafka.Producer, target: Path, size: int
) -> float:
    """CPU microseconds of the worker for a record, from its way into the topic to the file."""
    for _ in range(WARM_UPS):
        _move(worker, topic, producer, target, size)
    count = max(FEWEST, min(MOST, RECORDS // size))
    before = cpu_seconds(worker.pid)
    for _ in range(count):
        _move(worker, topic, producer, target, size)
    return (cpu_seconds(worker.pid) - before) * 1_000_000 / (count * size)


def _move(
    worker: Worker, topic: str, producer: confluent_kafka.Producer, target: Path, size: int
) -> None:
    """A batch into the topic at once, and on into the file."""
    wanted = (target.stat().st_size if target.exists() else 0) + size * len(_LINE + b"\n")
    for _ in range(size):
        producer.produce(topic, _VALUE)
    producer.flush(_LONGEST_SECONDS)
    wait_for(
        lambda: target.exists() and target.stat().st_size >= wanted,
        _LONGEST_SECONDS,
        f"{size} records in {target.name}",
        lambda: worker.check(topic),
        0.01,
    )
