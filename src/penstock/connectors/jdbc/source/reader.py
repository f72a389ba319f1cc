"""One table or query: its position, its new rows, and the parts to read them in."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.source.config import SourceConfig
from penstock.connectors.jdbc.source.layout import CurrentLayout, Layout
from penstock.connectors.jdbc.source.limits import Limits, cuts
from penstock.connectors.jdbc.source.ordering import Ordering, joined
from penstock.connectors.jdbc.source.origin import Origin
from penstock.connectors.jdbc.source.positions import Position

log = logging.getLogger(__name__)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LIMITING: Final = re.compile(r"(?i)\b(limit|fetch\s+(first|next)|top|rownum)\b")


@dataclass(frozen=True, slots=True)
class Reading:
    """New rows: the texts behind WHERE of the parts to read, and the position after them.

    Attributes:
        between: the positions between two parts; empty if one can't begin there.
    """

    layout: Layout
    parts: tuple[str, ...]
    position: Position | None
    more: bool
    between: tuple[Position, ...] = ()


class RowsReader:
    """Looks for new rows of one origin. For one thread; keeps its position in memory only."""

    def __init__(self, origin: Origin, config: SourceConfig, limits: Limits) -> None:
        self.origin = origin
        self.skipped = 0
        self._config = config
        self._limits = limits
        self._layout = CurrentLayout(origin, config)
        self._position: Position | None = None

    def start(self, database: Database, offset: Mapping[str, Any] | None) -> None:
        """Begin behind a stored offset, or where the configuration says.

        Raises:
            ConfigError: the origin lacks a column that the mode needs.
        """
        layout = self._layout.checked(database)
        if layout.ordering is None:
            return
        if offset is not None:
            self._position = layout.form.position(offset)
        else:
            self._position = self._initial(database, layout, layout.ordering)
        log.info("Reading %s from %s", self.origin, self._position)

    def check(self, database: Database) -> None:
        """Raise what start() would raise; nothing is begun."""
        self._layout.checked(database)

    def look(self, database: Database, *, in_parts: bool = True) -> Reading | None:
        """The new rows, or None. Returned rows count as read.

        Args:
            in_parts: whether it helps that one can begin between two parts; if not, less is read.
        """
        ordering = self._layout.known(database).ordering
        if ordering is None:
            return self._look_in_bulk(database)
        suffix = self._config.suffix if self._suffix_limits else ""
        probe = ordering.probe(self._from, self._limits.counted_rows, suffix)
        columns = 1 + 2 * (bool(ordering.timestamps) + bool(ordering.number))
        found = database.first(probe, columns)
        if found is None:
            return None
        count, *ends = map(as_number, found)
        layout = self._layout.checked(database)
        if count >= self._limits.counted_rows and not suffix:
            return self._backlog(database, layout, ends, in_parts=in_parts)
        return self._all_of(database, layout, count, ends, more=bool(suffix))

    @property
    def _from(self) -> Position:
        assert self._position is not None, "look() comes after start()"  # noqa: S101
        return self._position

    def _initial(self, database: Database, layout: Layout, ordering: Ordering) -> Position:
        number = self._config.incrementing_initial if ordering.number else None
        start = self._config.start_ms
        if not ordering.timestamps or start is None:
            return Position(number=number)
        if start < 0:
            ((now,),) = database.query(ordering.now())
            return Position(as_number(now))
        return layout.form.at(start)

    # ------------------------------------------------------------------------------ few rows

    def _all_of(
        self, database: Database, layout: Layout, count: int, ends: Sequence[int], *, more: bool
    ) -> Reading:
        """A reading of all new rows, which a single reader takes in order."""
        ordering = _ordered(layout)
        if ordering.timestamps:
            end = self._at_time(database, ordering, ends[1])
        else:
            end = Position(number=ends[1])
            self._count_gap(count, ends[1])
        return self._reading(layout, [], end, more=more)

    def _at_time(self, database: Database, ordering: Ordering, micros: int) -> Position:
        """The position behind all rows of a time that there are now."""
        if ordering.number is None:
            return Position(micros)
        ((number,),) = database.query(ordering.last_number(micros))
        return Position(micros, None if number is None else as_number(number))

    def _count_gap(self, count: int, last: int) -> None:
        before = self._from.number
        # What is missing before the first rows was deleted long ago, or never was.
        if before is None or before == self._config.incrementing_initial or last - before <= count:
            return
        self.skipped += last - before - count
        log.info(
            "%s: %d numbers up to %d are missing, %d since the start. A row that commits later"
            " with one of them is not read",
            self.origin,
            last - before - count,
            last,
            self.skipped,
        )

    # ------------------------------------------------------------------------------ many rows

    def _backlog(
        self, database: Database, layout: Layout, ends: Sequence[int], *, in_parts: bool
    ) -> Reading | None:
        """A chunk of a backlog, shared by the readers where an index makes that cheap."""
        ordering = _ordered(layout)
        (row,) = database.query(ordering.ends(self._from))
        if row[0] is None:
            return None  # Somebody has deleted them since we counted.
        first, last = map(as_number, row)
        stop = last
        if layout.ranged:
            # As dense as its first rows, the chunk ends here; if not, it is longer or shorter.
            width = max(1, ends[1] - ends[0]) * self._chunk_rows(in_parts=in_parts)
            stop = min(last, first + width // self._limits.counted_rows)
        if ordering.timestamps:
            end = self._at_time(database, ordering, stop)
        else:
            end = Position(number=stop)
        between = self._shares(layout, first, stop, ends)
        return self._reading(layout, between, end, more=stop < last)

    def _chunk_rows(self, *, in_parts: bool) -> int:
        limits = self._limits
        # The cost of a query is unknown: each chunk of it may scan all its tables.
        if self.origin.table is None or (in_parts and self._may_share):
            return limits.chunk_rows
        return min(limits.chunk_rows, limits.stored_rows)

    def _shares(self, layout: Layout, first: int, stop: int, ends: Sequence[int]) -> list[Position]:
        """Where one part ends and the next begins."""
        if not self._may_share or not layout.ranged:
            return []
        per_row = max(1, ends[1] - ends[0]) / self._limits.counted_rows
        bounds = cuts(first, stop, self._limits.parts((stop - first + 1) / per_row))
        timed = bool(_ordered(layout).timestamps)
        return [Position(micros=bound) if timed else Position(number=bound) for bound in bounds]

    @property
    def _may_share(self) -> bool:
        return (
            self._config.parallel_reads
            and self.origin.table is not None
            and not self._config.suffix
        )

    def _reading(
        self, layout: Layout, between: Sequence[Position], end: Position, *, more: bool
    ) -> Reading:
        """A reading up to the end, in parts that meet at the positions between."""
        ordering = _ordered(layout)
        lower = [[], *map(ordering.after, between)]
        upper = [*map(ordering.before, between), []]
        hint = "" if self._suffix_limits else f" {self._config.suffix}"
        whole = [*ordering.after(self._from), *ordering.until(end)]
        parts = tuple(
            f"{joined([*whole, *low, *high])} {ordering.order_by}{hint}".rstrip()
            for low, high in zip(lower, upper, strict=True)
        )
        self._position = end
        return Reading(layout, parts, end, more, tuple(between))

    @property
    def _suffix_limits(self) -> bool:
        return bool(_LIMITING.search(self._config.suffix))

    # ----------------------------------------------------------------------------------- bulk

    def _look_in_bulk(self, database: Database) -> Reading | None:
        layout = self._layout.checked(database)
        suffix = f" {self._config.suffix}".rstrip()
        if self.origin.table is None:
            return Reading(layout, (f"1 = 1{suffix}",), None, more=False)
        rows = f"SELECT 1 FROM {self.origin.source} ORDER BY 1"
        if not database.query(database.dialect.reading.limited(rows, 1)):
            return None
        return Reading(layout, tuple(self._bulk_parts(database, layout, suffix)), None, more=False)

    def _bulk_parts(self, database: Database, layout: Layout, suffix: str) -> list[str]:
        if layout.shared_by is None or not self._may_share:
            return [f"1 = 1{suffix}"]
        column = database.dialect.quote(layout.shared_by)
        sql = f"SELECT MIN({column}), MAX({column}) FROM {self.origin.source}"
        (row,) = database.query(sql)
        if row[0] is None or as_number(row[1]) - as_number(row[0]) < self._limits.shared_rows:
            return ["1 = 1"]
        first, last = map(as_number, row)
        bounds = cuts(first, last, self._limits.readers)
        lower = ["", *(f"{column} > {bound}" for bound in bounds)]
        upper = [*(f"{column} <= {bound}" for bound in bounds), ""]
        return [joined([*filter(None, pair)]) for pair in zip(lower, upper, strict=True)]


def as_number(value: Any) -> int:
    """A number, or the microseconds of a timestamp."""
    if isinstance(value, datetime):
        return (value - _EPOCH) // timedelta(microseconds=1)
    return int(value)


def _ordered(layout: Layout) -> Ordering:
    assert layout.ordering is not None, "mode bulk goes another way"  # noqa: S101
    return layout.ordering
