"""Settings of Spark: those of a worker, and those that decide what becomes of data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

#: Another value would change records without a word, so it is refused.
FIXED: Final[Mapping[str, str]] = {
    "spark.sql.session.timeZone": "UTC",
    # Fields `id` and `ID` are two in Connect.
    "spark.sql.caseSensitive": "true",
    # JSON that names a field twice: the last one counts, as for Java's converter.
    "spark.sql.variant.allowDuplicateKeys": "true",
    # A map that is made of entries: the last of equal keys counts, as in Java.
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    # A number that does not fit is an error of its record, never another number.
    "spark.sql.ansi.enabled": "true",
}

#: A user's settings go before these.
DEFAULTS: Final[Mapping[str, str]] = {
    "spark.master": "local[*]",
    "spark.app.name": "penstock",
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # One connector can neither starve nor block another: a pool for each, shared fairly.
    "spark.scheduler.mode": "FAIR",
    **FIXED,
    # A micro-batch has one partition for each task: shuffles and adaptive plans only cost here.
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    # A filter that asks whether a converter failed must stay above the converter: pushed below
    # it, Spark runs the converter twice, once for the filter and once for the data.
    "spark.sql.optimizer.excludedRules": ",".join(
        f"org.apache.spark.sql.catalyst.optimizer.{rule}"
        for rule in ("PushDownPredicates", "PushPredicateThroughNonJoin")
    ),
    # PySpark would note for each column which line of ours made it: three of five calls to the
    # JVM that a plan takes, for messages about code that no user has written.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # A worker runs for months: keep little history of finished jobs.
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "200",
    "spark.sql.ui.retainedExecutions": "5",
}


#: The Python of the executors; that of the worker if it is not set.
EXECUTORS_PYTHON: Final = "spark.pyspark.python"
HEAP: Final = "spark.driver.memory"
#: With less, Java has no room for Spark's own objects and a batch of each kind beside them.
LEAST_HEAP_MB: Final = 256
#: What Spark keeps free for others, unless it is told otherwise. It refuses a heap of less than
#: half as much again, and wants that to be left when Java has taken its own part.
_RESERVED_MB: Final = 300
_RESERVED_PART: Final = 4
_SIZE: Final = re.compile(r"(\d+)\s*([kmgt]?)b?", re.IGNORECASE)
_UNITS_MB: Final = {"k": 1 / 1024, "m": 1, "": 1, "g": 1024, "t": 1024 * 1024}


def heap_mb(value: str) -> int | None:
    """The size of a heap as Spark reads it, in MB; None if it is none."""
    found = _SIZE.fullmatch(value.strip())
    return int(int(found[1]) * _UNITS_MB[found[2].lower()]) if found else None


def room_in_small_heap(settings: Mapping[str, str]) -> dict[str, str]:
    """What makes Spark start in a heap that is small but large enough for us."""
    heap = heap_mb(settings[HEAP])
    if heap is None or heap >= 2 * _RESERVED_MB:
        return {}
    return {"spark.testing.reservedMemory": str(heap * 1024 * 1024 // _RESERVED_PART)}


def refusal(name: str, value: str) -> str | None:
    """Why a worker can't have this setting of Spark; None if it can."""
    if name == HEAP:
        return _heap_refusal(value)
    fixed = FIXED.get(name)
    if fixed is None or value.strip().lower() == fixed.lower():
        return None
    return f"records are treated as in Kafka Connect with {fixed} only; remove the key"


def _heap_refusal(value: str) -> str | None:
    heap = heap_mb(value)
    if heap is None:
        return "it is a size such as 512m or 1g"
    if heap < LEAST_HEAP_MB:
        return f"Spark needs a heap of {LEAST_HEAP_MB}m at least"
    return None
