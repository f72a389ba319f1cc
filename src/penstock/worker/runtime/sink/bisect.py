"""Finds the records that a target refuses by writing smaller batches, and skips them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from penstock.api.sink import OffsetRange
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import RefusedError


class Divisible(Protocol):
    """Consecutive records that can be split into two writes."""

    @property
    def ranges(self) -> tuple[OffsetRange, ...]: ...

    @property
    def size(self) -> int: ...

    def cut(self, count: int) -> tuple[Self, Self]:
        """The first `count`, and the others; either may be empty."""
        ...


R = TypeVar("R", bound=Divisible)


@dataclass(frozen=True, slots=True)
class Suspected:
    """One of the first `size` rows is refused; `row` is the likely one."""

    size: int
    row: int | None
    unit: int

    def cut(self) -> int:
        """How many rows to try next: up to the suspect, the suspect itself, or half of them."""
        if self.row is None or self.row >= self.size:
            return max(self.unit, self.size // 2) if self.size else 0
        # Rows that were filtered out before may make its true place a little lower.
        return self.row - self.unit // 2 if self.row >= self.unit else self.unit

    def behind(self, written: int) -> Suspected:
        """The suspicion that is left after the first `written` rows were written."""
        row = None if self.row is None or self.row < written else self.row - written
        return Suspected(max(0, self.size - written), row, self.unit)


class Bisection(Generic[R]):
    """Writes rows that were refused together, in order, and skips those that are refused alone.

    One bad record among n takes log2(n) writes to find, which read each row twice on average; then
    the rest is written at once. After a second bad record it writes in steps that begin with the
    distance of the two and double while they succeed, so that it does not search all the rest
    again for each of many bad records.

    Args:
        write: raises RefusedError if one of the rows is refused; nothing is written then.
        skip: gets refused rows that are not split any further.
        unit: how many rows those are.
        enough: called before each write; True stops the run.
        done: for each partition, the offset after the last record written or skipped.
    """

    def __init__(
        self,
        *,
        write: Callable[[R], None],
        skip: Callable[[R, RefusedError], None],
        done: dict[TopicPartition, int],
        enough: Callable[[], bool],
        unit: int = 1,
    ) -> None:
        self._write = write
        self._skip = skip
        self._done = done
        self._enough = enough
        self._unit = unit

    def run(self, rows: R, refused: RefusedError) -> None:
        """Write the rows after this refusal; `done` has the progress, also when a write fails."""
        left, suspected = rows, Suspected(rows.size, refused.row, self._unit)
        step = good = skipped = 0
        while left.size and not self._enough():
            head, rest = left.cut(suspected.cut() or step)
            error = self._refused(head)
            if error is not None and head.size > self._unit:
                suspected = Suspected(head.size, error.row, self._unit)
                continue
            if error is None:
                good += head.size
                suspected = suspected.behind(head.size)
                step = 2 * head.size
            else:
                self._skip(head, error)
                step = max(self._unit, 2 * good) if skipped else rest.size
                skipped, good, suspected = skipped + 1, 0, Suspected(0, None, self._unit)
            self._pass(head)
            left = rest

    def _refused(self, rows: R) -> RefusedError | None:
        try:
            self._write(rows)
        except RefusedError as error:
            return error
        return None

    def _pass(self, rows: R) -> None:
        self._done.update({each.partition: each.end for each in rows.ranges})
