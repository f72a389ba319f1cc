"""A chain with several outcomes over a table whose rows change while they are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pytest

from penstock.api.sink import OffsetRange
from penstock.converters.json.converter import JsonConverter
from penstock.kafka.clients import Admin, Edge, TopicSpec
from penstock.kernel.clock import Deadline, SystemClock
from penstock.kernel.data.record import TaskId, TopicPartition
from penstock.plugins import Plugins
from penstock.testing.databases import FreshDatabase
from penstock.testing.waiting import soon
from penstock.worker.interface import TargetState
from penstock.worker.pipeline.chain import Chain
from penstock.worker.pipeline.kafka_io import KafkaWrite, read_ranges
from penstock.worker.pipeline.pipeline import Converters, SourcePipeline
from penstock.worker.runtime.source.loop import SourceParts, SourceWork
from penstock.worker.runtime.task_host import TaskControl
from penstock.worker.runtime.tolerance import ErrorSettings, FaultReports
from tests.spark.connectors.jdbc.sources import World, source
from tests.unit.worker.runtime.events import Notes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASK = TaskId("rows", 0)
#: Notes of rows: those without one are tombstones, and only the others get another schema.
SPLIT = {
    "transforms": "note,hoist",
    "transforms.note.type": "org.apache.kafka.connect.transforms.ExtractField$Value",
    "transforms.note.field": "note",
    "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
    "transforms.hoist.field": "note",
    "transforms.hoist.predicate": "empty",
    "transforms.hoist.negate": "true",
    "predicates": "empty",
    "predicates.empty.type": "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone",
}


@dataclass
class Topic:
    """Made when the task wants it."""

    name: str
    kafka: str

    def ensure(self, topics: set[str], deadline: Deadline) -> None:
        assert topics == {self.name}
        admin = Admin({"bootstrap.servers": self.kafka})
        admin.create_topic(TopicSpec(self.name, 1, 1), deadline)
        admin.close()

    def values(self, spark: SparkSession) -> list[Any]:
        admin, partition = Admin({"bootstrap.servers": self.kafka}), TopicPartition(self.name, 0)
        end = admin.offsets([partition], Edge.LATEST, soon())[partition]
        admin.close()
        ranges = [OffsetRange(partition, 0, end)]
        rows = read_ranges(spark, ranges, {"bootstrap.servers": self.kafka}).collect()
        return [None if row.value is None else json.loads(row.value) for row in rows]


class NoOffsets:
    def refresh(self, deadline: Deadline) -> None:
        return

    def get(self, connector: str, partition: Mapping[str, Any]) -> None:
        return

    def put(self, connector: str, offsets: Sequence[Any], deadline: Deadline) -> None:
        return


class Engine:
    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    def session_for(self, group: str, pool: str) -> SparkSession:
        return self.spark


def test_a_row_that_changes_sides_is_written_once(
    spark: SparkSession,
    kafka: str,
    postgresql: FreshDatabase,
    unique: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    postgresql.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, note TEXT);"
        "INSERT INTO t VALUES (1, 'stays'), (2, NULL), (3, 'goes'), (4, NULL)"
    )
    prefix = unique("branches")
    topic = Topic(f"{prefix}t", kafka)
    run = KafkaWrite.run

    def run_and_change(write: KafkaWrite) -> int:
        written = run(write)
        postgresql.sql(
            "UPDATE t SET note = CASE id WHEN 2 THEN 'comes' WHEN 4 THEN 'comes' END WHERE id > 1"
        )
        return written

    monkeypatch.setattr(KafkaWrite, "run", run_and_change)
    config = {
        **postgresql.config,
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "topic.prefix": prefix,
    }
    before = set(spark.sparkContext._jsc.getPersistentRDDs())
    with source(World(spark), config) as made:
        work = _work(made.connector.task_configs(1)[0], topic, spark, made.connector.task_class)
        work.start()
        work.step()
        work.close(soon())
    values = topic.values(spark)
    assert sorted(each["note"] for each in values if each is not None) == ["goes", "stays"]
    assert values.count(None) == 2
    assert set(spark.sparkContext._jsc.getPersistentRDDs()) == before


def _work(
    config: Mapping[str, str], topic: Topic, spark: SparkSession, make_task: Callable[[], Any]
) -> SourceWork:
    own = {"converter.type": "value", "schemas.enable": "false"}
    converter = JsonConverter(JsonConverter.Config.parse(own))
    chain = Chain.of(SPLIT, Plugins().load_named)
    errors = ErrorSettings.parse(config)
    control = TaskControl(TargetState.STARTED, SystemClock())
    return SourceWork(
        TASK,
        config,
        SourceParts(
            make_task=make_task,
            make_pipeline=lambda: SourcePipeline(chain, Converters(converter, converter)),
            topics=topic,
            producer={"bootstrap.servers": topic.kafka, "acks": "all"},
            errors=errors,
            reports=FaultReports(errors, TASK, None),
            release=lambda: None,
        ),
        offsets=cast("Any", NoOffsets()),
        engine=cast("Any", Engine(spark)),
        control=control,
        events=Notes(),
    )
