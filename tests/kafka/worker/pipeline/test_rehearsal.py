"""A rehearsal runs plans, writes nothing, and gives way to real work."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import pytest

from penstock.kafka.clients import Admin
from penstock.kernel.clock import Deadline
from penstock.plugins import Plugins
from penstock.worker.engine.session import REHEARSAL, SparkEngine
from penstock.worker.pipeline.rehearsal import rehearse
from penstock.worker.runtime.conversion import JSON, converters_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STRING = "org.apache.kafka.connect.storage.StringConverter"


@dataclass
class Engine:
    """The run's session; `used` after so many questions."""

    spark: SparkSession
    free_for: int = 1000

    def session(self) -> SparkSession:
        return self.spark

    @property
    def used(self) -> bool:
        self.free_for -= 1
        return self.free_for < 0


def jobs(spark: SparkSession) -> set[int]:
    """The numbers of those that Spark remembers."""
    return set(spark.sparkContext.statusTracker().getJobIdsForGroup(REHEARSAL))


def run(engine: Engine, converter: str, kafka: str | None) -> int:
    """How many jobs it took."""
    config = {"key.converter": converter, "value.converter": converter}
    converters = converters_of(config, {}, Plugins.discover(()))
    before = jobs(engine.spark)
    producer = {"bootstrap.servers": kafka} if kafka else None
    rehearse(cast("SparkEngine", engine), converters, producer)
    return len(jobs(engine.spark) - before)


@pytest.mark.parametrize("converter", [JSON, STRING])
def test_plans_run_and_nothing_is_written(spark: SparkSession, kafka: str, converter: str) -> None:
    assert run(Engine(spark), converter, kafka) >= 5
    with closing(Admin({"bootstrap.servers": kafka})) as admin:
        assert "rehearsal" not in admin.topic_names(Deadline.after(30))


def test_it_needs_no_broker(spark: SparkSession) -> None:
    assert run(Engine(spark), JSON, None) >= 5


@pytest.mark.parametrize("steps", [0, 2])
def test_it_ends_when_somebody_wants_the_engine(spark: SparkSession, steps: int) -> None:
    assert run(Engine(spark, free_for=steps), JSON, None) == steps
