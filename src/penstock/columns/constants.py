"""The value of an expression that needs no row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from penstock.kernel.errors import DataError

if TYPE_CHECKING:
    from penstock.columns.faults import Outcome


def constant(outcome: Outcome) -> Any:
    """The value that every row would get.

    Spark's optimizer computes what is asked of VALUES by itself, so no job is started.

    Raises:
        DataError: every row would get a fault.
    """
    fault = F.lit(None) if outcome.fault is None else outcome.fault
    one_row = SparkSession.active().sql("SELECT * FROM VALUES (0) AS one(place)")
    [(value, wrong)] = one_row.select(outcome.value, fault).collect()
    if wrong is not None:
        raise DataError(wrong)
    return value
