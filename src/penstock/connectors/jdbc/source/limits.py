"""How much a source reads at once, and in how many parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: Spark reports which tasks of a job have ended only for its last 200.
MOST_PARTS: Final = 100


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is read at once.

    Attributes:
        counted_rows: new rows are counted up to here; with more there is a backlog.
        chunk_rows: about so many rows of a backlog are read in one go.
        stored_rows: after about so many rows an offset is stored, within a chunk if need be.
        part_rows: a part of a chunk has no less: each needs a connection and a query.
        shared_rows: from so many rows on, several readers share them.
        readers: how many readers there are.
    """

    counted_rows: int = 10_000
    chunk_rows: int = 1_000_000
    stored_rows: int = 100_000
    part_rows: int = 10_000
    shared_rows: int = 50_000
    readers: int = 1

    @property
    def chunk_parts(self) -> int:
        """In how many parts a chunk is read.

        An offset is stored after each, so none is longer than `stored_rows`; and all that are
        read at a time have at most twice as many rows.
        """
        rows = max(2 * self.stored_rows // max(2, self.readers), self.part_rows)
        return min(max(self.readers, self.chunk_rows // rows), MOST_PARTS)

    def parts(self, rows: float) -> int:
        """In how many parts so many rows are read.

        Few different numbers, because each is a plan of its own.
        """
        if rows < self.shared_rows:
            return 1
        return self.chunk_parts if rows >= self.chunk_parts * self.part_rows else self.readers


def cuts(first: int, last: int, readers: int) -> list[int]:
    """Where to cut [first, last] into so many ranges of one width; each ends at its cut."""
    width = (last - first + 1) / readers
    places = {first - 1 + int(width * number) for number in range(1, readers)}
    return sorted(place for place in places if first <= place < last)
