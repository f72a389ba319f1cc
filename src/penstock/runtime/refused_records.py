"""Records that a target refuses: found, reported as faults of TASK_PUT, and passed over."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from penstock.clock import Deadline
from penstock.data.record import TopicPartition
from penstock.errors import RefusedError, RetriableError
from penstock.plan.faults import TASK_PUT, Fault, FaultError
from penstock.runtime.around_refused import AroundRefused
from penstock.runtime.handing_over import HandingOver
from penstock.runtime.sink_plan import Run, Unreadable
from penstock.runtime.sink_rows import RangeRows, RunRows, SinkRows

if TYPE_CHECKING:
    from penstock.data.record import KafkaRecord

log = logging.getLogger(__name__)

#: From so few records on they are fetched, as many small jobs over them follow.
NEAR_RECORDS: Final = 400
#: The search through a large batch ends here, and what is done is committed.
MOST_SECONDS: Final = 60.0
MOST_SKIPPED: Final = 200


class RefusedRecords:
    """Writes what the target has refused as a whole, but for the records that it refuses alone."""

    def __init__(
        self,
        connector: str,
        handing: HandingOver,
        report: Callable[[Sequence[Unreadable]], None],
        stopping: Callable[[], bool],
    ) -> None:
        self._connector = connector
        self._handing = handing
        self._report = report
        self._stopping = stopping

    def write_others(
        self,
        rows: SinkRows,
        refused: RefusedError,
        unit: int | None,
        *,
        whole: bool,
        tolerant: bool,
    ) -> dict[TopicPartition, int]:
        """Write them; up to where, of each partition, that is done.

        Raises:
            FaultError: not `tolerant`, and the first record of them is refused.

        Args:
            rows: what was refused.
            refused: why.
            unit: the part of them that was, or None for all parts; see HandingOver.write().
            whole: it must be done with all of them, as other parts of them follow.
        """
        make = _Search if tolerant else _SearchForFirst
        search = make(self._connector, self._handing, self._report, self._stopping, unit)
        until = Deadline.after(MOST_SECONDS)

        def enough() -> bool:
            long = until.expired or search.skipped >= MOST_SKIPPED
            return long and not whole and bool(search.done)

        try:
            search.run(rows, refused, enough)
            search.finish()
        except Exception as error:
            if whole or not search.done:
                raise
            # What is done is committed, so that it does not come again; then the rest fails, if
            # it still does.
            log.debug("A part of a batch failed: %s", error)
            search.tell()
        return search.done


class _Search:
    """One search: what it has done, and what it has skipped but not yet told."""

    def __init__(
        self,
        connector: str,
        handing: HandingOver,
        report: Callable[[Sequence[Unreadable]], None],
        stopping: Callable[[], bool],
        unit: int | None,
    ) -> None:
        self.done: dict[TopicPartition, int] = {}
        self.skipped = 0
        self._connector = connector
        self._handing = handing
        self._report = report
        self._stopping = stopping
        self._unit = unit
        self._untold: list[Unreadable] = []
        #: What was skipped since the last good record.
        self._last: RunRows | None = None

    def run(self, rows: SinkRows, refused: RefusedError, enough: Callable[[], bool]) -> None:
        if isinstance(rows, RangeRows):
            AroundRefused(
                write=self._write,
                skip=self._look_near,
                done=self.done,
                enough=enough,
                unit=NEAR_RECORDS,
            ).run(rows, refused)
        elif isinstance(rows, RunRows):
            AroundRefused(write=self._write, skip=self._skip, done=self.done, enough=enough).run(
                rows, refused
            )

    def tell(self) -> None:
        """Report what was skipped."""
        self._report(self._untold)
        self._untold = []

    def finish(self) -> None:
        self.tell()
        if self._handing.keeps_offsets and self._last is not None:
            self._handing.pass_over(self._last)

    def _write(self, rows: SinkRows) -> None:
        if self._stopping():
            raise RetriableError("the task is stopping")
        if self._handing.keeps_offsets:
            # The offsets that this write stores are behind them.
            self.tell()
        self._handing.write(rows, rows.typed(), self._unit, again=True)
        self._last = None

    def _look_near(self, rows: RangeRows, error: RefusedError) -> None:
        self.run(rows.fetched(), error, enough=lambda: False)

    def _skip(self, rows: RunRows, error: RefusedError) -> None:
        self.skipped += rows.size
        self._untold += [Unreadable(each, self._fault(each, error)) for each in rows.records]
        before: Sequence[KafkaRecord] = [] if self._last is None else self._last.records
        self._last = RunRows(rows.plans, Run(rows.run.layouts, [*before, *rows.records]))

    def _fault(self, record: KafkaRecord, error: RefusedError) -> Fault:
        place = (record.topic, record.partition, record.offset)
        return Fault(TASK_PUT, self._connector, str(error), *place)


class _SearchForFirst(_Search):
    """Ends at the first record that is refused, with its name."""

    def _skip(self, rows: RunRows, error: RefusedError) -> None:
        raise FaultError(self._fault(rows.records[0], error))
