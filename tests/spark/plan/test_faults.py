"""Faulty rows stop a job, or are passed over; what a failed job was about is read from its text."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from penstock.errors import DataError, RetriableError
from penstock.plan.faults import (
    Fault,
    FaultCount,
    OtherLayoutError,
    fault_of,
    read_fault,
    refuse_faults,
    refuse_other_layouts,
    translated,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MESSAGE = 'unexpected "quote", back\\slash,\nline end and ü'


def rows(spark: SparkSession) -> DataFrame:
    frame = spark.range(0, 5, 1, 1)
    return frame.select(
        F.lit("orders").alias("topic"),
        F.lit(3).alias("partition"),
        F.col("id").alias("offset"),
        fault_of("VALUE_CONVERTER", "some.Converter", F.when(F.col("id") == 2, F.lit(MESSAGE)))
        .alias("fault"),
    )  # fmt: skip


def test_the_job_fails_at_a_faulty_row_and_tells_which(spark: SparkSession) -> None:
    with pytest.raises(Exception, match="PENSTOCK-FAULT") as caught:
        refuse_faults(rows(spark)).collect()
    fault = read_fault(str(caught.value))
    assert fault == Fault("VALUE_CONVERTER", "some.Converter", MESSAGE, "orders", 3, 2)
    error = translated(caught.value)
    assert isinstance(error, DataError)
    assert "VALUE_CONVERTER some.Converter" in str(error)
    assert "record orders-3, offset 2" in str(error)


def test_rows_without_faults_pass(spark: SparkSession) -> None:
    good = rows(spark).filter("offset <> 2")
    assert [row.offset for row in refuse_faults(good).collect()] == [0, 1, 3, 4]


def test_another_layout_is_told_apart_from_a_fault(spark: SparkSession) -> None:
    frame = refuse_other_layouts(rows(spark), F.col("offset") == 4)
    with pytest.raises(Exception, match="PENSTOCK-OTHER-LAYOUT") as caught:
        frame.collect()
    error = translated(caught.value)
    assert isinstance(error, OtherLayoutError)
    assert (error.topic, error.partition, error.offset) == ("orders", 3, 4)


@pytest.mark.parametrize(
    "name", ["Timeout", "NotEnoughReplicas", "NotEnoughReplicasAfterAppend", "Network"]
)
def test_kafkas_passing_errors_may_be_repeated(name: str) -> None:
    line = f"org.apache.kafka.common.errors.{name}Exception: the broker is away"
    error = translated(RuntimeError(f"Job aborted.\nCaused by: {line}\n\tat a.b.c"))
    assert isinstance(error, RetriableError)
    assert str(error) == line


@pytest.mark.parametrize(
    "line",
    [
        "java.sql.SQLNonTransientConnectionException: (conn=5) unexpected end of stream",
        "com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure",
        "org.postgresql.util.PSQLException: FATAL: the database system is starting up",
    ],
)
def test_a_database_that_is_away_may_come_back(line: str) -> None:
    error = translated(RuntimeError(f"Job aborted.\nCaused by: {line}\n\tat a.b.c"))
    assert isinstance(error, RetriableError)


@pytest.mark.parametrize(
    "full",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        Exception("java.io.IOException: No space left on device\n\tat sun.nio.ch.FileDispatcher"),
    ],
)
def test_a_disk_that_is_full_may_get_space(full: Exception) -> None:
    assert isinstance(translated(full), RetriableError)


def test_other_errors_stay_what_they_are() -> None:
    text = "org.apache.kafka.common.errors.RecordTooLargeException: too large"
    error = RuntimeError(text)
    assert translated(error) is error
    ours = DataError("x")
    assert translated(ours) is ours


def test_the_job_that_reads_the_rows_counts_the_faulty_ones(spark: SparkSession) -> None:
    count = FaultCount(rows(spark))
    good = count.frame.filter("fault IS NULL").select("offset")
    assert good.toArrow().num_rows == 4
    assert count.found() == 1
    none = FaultCount(rows(spark).filter("offset <> 2"))
    none.frame.select("offset").write.format("noop").mode("overwrite").save()
    assert none.found() == 0


def test_without_a_job_nobody_knows(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.plan.faults._COUNT_SECONDS", 0.1)
    assert FaultCount(rows(spark)).found() is None
