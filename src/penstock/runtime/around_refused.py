"""The records that a target refuses: found by writing smaller batches, passed over one by one."""

from __future__ import annotations

from collections.abc import Callable
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

    def run(self, rows: R) -> None:
        """Write them; `done` tells how far it came, also when a write fails."""
        left = rows
        suspects = rows.size  # Among the first so many there is one that is refused.
        step = good = skipped = 0
        while left.size and not self._enough():
            head, rest = left.cut(max(self._unit, suspects // 2) if suspects else step)
            refused = self._refused(head)
            if refused is not None and head.size > self._unit:
                suspects = head.size
                continue
            if refused is None:
                good += head.size
                suspects = max(0, suspects - head.size)
                step = 2 * head.size
            else:
                self._skip(head, refused)
                step = max(self._unit, 2 * good) if skipped else rest.size
                skipped, good, suspects = skipped + 1, 0, 0
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
