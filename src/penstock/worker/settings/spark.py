"""Settings of Spark: a worker's defaults, and settings that would change data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

#: Other values would silently change records, so they are refused.
FIXED: Final[Mapping[str, str]] = {
    "spark.sql.session.timeZone": "UTC",
    # Fields `id` and `ID` are different in Connect.
    "spark.sql.caseSensitive": "true",
    # If JSON has a field twice, the last one counts, as in Java's converter.
    "spark.sql.variant.allowDuplicateKeys": "true",
    # If a map gets equal keys, the last one counts, as in Java.
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    # A number that does not fit is an error of its record, never another number.
    "spark.sql.ansi.enabled": "true",
}

#: A user's settings override these.
DEFAULTS: Final[Mapping[str, str]] = {
    "spark.master": "local[*]",
    "spark.app.name": "penstock",
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # A fair pool for each connector, so that none can starve another.
    "spark.scheduler.mode": "FAIR",
    **FIXED,
    # A micro-batch has one partition for each task: shuffles and adaptive plans only cost time.
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    # A filter on a converter's fault must stay above the converter: pushed below it, Spark runs
    # the converter twice, once for the filter and once for the data.
    "spark.sql.optimizer.excludedRules": ",".join(
        f"org.apache.spark.sql.catalyst.optimizer.{rule}"
        for rule in ("PushDownPredicates", "PushPredicateThroughNonJoin")
    ),
    # PySpark would record which of our lines made each column, for its error messages: three of
    # five calls to the JVM for a plan. No user wrote those lines.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # A worker runs for months: keep little history of finished jobs.
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "200",
    "spark.sql.ui.retainedExecutions": "5",
}


#: The Python of the executors; the worker's if not set.
EXECUTORS_PYTHON: Final = "spark.pyspark.python"
HEAP: Final = "spark.driver.memory"
#: The smallest heap in which a whole load was seen to finish. Spark starts with less, but then
#: Java has no memory for a batch of each kind beside Spark's own objects.
LEAST_HEAP_MB: Final = 384
#: Spark's default for spark.testing.reservedMemory. Spark refuses a heap of less than 1.5 times
#: as much, counted without Java's own part.
_RESERVED_MB: Final = 300
_RESERVED_PART: Final = 4
_SIZE: Final = re.compile(r"(\d+)\s*([kmgt]?)b?", re.IGNORECASE)
_UNITS_MB: Final = {"k": 1 / 1024, "m": 1, "": 1, "g": 1024, "t": 1024 * 1024}


def heap_mb(value: str) -> int | None:
    """The size of a heap as Spark reads it, in MB; None if it can't be parsed."""
    found = _SIZE.fullmatch(value.strip())
    return int(int(found[1]) * _UNITS_MB[found[2].lower()]) if found else None


def room_in_small_heap(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings with which Spark starts in a heap that is small but sufficient."""
    heap = heap_mb(settings[HEAP])
    if heap is None or heap >= 2 * _RESERVED_MB:
        return {}
    return {"spark.testing.reservedMemory": str(heap * 1024 * 1024 // _RESERVED_PART)}


def refusal(name: str, value: str) -> str | None:
    """Why a worker can't use this setting of Spark; None if it can."""
    if name == HEAP:
        return _heap_refusal(value)
    fixed = FIXED.get(name)
    if fixed is None or value.strip().lower() == fixed.lower():
        return None
    return f"only {fixed} treats records as Kafka Connect does; remove the key"


def _heap_refusal(value: str) -> str | None:
    heap = heap_mb(value)
    if heap is None:
        return "it must be a size such as 512m or 1g"
    if heap < LEAST_HEAP_MB:
        return f"Spark needs a heap of at least {LEAST_HEAP_MB}m"
    return None
