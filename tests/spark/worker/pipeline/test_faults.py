"""Faulty rows stop a job, or are passed over; what a failed job was about is read from its text."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from penstock.kernel.errors import DataError, RetriableError
from penstock.worker.pipeline.faults import (
    Fault,
    FaultCount,
    OtherLayoutError,
    fault_of,
    of_this_layout,
    read_fault,
    refuse_faults,
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
    frame = rows(spark).filter(of_this_layout(F.col("offset") == 4))
    with pytest.raises(Exception, match="PENSTOCK-OTHER-LAYOUT") as caught:
        frame.collect()
    error = translated(caught.value)
    assert isinstance(error, OtherLayoutError)
    assert (error.topic, error.partition, error.offset) == ("orders", 3, 4)


KAFKA = "org.apache.kafka.common.errors"


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    "line",
    [
        f"{KAFKA}.TimeoutException: Topic orders not present in metadata after 60000 ms.",
        # What a producer throws whose buffer is full because the broker is away.
        "org.apache.kafka.clients.producer.BufferExhaustedException: Failed to allocate 11 bytes",
        f"{KAFKA}.NotEnoughReplicasAfterAppendException: the broker is away",
        f"{KAFKA}.CoordinatorLoadInProgressException: wait",
        f"{KAFKA}.ThrottlingQuotaExceededException: slower",
        "java.util.concurrent.TimeoutException: Cannot fetch record for offset 7 in 120000 ms",
        "org.apache.spark.rpc.RpcTimeoutException: Futures timed out",
    ],
)
def test_passing_errors_of_kafka_and_spark_may_be_repeated(line: str) -> None:
    error = translated(RuntimeError(f"Job aborted.\nCaused by: {line}\n\tat a.b.c"))
    assert isinstance(error, RetriableError)
    assert str(error) == line


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    "line",
    [
        f"{KAFKA}.RecordTooLargeException: too large",
        f"{KAFKA}.TopicAuthorizationException: Not authorized to access topics: [orders]",
        f"{KAFKA}.NoSuchException: nobody has such a class",
        "java.lang.ArithmeticException: long overflow",
    ],
)
def test_no_other_error_is_repeated(line: str) -> None:
    error = RuntimeError(f"Job aborted.\nCaused by: {line}\n\tat a.b.c")
    assert translated(error) is error


@pytest.mark.parametrize(
    "full",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        Exception("java.io.IOException: No space left on device\n\tat sun.nio.ch.FileDispatcher"),
    ],
)
def test_a_disk_that_is_full_may_get_space(full: Exception) -> None:
    assert isinstance(translated(full), RetriableError)


def test_our_errors_stay_what_they_are() -> None:
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
    monkeypatch.setattr("penstock.worker.pipeline.faults._COUNT_SECONDS", 0.1)
    assert FaultCount(rows(spark)).found() is None
