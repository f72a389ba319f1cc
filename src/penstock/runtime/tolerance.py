"""errors.*: what a connector tolerates, and where it reports what it could not process."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from penstock.data.record import TaskId
from penstock.settings.connector_keys import CommonKeys, SinkKeys

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

log = logging.getLogger(__name__)

HEADER_PREFIX: Final = "__connect.errors."
MOST_LOGGED: Final = 100


@dataclass(frozen=True, slots=True)
class ErrorSettings:
    """The errors.* keys of a connector."""

    common: CommonKeys
    sink: SinkKeys

    @classmethod
    def parse(cls, config: Mapping[str, str]) -> ErrorSettings:
        return cls(CommonKeys.parse(config), SinkKeys.parse(config))

    @property
    def tolerant(self) -> bool:
        return self.common.errors_tolerance == "all"


class DeadLetterTopic(Protocol):
    """Where records go that a sink could not process."""

    def write(self, frame: DataFrame) -> None: ...


class FaultReports:
    """Logs tolerated faults and sends the records to the dead letter topic."""

    def __init__(
        self, settings: ErrorSettings, task: TaskId, dead_letters: DeadLetterTopic | None
    ) -> None:
        self._settings = settings
        self._task = task
        self._dead_letters = dead_letters

    @property
    def wanted(self) -> bool:
        """Whether faults go anywhere; if not, nobody need find them."""
        return self._settings.common.errors_log_enable or self._dead_letters is not None

    def report(self, frame: DataFrame) -> None:
        """Report the faulty rows of the frame. Costs a Spark job for each kind of report."""
        faulty = frame.filter(frame["fault"].isNotNull())
        if self._settings.common.errors_log_enable:
            self._log(faulty)
        if self._dead_letters is not None:
            self._dead_letters.write(self._dead_letter_rows(faulty))

    def _log(self, faulty: DataFrame) -> None:
        from penstock.plan.faults import original_topic

        columns = [original_topic(faulty).alias("topic")]
        columns += [faulty[name] for name in ("partition", "offset", "fault")]
        if self._settings.common.errors_log_include_messages and "raw_value" in faulty.columns:
            columns += [faulty["raw_key"], faulty["raw_value"]]
        rows = faulty.select(*columns).take(MOST_LOGGED + 1)
        for row in rows[:MOST_LOGGED]:
            message = f" key={row.raw_key} value={row.raw_value}" if len(columns) > 4 else ""
            log.error(
                "Error encountered in task %s. Executing stage '%s' with class '%s', where consumed"
                " record is {topic='%s', partition=%s, offset=%s%s}: %s",
                self._task,
                row.fault["stage"],
                row.fault["class"],
                row.topic,
                row.partition,
                row.offset,
                message,
                row.fault["message"],
            )
        if len(rows) > MOST_LOGGED:
            log.error("Task %s: more than %d records of one batch failed", self._task, MOST_LOGGED)

    def _dead_letter_rows(self, faulty: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        kind = faulty.schema["raw_headers"].dataType
        headers = F.coalesce(faulty["raw_headers"], F.array().cast(kind))
        if self._settings.sink.dlq_headers:
            headers = F.concat(headers, self._context_headers(faulty))
        return faulty.select(
            F.lit(self._settings.sink.dlq_topic).alias("topic"),
            F.lit(None).cast("int").alias("partition"),
            faulty["raw_key"].alias("key"),
            faulty["raw_value"].alias("value"),
            headers.alias("headers"),
        )

    def _context_headers(self, faulty: DataFrame) -> Column:
        from pyspark.sql import functions as F

        from penstock.plan.faults import DATA_EXCEPTION, original_topic

        message = faulty["fault.message"]
        trace = F.concat(F.lit(f"{DATA_EXCEPTION}: "), message)
        values = {
            "topic": original_topic(faulty),
            "partition": faulty["partition"].cast("string"),
            "offset": faulty["offset"].cast("string"),
            "connector.name": F.lit(self._task.connector),
            "task.id": F.lit(str(self._task.number)),
            "stage": faulty["fault.stage"],
            "class.name": faulty["fault.class"],
            "exception.class.name": F.lit(DATA_EXCEPTION),
            "exception.message": message,
            "exception.stacktrace": trace,
        }
        return F.array(
            *(
                F.struct(
                    F.lit(HEADER_PREFIX + name).alias("key"),
                    value.cast("binary").alias("value"),
                )
                for name, value in values.items()
            )
        )
