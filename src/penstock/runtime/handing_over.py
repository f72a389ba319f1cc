"""Handing planned records to a sink task: only the good ones; the others are reported."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.api.plugin import Side
from penstock.api.sink import FrameSinkTask, OffsetRange, SinkBatch
from penstock.errors import UnfitError
from penstock.plan.faults import ORIGINAL, FaultCount, failed_put, refuse_faults, translated
from penstock.runtime.sink_rows import SinkPlans, SinkRows
from penstock.runtime.tolerance import ErrorSettings, FaultReports

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from penstock.plan.pipeline import Typed

log = logging.getLogger(__name__)


class HandingOver:
    """Writes records through the task.

    Faulty ones are reported after the write, and only if its job has counted any: that needs no
    job of its own. A target that keeps the offsets would not ask for them again after a crash in
    between, so for such a one they are reported before.
    """

    def __init__(
        self,
        connector: str,
        task: FrameSinkTask,
        plans: SinkPlans,
        errors: ErrorSettings,
        reports: FaultReports,
    ) -> None:
        self._connector = connector
        self._task = task
        self._plans = plans
        self._errors = errors
        self._reports = reports

    @property
    def keeps_offsets(self) -> bool:
        return self._task.keeps_offsets

    def write(
        self,
        rows: SinkRows,
        parts: Sequence[Typed],
        unit: int | None,
        *,
        again: bool = False,
    ) -> None:
        """Write the rows.

        Args:
            rows: where the parts come from.
            parts: the rows, planned.
            unit: the number of the part to write; None for all, if they are durable together.
            again: the same rows were handed over before, among others, and refused.
        """
        if self.keeps_offsets and not again:
            for typed in parts:
                self._report(typed)
        for number, typed in enumerate(parts):
            if unit in (None, number):
                self._write_part(typed, rows.ranges, more=number + 1 < len(parts))

    def pass_over(self, rows: SinkRows) -> None:
        """Have the target store offsets behind rows that it refused."""
        empty = [replace(typed, frame=typed.frame.limit(0), clean=True) for typed in rows.typed()]
        self.write(rows, empty, None, again=True)

    def _write_part(self, typed: Typed, ranges: tuple[OffsetRange, ...], *, more: bool) -> None:
        from penstock.plan.kafka_io import IN_FLIGHT
        from penstock.plan.stage import OpenedMaps

        read = frozenset(each.partition.topic for each in ranges)
        counts = self._may_report(typed) and not self.keeps_offsets
        count = FaultCount(typed.frame) if counts else None
        opened = OpenedMaps() if typed.branch is None else typed.branch.opened
        batch = SinkBatch(
            self._good(typed, count).select(*IN_FLIGHT, *opened.columns),
            ranges,
            typed.key_schema,
            typed.value_schema,
            topics=self._plans.pipe.topics(typed, read),
            more=more,
            opened=opened.maps.get(Side.VALUE),
        )
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
                self._report(typed)

    def _pass_unfit(self, typed: Typed, batch: SinkBatch, error: UnfitError) -> None:
        """Report all rows of a part that the target takes none of."""
        # For a target that keeps the offsets those with a fault of their own are reported already.
        frame = typed.frame.filter("fault IS NULL") if self.keeps_offsets else typed.frame
        log.info("Passing over records that the target does not take: %s", error)
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

    def _report(self, typed: Typed) -> None:
        if not self._may_report(typed):
            return
        try:
            self._reports.report(typed.frame)
        except Exception as error:
            raise translated(error) from error
