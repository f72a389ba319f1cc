"""What five transforms cost, and how Java Connect does with the same five."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path

from bench.jdbc_source import WARM_UP_ROWS, read_table
from bench.lab import JAVA, JSON, PENSTOCK, SINK, Lab, LineFile, Worker, committed, wait_for
from bench.measure import Run, measured
from bench.report import Result
from bench.tables import USERS, database
from bench.throughput import WARM_UP_MB, fill_topic, fill_topic_name

FIVE = ", five transforms"
_numbers = itertools.count()


def _chain(**steps: Mapping[str, str]) -> dict[str, str]:
    """Transforms in this order; `type` without its package."""
    config = {"transforms": ",".join(steps)}
    for alias, keys in steps.items():
        for key, text in keys.items():
            prefix = "org.apache.kafka.connect.transforms." if key == "type" else ""
            config[f"transforms.{alias}.{key}"] = prefix + text
    return config


LINES = _chain(
    hoist={"type": "HoistField$Value", "field": "line"},
    source={"type": "InsertField$Value", "static.field": "source", "static.value": "web"},
    topic={"type": "InsertField$Value", "topic.field": "origin"},
    rename={"type": "ReplaceField$Value", "renames": "line:text"},
    route={"type": "RegexRouter", "regex": "(.*)", "replacement": "$1"},
)
USERS_CHAIN = _chain(
    source={"type": "InsertField$Value", "static.field": "source", "static.value": "db"},
    rename={"type": "ReplaceField$Value", "renames": "name:full_name", "exclude": "pwd"},
    mask={"type": "MaskField$Value", "fields": "user_id"},
    cast={"type": "Cast$Value", "spec": "id:int64"},
    route={"type": "RegexRouter", "regex": "(.*)", "replacement": "$1-routed"},
)


def chain_source(lab: Lab) -> Result:
    result = Result("chain-source", "FileStreamSource, JSON with schemas, five transforms")
    with lab.workers() as workers:
        for worker in workers:
            _read(lab, worker, lab.lines(WARM_UP_MB))
        for _ in range(lab.options.rounds):
            for worker in workers:
                result.runs.append(_read(lab, worker, lab.lines(lab.options.size_mb)))
    if result.of(JAVA):
        ratio = result.rate(PENSTOCK) / result.rate(JAVA)
        result.at_least("rows/s, Penstock to Java", ratio, 2)
        result.figures["CPU a record, Penstock to Java"] = result.cpu(PENSTOCK) / result.cpu(JAVA)
    return result


def _read(lab: Lab, worker: Worker, file: LineFile) -> Run:
    topic = fill_topic_name()
    run = fill_topic(lab, worker, file, JSON, topic, LINES)
    lab.delete_topic(topic)
    return run


def chain_sink(lab: Lab) -> Result:
    result = _sink(lab, "chain-sink", "FileStreamSink, JSON with schemas", schemas=True)
    _compare(result, most=0.15)
    return result


def chain_sink_schemaless(lab: Lab) -> Result:
    title = "FileStreamSink, JSON without schemas"
    result = _sink(lab, "chain-sink-schemaless", title, schemas=False)
    _compare(result, most=0.4)
    return result


def _compare(result: Result, *, most: float) -> None:
    cost = 1 - result.rate(PENSTOCK + FIVE) / result.rate(PENSTOCK)
    result.at_most("share of the throughput that five transforms cost", cost, most)
    if result.of(JAVA + FIVE):
        ratio = result.rate(PENSTOCK + FIVE) / result.rate(JAVA + FIVE)
        result.figures["rows/s with five transforms, Penstock to Java"] = ratio


def _sink(lab: Lab, case: str, title: str, *, schemas: bool) -> Result:
    result = Result(case, f"{title}, with and without five transforms")
    form = {"value.converter.schemas.enable": str(schemas).lower()}
    rows = lab.options.rows
    with lab.workers(java={"offset.flush.interval.ms": "500"}) as workers:
        small, large = _topics(lab, workers[0], form, WARM_UP_ROWS, rows)
        runs = [(worker, chain) for worker in workers for chain in ({}, USERS_CHAIN)]
        for worker, chain in runs:
            _write(lab, worker, small, WARM_UP_ROWS, form, chain)
        for _ in range(lab.options.rounds):
            for worker, chain in runs:
                result.runs.append(_write(lab, worker, large, rows, form, chain))
    return result


def _topics(lab: Lab, worker: Worker, form: Mapping[str, str], *sizes: int) -> list[str]:
    found = []
    with database(lab, "mariadb") as tables:
        for rows in sizes:
            USERS.create(tables, rows)
            prefix = f"chain-{next(_numbers)}-"
            read_table(lab, worker, tables, USERS, rows, prefix=prefix, more=form)
            found.append(f"{prefix}{USERS.name}")
    return found


def _write(
    lab: Lab,
    worker: Worker,
    topic: str,
    rows: int,
    form: Mapping[str, str],
    chain: Mapping[str, str],
) -> Run:
    name = f"chain-sink-{next(_numbers)}"
    target = lab.directory / f"{name}.txt"
    called = worker.name + (FIVE if chain else "")
    with (
        lab.consumer(**{"group.id": f"connect-{name}"}) as group,
        measured(called, worker.pid, rows) as run,
    ):
        worker.create(name, _config(target, topic) | {**form, **chain})
        wait_for(
            lambda: committed(group, topic) >= rows,
            1800,
            f"{called}: all records in the file",
            lambda: worker.check(name),
            pause=0.2,
        )
    worker.delete(name)
    target.unlink()
    return run


def _config(path: Path, topic: str) -> dict[str, str]:
    return {
        "connector.class": SINK,
        "tasks.max": "1",
        "file": str(path),
        "topics": topic,
        "value.converter": JSON,
        "key.converter": JSON,
    }
