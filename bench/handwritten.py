"""The overhead over a PySpark job that somebody wrote by hand for the one purpose."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from bench.lab import JSON, PENSTOCK, BenchError, Lab, LineFile, Worker, end_offset
from bench.measure import Run
from bench.report import Result
from bench.throughput import WARM_UP_MB, fill_topic, fill_topic_name, write_file

RECORDS_MB = 550  # five million lines
BY_HAND = "PySpark by hand"
_JOB_SECONDS = 900


def overhead_source(lab: Lab) -> Result:
    result = Result("overhead-source", "file -> Kafka, JSON with schemas, against PySpark by hand")
    file = _file(lab)
    with lab.workers() as workers:
        worker = _penstock(workers)
        fill_topic(lab, worker, lab.lines(WARM_UP_MB), JSON, fill_topic_name())
        for _ in range(lab.options.rounds):
            for bring in (_by_hand_to_topic, _worker_to_topic):
                topic = fill_topic_name()
                result.runs.append(bring(lab, worker, file, topic))
                lab.delete_topic(topic)
    _compare(result)
    return result


def overhead_sink(lab: Lab) -> Result:
    result = Result("overhead-sink", "Kafka -> file, JSON with schemas, against PySpark by hand")
    small, large = lab.lines(WARM_UP_MB), _file(lab)
    warm, topic = fill_topic_name(), fill_topic_name()
    with lab.workers() as workers:
        worker = _penstock(workers)
        fill_topic(lab, worker, small, JSON, warm)
        fill_topic(lab, worker, large, JSON, topic)
        write_file(lab, worker, small, warm, JSON)
        for _ in range(lab.options.rounds):
            result.runs.append(_job(lab, "to-file", large, warm, topic))
            result.runs.append(write_file(lab, worker, large, topic, JSON))
    _compare(result)
    return result


def _compare(result: Result) -> None:
    ratio = result.rate(BY_HAND) / result.rate(PENSTOCK)
    result.at_most("time, Penstock to PySpark by hand", ratio, 1.1)
    share = result.cpu(PENSTOCK) / result.cpu(BY_HAND)
    result.figures["CPU a record, Penstock to PySpark by hand"] = share


def _file(lab: Lab) -> LineFile:
    return lab.lines(min(lab.options.size_mb, RECORDS_MB))


def _penstock(workers: list[Worker]) -> Worker:
    return next(worker for worker in workers if worker.name == PENSTOCK)


def _worker_to_topic(lab: Lab, worker: Worker, file: LineFile, topic: str) -> Run:
    return fill_topic(lab, worker, file, JSON, topic)


def _by_hand_to_topic(lab: Lab, worker: Worker, file: LineFile, topic: str) -> Run:
    del worker
    lab.create_topic(topic)
    warm = fill_topic_name()
    lab.create_topic(warm)
    run = _job(lab, "to-kafka", file, warm, topic)
    lab.delete_topic(warm)
    with lab.consumer() as eye:
        if (found := end_offset(eye, topic)) != file.count:
            raise BenchError(f"{BY_HAND}: {found} records of {file.count} lines")
    return run


def _job(lab: Lab, kind: str, file: LineFile, warm_topic: str, topic: str) -> Run:
    warm = str(lab.lines(WARM_UP_MB).path)
    return run_job(lab, kind, file.count, warm, warm_topic, str(file.path), topic)


def run_job(lab: Lab, kind: str, records: int, *arguments: str) -> Run:
    """A job in a process and a session of its own; the session's start does not count."""
    command = [sys.executable, "-m", "bench.spark_job", kind, lab.bootstrap]
    command += [str(lab.options.heap_mb), str(lab.directory), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=_JOB_SECONDS, check=False, cwd=_ROOT
    )
    if done.returncode:
        raise BenchError(f"{BY_HAND}: {done.stderr[-2000:]}")
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return Run(BY_HAND, records, **found)


_ROOT = Path(__file__).parent.parent
