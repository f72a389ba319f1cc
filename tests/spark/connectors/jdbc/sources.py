"""A source task on a real database, without a worker around it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from penstock.api import PartitionKey, SourceBatch
from penstock.connectors.jdbc.source.connector import (
    AivenJdbcSourceConnector,
    ConfluentJdbcSourceConnector,
    JdbcSource,
)
from penstock.connectors.jdbc.source.limits import Limits
from penstock.connectors.jdbc.source.task import JdbcSourceTask
from penstock.worker.storage.java_json import canonical

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class World:
    """What the runtime offers, with offsets in a dictionary."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.stopping = False
        self.stores_parts = True
        self.offsets: dict[str, Mapping[str, Any]] = {}
        self.reconfigured = 0
        self.errors: list[Exception] = []
        self.figures: dict[str, int] = {}

    def offset(self, partition: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return self.offsets.get(canonical(partition))

    def put(self, partition: Mapping[str, Any], offset: Mapping[str, Any] | None) -> None:
        if offset is None:
            self.offsets.pop(canonical(partition), None)
        else:
            self.offsets[canonical(partition)] = offset

    def show(self, name: str, figure: int) -> None:
        self.figures[name] = figure

    def request_task_reconfiguration(self) -> None:
        self.reconfigured += 1

    def raise_error(self, error: Exception) -> None:
        self.errors.append(error)


class Source:
    """A connector with its first task; read() writes nothing but keeps the offsets."""

    def __init__(self, world: World, config: Mapping[str, str], limits: Limits | None) -> None:
        aiven = config.get("connector.class", "").startswith("io.aiven")
        self.world = world
        self.connector: JdbcSource = (
            AivenJdbcSourceConnector() if aiven else ConfluentJdbcSourceConnector()
        )
        self.limits = limits
        self.config = dict(config)
        self.task: JdbcSourceTask | None = None
        self.batches: list[SourceBatch] = []

    def start(self) -> None:
        self.connector.start(self.config, self.world)
        self.restart_task()

    def restart_task(self) -> None:
        if self.task is not None:
            self.task.stop()
        configs = self.connector.task_configs(1)
        self.task = self.connector.task_class(self.limits)
        assert self.task is not None
        self.task.start(configs[0], self.world)

    def read(self) -> list[dict[str, Any]] | None:
        """The records of one batch as JSON has them; None if there is nothing new."""
        assert self.task is not None
        batch = self.task.read()
        if batch is None:
            return None
        self.batches.append(batch)
        rows = [row.value.asDict() for row in batch.frame.select("value").collect()]
        for partition, offset in batch.offsets.items():
            self.world.put(dict(partition), offset)
        self.task.committed()
        return rows

    def read_all(self) -> list[dict[str, Any]]:
        """All records until there is nothing new."""
        found: list[dict[str, Any]] = []
        while (rows := self.read()) is not None:
            found += rows
            if not self.batches[-1].more and None in self.batches[-1].offsets.values():
                return found  # In bulk mode there is always something.
        return found

    @property
    def offsets(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Every stored offset with its partition."""
        return [(json.loads(key), dict(value)) for key, value in self.world.offsets.items()]

    def stop(self) -> None:
        if self.task is not None:
            self.task.stop()
        self.connector.stop()


@contextmanager
def source(
    world: World, config: Mapping[str, str], *, limits: Limits | None = None
) -> Iterator[Source]:
    made = Source(world, {"topic.prefix": "t-", **config}, limits)
    try:
        made.start()
        yield made
    finally:
        made.stop()


def key_of(partition: Mapping[str, Any]) -> PartitionKey:
    return PartitionKey.of(partition)
