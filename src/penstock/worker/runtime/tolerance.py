"""errors.*: which faults a connector tolerates, and where it reports them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from penstock.kernel.data import dead_letters as names
from penstock.kernel.data.record import TaskId
from penstock.worker.settings.connector_keys import CommonKeys, DeadLetterKeys

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from penstock.kernel.data.record import KafkaRecord
    from penstock.worker.pipeline.faults import Fault

log = logging.getLogger(__name__)

MOST_LOGGED: Final = 100
_SHOWN: Final = ("key", "value")


@dataclass(frozen=True, slots=True)
class ErrorSettings:
    """The errors.* keys of a connector."""

    common: CommonKeys
    letters: DeadLetterKeys

    @classmethod
    def parse(cls, config: Mapping[str, str]) -> ErrorSettings:
        return cls(CommonKeys.parse(config), DeadLetterKeys.parse(config))

    @property
    def tolerant(self) -> bool:
        return self.common.errors_tolerance == "all"

    @property
    def shows_records(self) -> bool:
        """Whether reports contain the original record."""
        logged = self.common.errors_log_enable and self.common.errors_log_include_messages
        return logged or bool(self.letters.dlq_topic)


class DeadLetterTopic(Protocol):
    """Where records go that could not be processed."""

    def prepare(self) -> None:
        """Create it now if it is missing, not only when a record needs it."""
        ...

    def write(self, frame: DataFrame) -> int:
        """Write the records; return their number."""
        ...


class FaultReports:
    """Logs tolerated faults and sends the records to the dead letter topic."""

    def __init__(
        self, settings: ErrorSettings, task: TaskId, dead_letters: DeadLetterTopic | None
    ) -> None:
        self._settings = settings
        self._task = task
        self._dead_letters = dead_letters

    def prepare(self) -> None:
        """Before the first record."""
        if self._dead_letters is not None:
            self._dead_letters.prepare()

    @property
    def wanted(self) -> bool:
        """Whether faults are reported at all; if not, they need not be searched."""
        return self._settings.common.errors_log_enable or self._dead_letters is not None

    def report(self, frame: DataFrame) -> int | None:
        """Report the faulty rows of the frame. Costs a Spark job for each kind of report.

        Returns:
            how many were reported; None if too many were logged to count them.
        """
        faulty = frame.filter(frame["fault"].isNotNull())
        reported: int | None = 0
        if self._settings.common.errors_log_enable:
            rows = self._logged_rows(faulty)
            self._log(rows)
            reported = len(rows) if len(rows) <= MOST_LOGGED else None
        if self._dead_letters is not None:
            reported = self._dead_letters.write(self._dead_letter_rows(faulty))
        return reported

    def report_records(
        self, session: SparkSession, rows: Sequence[tuple[KafkaRecord, Fault]]
    ) -> None:
        """The same for records that were fetched."""
        from penstock.worker.pipeline.inline_records import fault_frame

        if self._settings.common.errors_log_enable:
            self._log([self._logged_row(*row) for row in rows[: MOST_LOGGED + 1]])
        if self._dead_letters is not None:
            self._dead_letters.write(self._dead_letter_rows(fault_frame(session, rows)))

    def _logged_row(self, record: KafkaRecord, fault: Fault) -> dict[str, Any]:
        place = {"topic": record.topic, "partition": record.partition, "offset": record.offset}
        parts = {"stage": fault.stage, "class": fault.plugin, "message": fault.message}
        shown = {"raw_key": record.key, "raw_value": record.value}
        return {**place, "fault": parts, **(shown if self._shows_records else {})}

    @property
    def _shows_records(self) -> bool:
        return self._settings.common.errors_log_include_messages

    def _logged_rows(self, faulty: DataFrame) -> list[dict[str, Any]]:
        from penstock.worker.pipeline.faults import original_topic

        columns = [original_topic(faulty).alias("topic")]
        columns += [faulty[name] for name in ("partition", "offset", "fault")]
        if self._shows_records and "raw_value" in faulty.columns:
            columns += [faulty["raw_key"], faulty["raw_value"]]
        return [row.asDict() for row in faulty.select(*columns).take(MOST_LOGGED + 1)]

    def _log(self, rows: Sequence[Mapping[str, Any]]) -> None:
        for row in rows[:MOST_LOGGED]:
            log.error(
                "Error encountered in task %s. Executing stage '%s' with class '%s', where %s: %s",
                self._task,
                row["fault"]["stage"],
                row["fault"]["class"],
                _described(row),
                row["fault"]["message"],
            )
        if len(rows) > MOST_LOGGED:
            log.error("Task %s: more than %d records of one batch failed", self._task, MOST_LOGGED)

    def _dead_letter_rows(self, faulty: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        kind = faulty.schema["raw_headers"].dataType
        headers = F.coalesce(faulty["raw_headers"], F.array().cast(kind))
        if self._settings.letters.dlq_headers:
            headers = F.concat(headers, self._context_headers(faulty))
        return faulty.select(
            F.lit(self._settings.letters.dlq_topic).alias("topic"),
            F.lit(None).cast("int").alias("partition"),
            faulty["raw_key"].alias("key"),
            faulty["raw_value"].alias("value"),
            headers.alias("headers"),
        )

    def _context_headers(self, faulty: DataFrame) -> Column:
        from pyspark.sql import functions as F

        from penstock.worker.pipeline.faults import DATA_EXCEPTION, consumed, original_topic

        message = faulty["fault.message"]
        trace = F.concat(F.lit(f"{DATA_EXCEPTION}: "), message)
        values = {names.TOPIC: original_topic(faulty)}
        if consumed(faulty):
            values |= {
                name: faulty[name].cast("string") for name in (names.PARTITION, names.OFFSET)
            }
        values |= {
            names.CONNECTOR: F.lit(self._task.connector),
            names.TASK: F.lit(str(self._task.number)),
            names.STAGE: faulty["fault.stage"],
            names.CLASS: faulty["fault.class"],
            names.EXCEPTION: F.lit(DATA_EXCEPTION),
            names.MESSAGE: message,
            names.TRACE: trace,
        }
        return F.array(
            *(
                F.struct(
                    F.lit(names.HEADER_PREFIX + name).alias("key"),
                    value.cast("binary").alias("value"),
                )
                for name, value in values.items()
            )
        )


def _described(row: Mapping[str, Any]) -> str:
    """Describe the record of a logged row; a source's has no offset in Kafka yet."""
    texts = [f"topic='{row['topic']}'"]
    if row["offset"] is not None:
        texts += [f"partition={row['partition']}", f"offset={row['offset']}"]
    texts += [f"{name}={_text(row[f'raw_{name}'])}" for name in _SHOWN if f"raw_{name}" in row]
    kind = "source" if row["offset"] is None else "consumed"
    return f"{kind} record is {{{', '.join(texts)}}}"


def _text(data: bytes | bytearray | None) -> str | None:
    """Bytes as readable text, or as hexadecimal if they are not UTF-8."""
    if data is None:
        return None
    try:
        return repr(data.decode())
    except UnicodeDecodeError:
        return f"0x{data.hex()}"
