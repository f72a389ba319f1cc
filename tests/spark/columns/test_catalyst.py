"""What Spark's plans tell of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock.columns.catalyst import is_repeatable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("expression", "repeatable"),
    [
        ("upper(cast(id AS STRING)) || 'x'", True),
        ("date_format(timestamp_millis(id), 'yyyy')", True),
        ("transform(array(id), x -> x + 1)", True),
        ("uuid()", False),
        ("CASE WHEN id > 5 THEN rand() END", False),
        ("array(current_timestamp())", False),
        ("year(current_date())", False),
        ("now()", False),
        ("localtimestamp()", False),
    ],
)
def test_what_is_settled_by_planning_can_t_be_repeated(
    spark: SparkSession, expression: str, repeatable: bool
) -> None:
    frame = spark.range(3).selectExpr(f"{expression} AS x").filter("x IS NOT NULL").select("x")
    assert is_repeatable(frame) is repeatable
