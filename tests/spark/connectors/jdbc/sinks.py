"""Sink tasks on real databases: targets of each kind, and batches made of Python values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from penstock.api import OffsetRange, SinkBatch
from penstock.columns.types import arrow_type
from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.dialects import find_dialect
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.sink.task import JdbcSinkTask
from penstock.kernel.data import TopicPartition
from penstock.kernel.data.schema import Field, Schema, SchemaType, struct_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KINDS = ("mariadb", "postgresql", "sqlite")
#: Also through MySQL's driver: a decorator for a few tests that tell enough of it.
with_mysql = pytest.mark.parametrize("sinks", [*KINDS, "mysql"], indirect=True)
#: SQLite has neither times nor limits: what is about them is for the others.
on_servers = pytest.mark.parametrize("sinks", ["mariadb", "postgresql"], indirect=True)
#: For types that no other database has.
on_postgresql = pytest.mark.parametrize("sinks", ["postgresql"], indirect=True)

INT = Schema(SchemaType.INT32)
LONG = Schema(SchemaType.INT64)
TEXT = Schema(SchemaType.STRING, optional=True)
USER = struct_schema(Field("id", INT), Field("name", TEXT))


class Context:
    """What the runtime would offer."""

    stopping = False

    def __init__(self, spark: SparkSession, ids: Mapping[str, str] | None = None) -> None:
        self.spark = spark
        self._ids = ids or {}

    def topic_ids(self, topics: Collection[str]) -> Mapping[str, str]:
        return {topic: self._ids[topic] for topic in topics if topic in self._ids}


class Sinks:
    """A fresh database of one kind, and tasks that write to it."""

    def __init__(self, spark: SparkSession, settings: ConnectionSettings) -> None:
        self.spark = spark
        self.settings = settings
        self.dialect = find_dialect(settings)
        self._tasks: list[JdbcSinkTask] = []
        #: The broker's ids of topics.
        self.ids: dict[str, str] = {}

    def task(self, **keys: str) -> JdbcSinkTask:
        task = JdbcSinkTask()
        config = {"name": "sink", "connection.url": self.settings.url, "retry.backoff.ms": "50"}
        if self.settings.user:
            config["connection.user"] = self.settings.user
        config |= {name.replace("_", "."): value for name, value in keys.items()}
        task.start(config, Context(self.spark, self.ids))
        self._tasks.append(task)
        return task

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        with closing(Database(self.settings, self.dialect, self.spark._jvm)) as database:
            return database.query(sql)

    def execute(self, *statements: str) -> None:
        with closing(Database(self.settings, self.dialect, self.spark._jvm)) as database:
            for sql in statements:
                database.execute(sql)

    def rows(self, table: str, *columns: str, order: str = "1") -> list[tuple[Any, ...]]:
        names = ", ".join(map(self.dialect.quote, columns)) or "*"
        return self.query(f"SELECT {names} FROM {self.dialect.quote(table)} ORDER BY {order}")

    def close(self) -> None:
        for task in self._tasks:
            task.stop()


def batch(
    spark: SparkSession,
    values: Sequence[Mapping[str, Any] | str | None],
    schema: Schema | None = USER,
    *,
    keys: Sequence[Any] | None = None,
    key_schema: Schema | None = None,
    start: int = 0,
    topic: str | Sequence[str] = "users",
    pieces: int = 1,
) -> SinkBatch:
    """Records of partition 0 of one topic, or of a topic each."""
    topics = [topic] * len(values) if isinstance(topic, str) else list(topic)
    table = pa.table(
        {
            "topic": pa.array(topics, pa.string()),
            "partition": pa.array([0] * len(values), pa.int32()),
            "offset": pa.array(range(start, start + len(values)), pa.int64()),
            "timestamp": pa.array([0] * len(values), pa.int64()),
            "key": _column(keys or [None] * len(values), key_schema),
            "value": _column(values, schema),
        }
    )
    frame = spark.createDataFrame(table).coalesce(1)
    if pieces > 1:
        frame = frame.repartitionByRange(pieces, "offset").sortWithinPartitions("offset")
    frame = frame.withColumn("headers", F.lit(None).cast("array<struct<key:string,value:binary>>"))
    ranges = tuple(
        OffsetRange(TopicPartition(name, 0), start, start + len(values))
        for name in dict.fromkeys(topics)
    )
    return SinkBatch(frame, ranges, key_schema, schema, topics=frozenset(topics))


def users(names: Mapping[int, str | None]) -> list[dict[str, Any]]:
    return [{"id": number, "name": name} for number, name in names.items()]


def _column(values: Sequence[Any], schema: Schema | None) -> pa.Array:
    return pa.array(list(values), pa.string() if schema is None else arrow_type(schema))


def big(rows: int, start: int = 0) -> Iterator[dict[str, Any]]:
    return ({"id": number, "name": f"name {number}"} for number in range(start, start + rows))
