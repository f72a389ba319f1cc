"""Third stage of a sink: passes the good decoded rows to the task, and reports the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.api.plugin import Side
from penstock.api.sink import FrameSinkTask, OffsetRange, SinkBatch
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import RefusedError, UnfitError
from penstock.worker.pipeline.faults import (
    ORIGINAL,
    FaultCount,
    failed_put,
    refuse_faults,
    translated,
)
from penstock.worker.runtime.sink.decode import Decoder, Rows
from penstock.worker.runtime.sink.layouts import Unreadable
from penstock.worker.runtime.sink.ranges import ends_of
from penstock.worker.runtime.sink.recover import Recovery
from penstock.worker.runtime.tolerance import ErrorSettings, FaultReports

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from penstock.worker.pipeline.pipeline import Typed

log = logging.getLogger(__name__)


class Writer:
    """Writes rows through the task.

    It reports faulty rows after the write, and only if the write's job counted any: so good
    batches need one job. If the target keeps the offsets, it reports them before the write:
    after a crash in between they would not be read again.

    Args:
        connector: the connector's class, for reports of refused records.
        stopping: whether the task should stop.
    """

    def __init__(
        self,
        connector: str,
        task: FrameSinkTask,
        decoder: Decoder,
        errors: ErrorSettings,
        reports: FaultReports,
        stopping: Callable[[], bool],
    ) -> None:
        self._connector = connector
        self._task = task
        self._decoder = decoder
        self._errors = errors
        self._reports = reports
        self._recovery = Recovery(connector, self, tolerant=errors.tolerant, stopping=stopping)

    @property
    def tolerant(self) -> bool:
        return self._errors.tolerant

    @property
    def keeps_offsets(self) -> bool:
        return self._task.traits.keeps_offsets

    def prepare(self) -> None:
        """Before the first record."""
        self._reports.prepare()

    def write(self, rows: Rows) -> Mapping[TopicPartition, int]:
        """Write the rows that the target does not refuse; return how far that is done."""
        parts = rows.decoded()
        if self.keeps_offsets:
            for typed in parts:
                self._report_faulty(typed)
        # A target that keeps the offsets stores all parts at once, or none.
        units = [None] if self.keeps_offsets else range(len(parts))
        for unit in units:
            try:
                self._write_unit(rows, parts, unit)
            except RefusedError as error:
                log.info("Searching for the records that the target refuses: %s", error)
                done = self._recovery.write_others(rows, error, unit, whole=len(units) > 1)
                if len(units) == 1:
                    return done
        return ends_of(rows.ranges)

    # Called by the recovery.

    def write_again(self, rows: Rows, unit: int | None) -> None:
        """Write some of the refused rows: this part of them, or all parts if None."""
        self._write_unit(rows, rows.decoded(), unit)

    def pass_over(self, rows: Rows) -> None:
        """Let the target store the offsets behind rows that it refused."""
        empty = [replace(typed, frame=typed.frame.limit(0), clean=True) for typed in rows.decoded()]
        self._write_unit(rows, empty, None)

    def report(self, unreadable: Sequence[Unreadable]) -> None:
        """Report records, each with its fault."""
        if unreadable and self._reports.wanted:
            found = [(each.record, each.fault) for each in unreadable]
            self._reports.report_records(self._decoder.spark(), found)

    def _write_unit(self, rows: Rows, parts: Sequence[Typed], unit: int | None) -> None:
        for number, typed in enumerate(parts):
            if unit in (None, number):
                self._write_part(typed, rows.ranges, more=number + 1 < len(parts))

    def _write_part(self, typed: Typed, ranges: tuple[OffsetRange, ...], *, more: bool) -> None:
        counts = self._may_report(typed) and not self.keeps_offsets
        count = FaultCount(typed.frame) if counts else None
        batch = self._batch(typed, self._good(typed, count), ranges, more=more)
        try:
            self._task.write(batch)
        except UnfitError as error:
            if not self._errors.tolerant:
                raise
            self._pass_unfit(typed, batch, error)
        except Exception as error:
            self._task.discard(batch)
            raise translated(error) from error
        else:
            if count is not None and count.found() != 0:
                self._report_faulty(typed)

    def _batch(
        self, typed: Typed, good: DataFrame, ranges: tuple[OffsetRange, ...], *, more: bool
    ) -> SinkBatch:
        from penstock.worker.pipeline.kafka_io import IN_FLIGHT
        from penstock.worker.pipeline.stage import OpenedMaps

        opened = OpenedMaps() if typed.branch is None else typed.branch.opened
        return SinkBatch(
            good.select(*IN_FLIGHT, *opened.columns),
            ranges,
            typed.key_schema,
            typed.value_schema,
            topics=self._decoder.topics(typed, {each.partition.topic for each in ranges}),
            more=more,
            opened=opened.maps.get(Side.VALUE),
        )

    def _pass_unfit(self, typed: Typed, batch: SinkBatch, error: UnfitError) -> None:
        """Report and skip all rows of a part that the target can't take."""
        # If the target keeps the offsets, rows with a fault of their own are already reported.
        frame = typed.frame.filter("fault IS NULL") if self.keeps_offsets else typed.frame
        log.info("Skipping records that the target can't take: %s", error)
        if self._reports.wanted:
            self._reports.report(failed_put(frame, self._connector, str(error)))
        if self.keeps_offsets:
            self._task.write(replace(batch, only_offsets=True))

    def _good(self, typed: Typed, count: FaultCount | None) -> DataFrame:
        if typed.clean:
            return typed.frame
        if not self._errors.tolerant:
            return refuse_faults(typed.frame, ORIGINAL["topic"])
        return (typed.frame if count is None else count.frame).filter("fault IS NULL")

    def _may_report(self, typed: Typed) -> bool:
        return self._errors.tolerant and self._reports.wanted and not typed.clean

    def _report_faulty(self, typed: Typed) -> None:
        if not self._may_report(typed):
            return
        try:
            self._reports.report(typed.frame)
        except Exception as error:
            raise translated(error) from error
