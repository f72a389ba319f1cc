"""Rows as the text that bulk loads read, and the files it travels in."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from penstock.columns.kernel import kernel_column
from penstock.connectors.jdbc.sink.columns import line_of
from penstock.connectors.jdbc.spool import WritingJob, count_lines, load_few, load_parts
from penstock.kernel.errors import SessionLostError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def lines(spark: SparkSession, **columns: Any) -> list[str]:
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    kinds = [(F.col(field.name), pa.types.is_string(field.type)) for field in table.schema]
    return [row.value for row in spark.createDataFrame(table).select(line_of(kinds)).collect()]


def test_a_null_is_not_an_empty_text(spark: SparkSession) -> None:
    found = lines(spark, a=[None, "", "\\N"], b=[None, 1, 2])
    assert found == ["\\N\t\\N", "\t1", "\\\\N\t2"]


def test_what_separates_is_escaped(spark: SparkSession) -> None:
    assert lines(spark, a=["a\tb\nc\rd\\e", "ü🚰"]) == ["a\\tb\\nc\\rd\\\\e", "ü🚰"]


def test_dates_and_numbers(spark: SparkSession) -> None:
    [line] = lines(
        spark,
        day=[date(1, 2, 3)],
        at=pa.array([datetime(1583, 1, 1, 1, 2, 3, 4)], pa.timestamp("us")),  # noqa: DTZ001
        number=pa.array([Decimal("-1234567890123456789012345.678")], pa.decimal128(38, 3)),
        small=pa.array([0.1], pa.float32()),
    )
    expected = "0001-02-03\t1583-01-01 01:02:03.000004\t-1234567890123456789012345.678\t0.1"
    assert line == expected


def numbers(spark: SparkSession, partitions: int) -> DataFrame:
    return spark.range(0, 1000, 1, partitions).select(F.col("id").cast("string").alias("value"))


def test_parts_come_in_order_and_are_gone(spark: SparkSession) -> None:
    seen: list[str] = []
    places: set[Path] = set()

    def load(part: Path) -> int:
        seen.extend(part.read_text().splitlines())
        places.add(part.parent)
        return count_lines(part)

    # A partition in the middle has no rows, and so no file.
    gap = numbers(spark, 5).filter("value < 200 OR value >= 400")
    assert load_parts(gap, load) == 800
    assert seen == [str(number) for number in range(1000) if not 200 <= number < 400]
    assert load_few(pa.table({"value": ["a", "b"]}), load) == 2
    assert seen[-2:] == ["a", "b"]
    assert len(places) == 2
    assert not any(place.exists() for place in places)


def test_a_part_is_loaded_while_others_are_made(spark: SparkSession, tmp_path: Path) -> None:
    """The second part waits for a file that the load of the first one makes."""
    gate = tmp_path / "open"

    def load(part: Path) -> int:
        gate.touch()
        return count_lines(part)

    held = kernel_column(_after(str(gate)), "string", F.col("value"))
    assert load_parts(numbers(spark, 2).select(held.alias("value")), load) == 1000


def _after(gate: str) -> Callable[[pa.Array], pa.Array]:
    def wait_for_it(values: pa.Array) -> pa.Array:
        end = time.monotonic() + 60
        while int(values[0].as_py()) >= 500 and not Path(gate).exists():
            if time.monotonic() > end:
                raise TimeoutError
            time.sleep(0.01)
        return values

    return wait_for_it


def test_a_failed_job_fails_the_load(spark: SparkSession) -> None:
    broken = numbers(spark, 2).select(
        F.when(F.col("value") == "700", F.raise_error(F.lit("no"))).otherwise(F.col("value"))
    )
    with pytest.raises(Exception, match="USER_RAISED_EXCEPTION"):
        load_parts(broken.toDF("value"), count_lines)


def test_a_job_that_never_began_is_not_waited_for() -> None:
    """Spark's own thread class calls into the JVM before our function, and may fail there."""
    ended = threading.Thread(target=lambda: None)
    ended.start()
    ended.join(10)
    with pytest.raises(SessionLostError, match="before a batch could begin"):
        WritingJob(ended, Future()).check()
    done: Future[None] = Future()
    done.set_result(None)
    WritingJob(ended, done).check()
