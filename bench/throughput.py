"""FileStreamSource and FileStreamSink at full speed, Penstock and Java Connect in turn."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping
from pathlib import Path

from bench.lab import (
    JAVA,
    JSON,
    PENSTOCK,
    SINK,
    SOURCE,
    STRING,
    BenchError,
    Lab,
    LineFile,
    Worker,
    end_offset,
    wait_for,
)
from bench.measure import Run, measured
from bench.report import Result

WARM_UP_MB = 20
_numbers = itertools.count()


def source_json(lab: Lab) -> Result:
    result = _source(lab, "source-json", "FileStreamSource, JsonConverter with schemas", JSON)
    _compare(result, rate=1.5, cpu=1.0)
    return result


def source_string(lab: Lab) -> Result:
    result = _source(lab, "source-string", "FileStreamSource, StringConverter", STRING)
    _compare(result, rate=1.0)
    return result


def sink_json(lab: Lab) -> Result:
    result = _sink(lab, "sink-json", "FileStreamSink, JsonConverter with schemas", JSON)
    _compare(result, rate=1.0)
    return result


def sink_string(lab: Lab) -> Result:
    result = _sink(lab, "sink-string", "FileStreamSink, StringConverter", STRING)
    _compare(result, rate=1.0)
    return result


def _compare(result: Result, *, rate: float, cpu: float | None = None) -> None:
    peak = max((run.peak_pss_mb for run in result.of(PENSTOCK)), default=0.0)
    result.figures["Penstock, peak memory (PSS) MB"] = peak
    if not result.of(PENSTOCK) or not result.of(JAVA):
        return
    ratio = result.rate(PENSTOCK) / result.rate(JAVA)
    result.at_least("rows/s, Penstock to Java", ratio, rate)
    share = result.cpu(PENSTOCK) / result.cpu(JAVA)
    if cpu is None:
        result.figures["CPU a record, Penstock to Java"] = share
    else:
        result.at_most("CPU a record, Penstock to Java", share, cpu)


def _source(lab: Lab, case: str, title: str, converter: str) -> Result:
    result = Result(case, title)
    with lab.workers() as workers:
        for worker in workers:
            _read(lab, worker, lab.lines(WARM_UP_MB), converter)
        for _ in range(lab.options.rounds):
            for worker in workers:
                file = lab.lines(lab.options.size_mb)
                result.runs.append(_read(lab, worker, file, converter))
    return result


def _read(lab: Lab, worker: Worker, file: LineFile, converter: str) -> Run:
    topic = fill_topic_name()
    run = fill_topic(lab, worker, file, converter, topic)
    lab.delete_topic(topic)
    return run


def fill_topic_name() -> str:
    return f"lines-{next(_numbers)}"


def fill_topic(
    lab: Lab,
    worker: Worker,
    file: LineFile,
    converter: str,
    topic: str,
    chain: Mapping[str, str] | None = None,
) -> Run:
    """Bring the file into a new topic; ends when the topic has every line."""
    lab.create_topic(topic)
    name = f"source-{topic}"
    with lab.consumer() as eye:
        wait_for(lambda: end_offset(eye, topic) == 0, 30, f"topic {topic} is there")
        with measured(worker.name, worker.pid, file.count) as run:
            worker.create(name, source_config(file.path, topic, converter) | dict(chain or {}))
            wait_for(
                lambda: end_offset(eye, topic) >= file.count,
                900,
                f"{worker.name}: all lines in {topic}",
                lambda: worker.check(name),
            )
        worker.delete(name)
        if (found := end_offset(eye, topic)) != file.count:
            raise BenchError(f"{worker.name}: {found} records of {file.count} lines")
    return run


def source_config(path: Path, topic: str, converter: str) -> dict[str, str]:
    return {
        "connector.class": SOURCE,
        "tasks.max": "1",
        "file": str(path),
        "topic": topic,
        "value.converter": converter,
        "key.converter": converter,
    }


def sink_config(path: Path, topic: str, converter: str) -> dict[str, str]:
    return {
        "connector.class": SINK,
        "tasks.max": "1",
        "file": str(path),
        "topics": topic,
        "value.converter": converter,
        "key.converter": converter,
    }


def _sink(lab: Lab, case: str, title: str, converter: str) -> Result:
    result = Result(case, title)
    small, large = lab.lines(WARM_UP_MB), lab.lines(lab.options.size_mb)
    topics = {file.path: fill_topic_name() for file in (small, large)}
    with lab.workers() as workers:
        for file in (small, large):
            fill_topic(lab, workers[0], file, converter, topics[file.path])
        for worker in workers:
            write_file(lab, worker, small, topics[small.path], converter)
        for _ in range(lab.options.rounds):
            for worker in workers:
                run = write_file(lab, worker, large, topics[large.path], converter)
                result.runs.append(run)
        for topic in topics.values():
            lab.delete_topic(topic)
    return result


def write_file(lab: Lab, worker: Worker, file: LineFile, topic: str, converter: str) -> Run:
    """Bring the topic into a new file; ends when the file is as long as the one it came from."""
    name = f"sink-{next(_numbers)}"
    target = lab.directory / f"{name}.txt"
    size = file.size
    with measured(worker.name, worker.pid, file.count) as run:
        worker.create(name, sink_config(target, topic, converter))
        wait_for(
            lambda: target.exists() and target.stat().st_size >= size,
            900,
            f"{worker.name}: all records in the file",
            lambda: worker.check(name),
        )
    worker.delete(name)
    if _digest(target) != _digest(file.path):
        raise BenchError(f"{worker.name}: the file differs from what was sent")
    target.unlink()
    return run


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
