"""How long the first seconds take: broker, worker, first record and demo, all of them new."""

from __future__ import annotations

import http.client
import itertools
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import confluent_kafka

from bench.jdbc_source import CONNECTOR as JDBC_SOURCE
from bench.lab import JSON, PENSTOCK, BenchError, Lab, Worker, end_offset, wait_for
from bench.measure import median
from bench.processes import cpu_seconds, own_cpu_seconds
from bench.report import Result
from bench.throughput import source_config
from penstock.machine.embedded_kafka import EmbeddedKafka
from penstock.machine.free_ports import free_port
from penstock.machine.process import Child

SPARK_IS_READY = "Spark started in"
#: How long a worker is up before it is asked for its first connector.
SETTLE_SECONDS = 10.0
RECORDS = 100
_PAUSE_SECONDS = 0.01
_LONGEST_SECONDS = 120.0
_PENSTOCK = (sys.executable, "-m", "penstock")
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Spent:
    """From a start until something was ready. CPU is that of all processes that took part."""

    seconds: float
    cpu_seconds: float


Moments = Mapping[str, Spent]

#: Seconds that the median of a quiet machine may take.
TARGETS: Mapping[str, float] = {
    "broker, until it serves": 2.0,
    "up, until GET / answers": 2.0,
    "up, until Spark is ready": 3.5,
    "file source, POST to first record": 1.5,
    "JDBC source, POST to first record": 1.5,
    "demo --exit": 10.0,
}


def start(lab: Lab) -> Result:
    rounds = lab.options.starts
    result = Result("start", f"The first seconds, medians of {rounds} starts with filled caches")
    for measure in (_broker, _up, _first_file, _first_row, _at_once, _demo):
        # The first one fills the caches: jars, compiled Python and the machine's of files.
        _, *found = [measure(lab) for _ in range(rounds + 1)]
        for what in found[0]:
            _add(result, what, [moments[what] for moments in found])
    return result


def _add(result: Result, what: str, spent: list[Spent]) -> None:
    seconds = median([each.seconds for each in spent])
    if what in TARGETS:
        result.at_most(f"{what}, s", seconds, TARGETS[what])
    else:
        result.figures[f"{what}, s"] = seconds
    result.figures[f"{what}, CPU s"] = median([each.cpu_seconds for each in spent])


# --------------------------------------------------------------------------- broker, up and demo


def _broker(lab: Lab) -> Moments:
    broker = EmbeddedKafka(_new_directory(lab))
    # What formats the storage has ended when the broker serves, so it counts as ours.
    begun, before = time.monotonic(), own_cpu_seconds()
    with broker:
        seconds = time.monotonic() - begun
        cpu = own_cpu_seconds() - before + cpu_seconds(broker.pid)
    return {"broker, until it serves": Spent(seconds, cpu)}


def _up(lab: Lab) -> Moments:
    home, port = _new_directory(lab), free_port()
    command = [*_PENSTOCK, "up", "--data-dir", str(home / "data")]
    command += ["--port", str(port), "--kafka-port", str(free_port())]
    begun = time.monotonic()
    with Child("penstock up", command, log=home / "up.log") as child:
        moments: dict[str, Callable[[], bool]] = {
            "up, until GET / answers": lambda: _answers(port, "/"),
            "up, until GET /connectors answers": lambda: _answers(port, "/connectors"),
            "up, until Spark is ready": lambda: SPARK_IS_READY in child.log.read_text(),
        }
        # Nobody knows which of them comes first.
        with ThreadPoolExecutor() as threads:
            waiting = {
                what: threads.submit(_spent_until, ready, child, begun, what)
                for what, ready in moments.items()
            }
        return _results(waiting)


def _spent_until(ready: Callable[[], bool], child: Child, begun: float, what: str) -> Spent:
    wait_for(ready, _LONGEST_SECONDS, what, lambda: _still_runs(child), _PAUSE_SECONDS)
    return Spent(time.monotonic() - begun, cpu_seconds(child.pid))


