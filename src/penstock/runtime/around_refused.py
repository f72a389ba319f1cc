"""The records that a target refuses: found by writing smaller batches, passed over one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from penstock.api.sink import OffsetRange
from penstock.data.record import TopicPartition
from penstock.errors import RefusedError


class Rows(Protocol):
    """Records in a row that can be written apart."""

    @property
    def ranges(self) -> tuple[OffsetRange, ...]: ...

    @property
    def size(self) -> int: ...

    def cut(self, count: int) -> tuple[Self, Self]:
        """The first so many, and the others; either may be empty."""
        ...


R = TypeVar("R", bound=Rows)


@dataclass(frozen=True, slots=True)
class Suspected:
    """Among the first so many rows there is one that is refused; `row` may be the one."""

    size: int
    row: int | None
    unit: int

    def cut(self) -> int:
        """How many rows to try next: up to the suspect, the suspect itself, or half of them."""
        if self.row is None or self.row >= self.size:
            return max(self.unit, self.size // 2) if self.size else 0
        # Rows that were left out on the way make it a little less than it says.
        return self.row - self.unit // 2 if self.row >= self.unit else self.unit

    def behind(self, written: int) -> Suspected:
        """What is left to suspect once so many of them are written."""
        row = None if self.row is None or self.row < written else self.row - written
        return Suspected(max(0, self.size - written), row, self.unit)


class AroundRefused(Generic[R]):
    """Writes rows that were refused together: all but those that are refused alone, in order.

    One bad record among n takes log2(n) writes to find, which read each row twice on average, and
    then the rest is written at once. After a second one it goes on in steps that begin at their
    distance and double while they are taken, so that many bad records are not each looked for in
    all that is left.

    Args:
        write: raises RefusedError if one of the rows is refused; nothing is written then.
        skip: gets rows that were refused and are not to be cut any further.
        unit: how many rows that are.
        enough: asked before each write whether to stop here.
        done: where the next record of each partition is that was neither written nor skipped.
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
        """Write them, after that refusal; `done` tells how far it came, also when a write fails."""
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
