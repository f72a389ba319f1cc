"""Last stage of a sink: finds, reports and skips records that a target refuses."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import RefusedError, RetriableError
from penstock.worker.pipeline.faults import TASK_PUT, Fault, FaultError
from penstock.worker.runtime.sink.bisect import Bisection
from penstock.worker.runtime.sink.layouts import Unreadable

if TYPE_CHECKING:
    from penstock.kernel.data.record import KafkaRecord
    from penstock.worker.runtime.sink.decode import FetchedRows, Rows

log = logging.getLogger(__name__)

#: After so long, or so many records, the search ends and the loop commits what is done.
MOST_SECONDS: Final = 60.0
MOST_SKIPPED: Final = 200


class Target(Protocol):
    """Where a search writes rows; see Writer."""

    @property
    def keeps_offsets(self) -> bool: ...

    def write_again(self, rows: Rows, unit: int | None) -> None: ...

    def pass_over(self, rows: Rows) -> None: ...

    def report(self, unreadable: Sequence[Unreadable]) -> None: ...


@dataclass(frozen=True, slots=True)
class Recovery:
    """Writes rows that the target refused as a whole, without the records that it refuses alone.

    Attributes:
        connector: its class, for reports.
        tolerant: whether to continue after a refused record.
        stopping: whether the task should stop.
    """

    connector: str
    target: Target
    tolerant: bool = field(kw_only=True)
    stopping: Callable[[], bool] = field(kw_only=True)

    def write_others(
        self, rows: Rows, refused: RefusedError, unit: int | None, *, whole: bool
    ) -> dict[TopicPartition, int]:
        """Write the rows; return for each partition the offset up to which that is done.

        Args:
            rows: the refused rows.
            refused: the reason.
            unit: the refused part of them, or None for all parts.
            whole: write all of them, because other parts of them follow.

        Raises:
            FaultError: not `tolerant`, and the first record is refused.
        """
        search = (_Search if self.tolerant else _SearchForFirst)(self, unit)
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
            # Commit what is done, so that it is not written again; the next batch begins with
            # the rest and fails if it still must.
            log.debug("A part of a batch failed: %s", error)
            search.report()
        return search.done


class _Search:
    """One search: its progress, and skipped records not yet reported."""

    def __init__(self, recovery: Recovery, unit: int | None) -> None:
        self.done: dict[TopicPartition, int] = {}
        self.skipped = 0
        self._recovery = recovery
        self._target = recovery.target
        self._unit = unit
        self._unreported: list[Unreadable] = []
        #: Records skipped since the last good one.
        self._last: FetchedRows | None = None

    def run(self, rows: Rows, refused: RefusedError, enough: Callable[[], bool]) -> None:
        Bisection(
            write=self._write,
            skip=self._skip if rows.unit == 1 else self._look_near,
            done=self.done,
            enough=enough,
            unit=rows.unit,
        ).run(rows, refused)

    def report(self) -> None:
        """Report the skipped records."""
        self._target.report(self._unreported)
        self._unreported = []

    def finish(self) -> None:
        self.report()
        if self._target.keeps_offsets and self._last is not None:
            self._target.pass_over(self._last)

    def _write(self, rows: Rows) -> None:
        if self._recovery.stopping():
            raise RetriableError("the task is stopping")
        if self._target.keeps_offsets:
            # This write stores offsets behind the skipped records: report those first.
            self.report()
        self._target.write_again(rows, self._unit)
        self._last = None

    def _look_near(self, rows: Rows, error: RefusedError) -> None:
        self.run(rows.fetched(), error, enough=lambda: False)

    def _skip(self, rows: Rows, error: RefusedError) -> None:
        refused = rows.fetched()
        self.skipped += refused.size
        self._unreported += [Unreadable(each, self._fault(each, error)) for each in refused.records]
        self._last = refused if self._last is None else self._last.followed_by(refused)

    def _fault(self, record: KafkaRecord, error: RefusedError) -> Fault:
        place = (record.topic, record.partition, record.offset)
        return Fault(TASK_PUT, self._recovery.connector, str(error), *place)


class _SearchForFirst(_Search):
    """Ends at the first refused record, and raises its fault."""

    def _skip(self, rows: Rows, error: RefusedError) -> None:
        raise FaultError(self._fault(rows.fetched().records[0], error))
