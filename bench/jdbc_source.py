"""JDBC source: rate against PySpark by hand and Kafka's own producer, latency, and rest."""

from __future__ import annotations

import itertools
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import IO

import confluent_kafka

from bench.handwritten import BY_HAND, run_job
from bench.idle import CONNECTORS, SETTLE_SECONDS
from bench.lab import JSON, PENSTOCK, BenchError, Lab, Worker, end_offset, wait_for
from bench.measure import Run, measured, percentile
from bench.processes import cpu_over, usage
from bench.report import Result
from bench.tables import USERS, WIDE, Table, database, statements
from penstock.testing.databases import FreshDatabase
from penstock.testing.oracle import run_tool

CONNECTOR = "io.confluent.connect.jdbc.JdbcSourceConnector"
PRODUCER = "org.apache.kafka.tools.ProducerPerformance"
WARM_UP_ROWS = 100_000
LATENCY_INTERVAL_SECONDS = 0.2
LATENCY_WARM_UP = 100
LOAD_ROWS = 4000
LOAD_SECONDS = 300
_numbers = itertools.count()


def jdbc_source(lab: Lab) -> Result:
    return _rate(lab, "jdbc-source", "MariaDB -> Kafka, five columns", USERS, lab.options.rows)


def jdbc_source_wide(lab: Lab) -> Result:
    rows = lab.options.rows // 4
    return _rate(lab, "jdbc-source-wide", "MariaDB -> Kafka, twenty columns", WIDE, rows)


def _rate(lab: Lab, case: str, title: str, table: Table, rows: int) -> Result:
    result = Result(case, title)
    with database(lab, "mariadb") as tables, lab.workers(only=PENSTOCK) as (worker,):
        table.create(tables, WARM_UP_ROWS)
        read_table(lab, worker, tables, table, WARM_UP_ROWS)
        table.create(tables, rows)
        for _ in range(lab.options.rounds):
            result.runs.append(read_table(lab, worker, tables, table, rows))
            result.runs.append(_by_hand(lab, tables, table, rows))
        size = _record_size(lab, worker, tables, table)
    _compare(result, _producer_rate(lab, rows, size))
    return result


def _compare(result: Result, producer: float) -> None:
    result.figures["Kafka's ProducerPerformance, records/s"] = producer
    ratio = result.rate(BY_HAND) / result.rate(PENSTOCK)
    result.at_most("time, Penstock to PySpark by hand", ratio, 1.1)
    result.at_least(
        "rows/s, Penstock to ProducerPerformance", result.rate(PENSTOCK) / producer, 0.5
    )
    result.at_most("RSS MB", max(run.peak_rss_mb for run in result.of(PENSTOCK)), 1200)


def source_config(tables: FreshDatabase, table: str, prefix: str) -> dict[str, str]:
    return {
        "connector.class": CONNECTOR,
        **tables.config,
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "table.whitelist": table,
        "topic.prefix": prefix,
        "poll.interval.ms": "100",
        "tasks.max": "1",
        "key.converter": JSON,
        "value.converter": JSON,
    }


def read_table(
    lab: Lab,
    worker: Worker,
    tables: FreshDatabase,
    table: Table,
    rows: int,
    *,
    prefix: str | None = None,
    more: Mapping[str, str] | None = None,
) -> Run:
    """Bring the table into a new topic, which is deleted again unless its prefix is given."""
    kept, prefix = prefix is not None, prefix or f"jdbc-{next(_numbers)}-"
    topic, name = f"{prefix}{table.name}", f"{prefix}source"
    lab.create_topic(topic)
    with lab.consumer() as eye:
        wait_for(lambda: end_offset(eye, topic) == 0, 30, f"topic {topic} is there")
        with measured(worker.name, worker.pid, rows) as run:
            config = source_config(tables, table.name, prefix) | dict(more or {})
            worker.create(name, config)
            wait_for(
                lambda: end_offset(eye, topic) >= rows,
                900,
                f"all rows in {topic}",
                lambda: worker.check(name),
            )
        worker.delete(name)
        if (found := end_offset(eye, topic)) != rows:
            raise BenchError(f"{found} records of {rows} rows")
    if not kept:
        lab.delete_topic(topic)
    return run


def _by_hand(lab: Lab, tables: FreshDatabase, table: Table, rows: int) -> Run:
    warm, topic = f"by-hand-{next(_numbers)}", f"by-hand-{next(_numbers)}"
    for each in (warm, topic):
        lab.create_topic(each)
    where = (tables.url, tables.server.user, table.name)
    run = run_job(lab, "table-to-kafka", rows, *where, str(WARM_UP_ROWS), warm, str(rows), topic)
    for each in (warm, topic):
        lab.delete_topic(each)
    return run


def _record_size(lab: Lab, worker: Worker, tables: FreshDatabase, table: Table) -> int:
    table.create(tables, 1)
    prefix = f"size-{next(_numbers)}-"
    read_table(lab, worker, tables, table, 1, prefix=prefix)
    with lab.consumer(**{"auto.offset.reset": "earliest", "group.id": prefix}) as eye:
        eye.subscribe([f"{prefix}{table.name}"])
        record = eye.poll(30)
        if record is None or record.error():
            raise BenchError("the record whose size was asked for did not come")
        return len(record.value() or b"")


def _producer_rate(lab: Lab, records: int, size: int) -> float:
    topic = f"producer-{next(_numbers)}"
    lab.create_topic(topic)
    sizes = ["--num-records", str(records), "--record-size", str(size), "--throughput", "-1"]
    to = ["--topic", topic, "--producer-props", f"bootstrap.servers={lab.bootstrap}"]
    done = run_tool(PRODUCER, [*sizes, *to], timeout_seconds=600)
    lab.delete_topic(topic)
    found = re.findall(r"([0-9.]+) records/sec", done.stdout)
    if not found:
        raise BenchError(f"ProducerPerformance: {done.stderr[-500:]}")
    return float(found[-1])


