"""Faulty rows, and our errors for failed Spark jobs."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import Observation
from pyspark.sql import functions as F

from penstock.columns.java.exceptions import line_about
from penstock.columns.remembered import Remembered
from penstock.kernel.clock import Deadline
from penstock.kernel.errors import DataError, PenstockError, RetriableError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

FAULT_TYPE: Final = "struct<stage:string,class:string,message:string>"
#: Columns with a record as it was before its converters and transforms; for a source's record
#: key, value and headers, as written to its dead letter topic.
ORIGINAL: Final = {name: f"raw_{name}" for name in ("topic", "key", "value", "headers")}
TASK_PUT: Final = "TASK_PUT"
#: Python's and Java's messages for a spool, a spill or a target on a full disk.
_DISK_FULL: Final = ("No space left on device", "Disk quota exceeded")
DATA_EXCEPTION: Final = "org.apache.kafka.connect.errors.DataException"

_MARK: Final = "PENSTOCK-FAULT "
_OTHER: Final = "PENSTOCK-OTHER-LAYOUT "

_COUNT_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.002

# Exceptions that pass, with their subclasses in Kafka and Spark.
_PASSING: Final = (
    "org.apache.kafka.common.errors.RetriableException",
    # Raised by Spark's Kafka reader without an answer, and by calls between Spark's processes.
    "java.util.concurrent.TimeoutException",
)


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a row could not be processed, and at which stage."""

    stage: str
    plugin: str
    message: str
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        record = (
            ""
            if self.offset is None
            else f", record {self.topic}-{self.partition}, offset {self.offset}"
        )
        return f"{self.message} ({self.stage} {self.plugin}{record})"


class FaultError(DataError):
    """A record could not be processed and is not tolerated."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"{fault}; Tolerance exceeded in error handler")
        self.fault = fault


class OtherLayoutError(PenstockError):
    """A record has another layout than the batch was planned for: plan the batch again.

    It is the first such record of its partition.
    """

    def __init__(self, topic: str, partition: int, offset: int) -> None:
        super().__init__(
            f"record {topic}-{partition}, offset {offset}, has another layout than those before it"
        )
        self.topic = topic
        self.partition = partition
        self.offset = offset


def fault_of(stage: str, plugin: str, message: Column) -> Column:
    """A fault with this message; null where the message is null."""
    return F.when(
        message.isNotNull(),
        F.struct(
            F.lit(stage).alias("stage"), F.lit(plugin).alias("class"), message.alias("message")
        ),
    )


def failed_put(frame: DataFrame, plugin: str, message: str) -> DataFrame:
    """The rows with this fault of the sink, except those that have one already."""
    refused = fault_of(TASK_PUT, plugin, F.lit(message)).cast(FAULT_TYPE)
    return frame.withColumn("fault", F.coalesce(F.col("fault"), refused))


def no_fault() -> Column:
    return F.lit(None).cast(FAULT_TYPE)


class FaultCount:
    """How many rows of a frame are faulty, counted by the job that reads it anyway.

    Attributes:
        frame: the same rows; the first job over them counts.
    """

    def __init__(self, frame: DataFrame) -> None:
        self._seen = Observation()
        faulty = _expressions.of("faulty", lambda: F.count_if(F.col("fault").isNotNull()))
        self.frame = frame.observe(self._seen, faulty.alias("faulty"))

    def found(self) -> int | None:
        """The count; None if there was no job."""
        # Spark publishes the count a moment after the job; its own method would wait without
        # end if there was no job.
        future: Any = self._seen._jo.future()  # type: ignore[union-attr]  # noqa: SLF001
        deadline = Deadline.after(_COUNT_SECONDS)
        while not future.isCompleted():
            if deadline.expired:
                return None
            time.sleep(_LOOK_SECONDS)
        return int(self._seen.get["faulty"])


def original_topic(frame: DataFrame) -> Column:
    """The topic a record was read from; for a source's records, the topic they are written to."""
    return frame[ORIGINAL["topic"] if ORIGINAL["topic"] in frame.columns else "topic"]


def consumed(frame: DataFrame) -> bool:
    """Whether the records come from Kafka; a source's have no offset there yet."""
    return ORIGINAL["topic"] in frame.columns


def refuse_faults(frame: DataFrame, topic: str | None = None) -> DataFrame:
    """The same rows; the job fails at the first faulty one, with a text that read_fault() reads.

    `topic`: the column that names the topic a record came from, if the caller knows it.
    """
    if topic is None:
        topic = ORIGINAL["topic"] if ORIGINAL["topic"] in frame.columns else "topic"
    return frame.filter(_expressions.of(topic, lambda: _no_fault_in(topic)))


def _no_fault_in(topic: str) -> Column:
    names = ("fault.stage", "fault.class", "fault.message")
    columns = [*map(F.col, names), F.col(topic).alias("topic")]
    columns += [F.col("partition"), F.col("offset")]
    text = F.concat(F.lit(_MARK), F.to_json(F.struct(*columns)))
    refused = F.raise_error(text).cast("boolean")
    return F.when(F.col("fault").isNotNull(), refused).otherwise(F.lit(True))


_expressions: Final[Remembered[Column]] = Remembered()


def of_this_layout(other: Column) -> Column:
    """A condition that is true, or fails the job with the place of the row."""
    place = F.to_json(F.struct("topic", "partition", "offset"))
    text = F.concat(F.lit(_OTHER), place)
    return F.when(other, F.raise_error(text).cast("boolean")).otherwise(F.lit(True))


def translated(error: Exception) -> Exception:
    """Our error for a failed job: FaultError, OtherLayoutError, RetriableError; else `error`."""
    if isinstance(error, PenstockError):
        return error
    text = str(error)
    if full := next((words for words in _DISK_FULL if words in text), None):
        return RetriableError(f"a disk of the worker's machine is full: {full}")
    other = _after(_OTHER, text)
    if other is not None:
        return OtherLayoutError(other["topic"], other["partition"], other["offset"])
    fault = read_fault(text)
    if fault is not None:
        return FaultError(fault)
    passing = line_about(text, *_PASSING)
    return error if passing is None else RetriableError(passing)


def read_fault(text: str) -> Fault | None:
    """The fault in the text of a failed job; None if it failed for another reason."""
    found = _after(_MARK, text)
    if found is None:
        return None
    return Fault(
        stage=found.get("stage", ""),
        plugin=found.get("class", ""),
        message=found.get("message", ""),
        topic=found.get("topic"),
        partition=found.get("partition"),
        offset=found.get("offset"),
    )


def _after(mark: str, text: str) -> dict[str, Any] | None:
    """The JSON object behind a mark."""
    at = text.find(mark)
    if at < 0:
        return None
    found: dict[str, Any]
    found, _ = json.JSONDecoder(strict=False).raw_decode(text, at + len(mark))
    return found
