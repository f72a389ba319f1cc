"""Rows that stay the same for several jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from penstock.kernel.errors import RetriableError
from penstock.worker.pipeline.rows_on_disk import on_disk

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture
def changing(spark: SparkSession) -> DataFrame:
    """Other rows for each job."""
    return spark.range(0, 10, 1, 2).selectExpr("id", "reflect('java.util.UUID', 'randomUUID') AS u")


def held_by(spark: SparkSession) -> set[int]:
    context: Any = spark.sparkContext._jsc
    return set(context.getPersistentRDDs())


def test_all_jobs_get_the_same_rows_in_their_order(
    spark: SparkSession, changing: DataFrame
) -> None:
    before = held_by(spark)
    assert changing.collect() != changing.collect()
    with on_disk(changing) as rows:
        first = rows.collect()
        assert rows.filter("id > 3").collect() == first[4:]
        assert held_by(spark) != before
    assert [row.id for row in first] == [*range(10)]
    assert held_by(spark) == before


def test_rows_that_went_with_an_executor_are_not_read_anew(
    spark: SparkSession, changing: DataFrame
) -> None:
    before = held_by(spark)

    def read_after_its_death() -> None:
        with on_disk(changing) as rows:
            context: Any = spark.sparkContext._jsc
            for new in held_by(spark) - before:
                context.sc().env().blockManager().master().removeRdd(new, True)
            rows.collect()

    with pytest.raises(RetriableError, match="an executor with rows of this batch died"):
        read_after_its_death()
    assert held_by(spark) == before


def test_what_can_not_be_read_is_not_held(spark: SparkSession) -> None:
    before = held_by(spark)
    failing = spark.range(3).selectExpr("raise_error('no row') AS value")
    with pytest.raises(Exception, match="no row"), on_disk(failing):
        pytest.fail("there are no rows")
    assert held_by(spark) == before