# ------------------------------------------------------------------------------------- latency


def jdbc_latency(lab: Lab) -> Result:
    result = Result("jdbc-latency", "Row committed -> record readable, poll.interval.ms=100")
    with database(lab, "mariadb") as tables, lab.workers(only=PENSTOCK) as (worker,):
        USERS.create(tables, 1)
        worker.create("latency", source_config(tables, "users", "latency-"))
        delays = _delays(lab, worker, tables, LATENCY_WARM_UP + lab.options.records)
        worker.delete("latency")
    delays = delays[LATENCY_WARM_UP:]
    result.at_most("median, ms", percentile(delays, 50), 150)
    result.at_most("p99, ms", percentile(delays, 99), 400)
    result.figures["max, ms"] = max(delays)
    return result


def _delays(lab: Lab, worker: Worker, tables: FreshDatabase, count: int) -> list[float]:
    topic = "latency-users"
    with lab.consumer() as eye:
        wait_for(
            lambda: end_offset(eye, topic) == 1,
            90,
            "the first row has arrived",
            lambda: worker.check("latency"),
        )
    arrived: list[float] = []
    watcher = threading.Thread(target=_watch, args=(lab, topic, count, arrived), daemon=True)
    watcher.start()
    with statements(tables) as client:
        sent = list(_commit_rows(client, count))
    watcher.join(60)
    if len(arrived) != count:
        raise BenchError(f"{len(arrived)} records of {count} rows")
    return [1000 * (seen - at) for at, seen in zip(sent, arrived, strict=True)]


def _commit_rows(client: IO[str], count: int) -> Iterator[float]:
    next_at = time.monotonic()
    for number in range(2, count + 2):
        yield time.monotonic()
        client.write(f"INSERT INTO users VALUES ({number}, 'u', 'p', 'n', now());\n")
        client.flush()
        next_at += LATENCY_INTERVAL_SECONDS
        time.sleep(max(0.0, next_at - time.monotonic()))


def _watch(lab: Lab, topic: str, count: int, arrived: list[float]) -> None:
    with lab.consumer(**{"group.id": "latency-eye", "fetch.wait.max.ms": 10}) as eye:
        eye.assign([confluent_kafka.TopicPartition(topic, 0, 1)])
        end = time.monotonic() + 120 + count * LATENCY_INTERVAL_SECONDS
        while len(arrived) < count and time.monotonic() < end:
            record = eye.poll(1)
            if record is not None and not record.error():
                arrived.append(time.monotonic())


# ---------------------------------------------------------------------------------- at rest


def jdbc_idle(lab: Lab) -> Result:
    result = Result("jdbc-idle", f"{CONNECTORS} JDBC sources with nothing new, a poll a second")
    with database(lab, "mariadb") as tables, _small_heap(lab) as (worker,):
        USERS.create(tables, 100)
        config = source_config(tables, "users", "idle-") | {"poll.interval.ms": "1000"}
        _start_all(lab, worker, config, 100)
        time.sleep(SETTLE_SECONDS)
        share = cpu_over(worker.pid, lab.options.seconds)
        memory = usage(worker.pid)
    result.at_most("% of one core", share, 5)
    result.at_most("RSS MB", memory.rss_mb, 1200)
    return result


def jdbc_load(lab: Lab) -> Result:
    title = f"{CONNECTORS} connectors in bulk mode, {LOAD_ROWS} rows each, every 10 s"
    result = Result("jdbc-load", title)
    with database(lab, "mariadb") as tables, _small_heap(lab) as (worker,):
        USERS.create(tables, LOAD_ROWS)
        config = source_config(tables, "users", "load-")
        config |= {"mode": "bulk", "incrementing.column.name": "", "poll.interval.ms": "10000"}
        _start_all(lab, worker, config, LOAD_ROWS)
        before = _sent(lab)
        time.sleep(LOAD_SECONDS / 2)
        # By then the JVM has touched all of the heap that it may have.
        middle = usage(worker.pid).rss_mb
        time.sleep(LOAD_SECONDS / 2)
        polls = (_sent(lab) - before) / LOAD_ROWS / CONNECTORS
        for number in range(CONNECTORS):
            worker.check(f"jdbc-{number}")
        late = usage(worker.pid).rss_mb
    result.at_least("polls of each connector", polls, LOAD_SECONDS / 10 - 1)
    result.at_most("RSS MB at the end to RSS MB in the middle", late / middle, 1.05)
    result.at_most("RSS MB", late, 1200)
    return result


def _small_heap(lab: Lab) -> AbstractContextManager[list[Worker]]:
    return lab.workers({"spark.driver.memory": "512m"}, only=PENSTOCK)


def _start_all(lab: Lab, worker: Worker, config: Mapping[str, str], rows: int) -> None:
    for number in range(CONNECTORS):
        prefix = f"{config['topic.prefix']}{number}-"
        lab.create_topic(f"{prefix}users")
        worker.create(f"jdbc-{number}", {**config, "topic.prefix": prefix})
    for number in range(CONNECTORS):
        worker.await_running(f"jdbc-{number}", 180)
    with lab.consumer() as eye:
        topics = [f"{config['topic.prefix']}{number}-users" for number in range(CONNECTORS)]
        wait_for(
            lambda: all(end_offset(eye, topic) >= rows for topic in topics), 300, "all have read"
        )


def _sent(lab: Lab) -> int:
    with lab.consumer() as eye:
        return sum(end_offset(eye, f"load-{number}-users") for number in range(CONNECTORS))
