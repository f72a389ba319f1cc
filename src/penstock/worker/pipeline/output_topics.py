"""The topics to which a chain sends records of known topics, found without a job."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from penstock.worker.pipeline.record_step import MapRecords
from penstock.worker.pipeline.stage import Keep, Select

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.worker.pipeline.chain import Branch


def output_topics(
    spark: SparkSession, branches: Iterable[Branch], topics: Iterable[str]
) -> frozenset[str] | None:
    """The topics that records of these topics may get; None if that depends on the records.

    A record that may be dropped because of other columns counts as kept.
    """
    names = sorted(set(topics))
    if not names:
        return frozenset()
    found: set[str] = set()
    for branch in branches:
        frame = _follow(_constants(spark, names), branch)
        if frame is None:
            return None
        found.update(row.topic for row in frame.collect())
    return frozenset(found)


def _constants(spark: SparkSession, names: list[str]) -> DataFrame:
    # VALUES is a relation that Spark's optimizer computes by itself, so collect() starts no job.
    marks = ", ".join(f"(:t{number})" for number in range(len(names)))
    arguments = {f"t{number}": name for number, name in enumerate(names)}
    return spark.sql(f"SELECT * FROM VALUES {marks} AS topics(topic)", args=arguments)  # noqa: S608


def _follow(frame: DataFrame, branch: Branch) -> DataFrame | None:
    for step in branch.steps:
        try:
            match step:
                case Select(columns) if "topic" in columns:
                    frame = frame.select(columns["topic"].alias("topic"))
                case Keep():
                    frame = step.apply(frame)
                case MapRecords() if step.routes:
                    return None
        except AnalysisException:
            # The step reads other columns than the topic.
            if isinstance(step, Select):
                return None
    return frame
