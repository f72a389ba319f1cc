"""Settings of Spark: those of a worker, and those that decide what becomes of data."""

from __future__ import annotations

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


def refusal(name: str, value: str) -> str | None:
    """Why a worker can't have this setting of Spark; None if it can."""
    fixed = FIXED.get(name)
    if fixed is None or value.strip().lower() == fixed.lower():
        return None
    return f"records are treated as in Kafka Connect with {fixed} only; remove the key"