def _still_runs(child: Child) -> None:
    if not child.running:
        raise BenchError(f"{child.name} ended:\n{child.tail()}")


def _results(waiting: Mapping[str, Future[Spent]]) -> Moments:
    return {what: each.result() for what, each in waiting.items()}


def _demo(lab: Lab) -> Moments:
    begun, before = time.monotonic(), own_cpu_seconds()
    ended = subprocess.run([*_PENSTOCK, "demo", "--exit"], capture_output=True, check=False)
    spent = Spent(time.monotonic() - begun, own_cpu_seconds() - before)
    if ended.returncode != 0:
        raise BenchError(f"the demo failed:\n{ended.stdout.decode()}{ended.stderr.decode()}")
    return {"demo --exit": spent}


# ---------------------------------------------------------------------------------- first record


def _first_file(lab: Lab) -> Moments:
    return {"file source, POST to first record": _after_a_while(lab, *_file_source(lab))}


def _first_row(lab: Lab) -> Moments:
    return {"JDBC source, POST to first record": _after_a_while(lab, *_jdbc_source(lab))}


def _at_once(lab: Lab) -> Moments:
    """The connector comes as soon as connectors are listed; all that the start takes counts."""
    begun = time.monotonic()
    with lab.workers(only=PENSTOCK) as (worker,):
        _await_first_record(lab, worker, *_file_source(lab))
        spent = Spent(time.monotonic() - begun, cpu_seconds(worker.pid))
    return {"worker's start to first record": spent}


def _after_a_while(lab: Lab, topic: str, config: Mapping[str, str]) -> Spent:
    with lab.workers(only=PENSTOCK) as (worker,):
        time.sleep(SETTLE_SECONDS)
        begun, before = time.monotonic(), cpu_seconds(worker.pid)
        _await_first_record(lab, worker, topic, config)
        return Spent(time.monotonic() - begun, cpu_seconds(worker.pid) - before)


def _await_first_record(lab: Lab, worker: Worker, topic: str, config: Mapping[str, str]) -> None:
    with lab.consumer() as eye:
        worker.create(topic, config)
        wait_for(
            lambda: _has_a_record(eye, topic),
            _LONGEST_SECONDS,
            f"a record in {topic}",
            lambda: worker.check(topic),
            _PAUSE_SECONDS,
        )


def _has_a_record(eye: confluent_kafka.Consumer, topic: str) -> bool:
    """The connector's first record makes the topic, as it does for most users."""
    known = eye.list_topics(topic, timeout=10).topics[topic].error is None
    return known and end_offset(eye, topic) > 0


def _file_source(lab: Lab) -> tuple[str, dict[str, str]]:
    topic = f"first-line-{next(_numbers)}"
    path = lab.directory / f"{topic}.txt"
    path.write_text("".join(f"line {number}\n" for number in range(RECORDS)))
    return topic, source_config(path, topic, JSON)


def _jdbc_source(lab: Lab) -> tuple[str, dict[str, str]]:
    prefix, table = f"first-row-{next(_numbers)}-", "orders"
    path = lab.directory / f"{prefix}.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY NOT NULL, item TEXT)")
        rows = ((number, f"item {number}") for number in range(1, RECORDS + 1))
        database.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)
    return f"{prefix}{table}", {
        "connector.class": JDBC_SOURCE,
        "connection.url": f"jdbc:sqlite:{path}",
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "table.whitelist": table,
        "topic.prefix": prefix,
        "tasks.max": "1",
        "key.converter": JSON,
        "value.converter": JSON,
    }


# --------------------------------------------------------------------------------------- details


def _new_directory(lab: Lab) -> Path:
    return lab.directory / f"start-{next(_numbers)}"


def _answers(port: int, path: str) -> bool:
    """Whether a GET is answered with 200. No client that would take much of the machine's CPU."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_LONGEST_SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
