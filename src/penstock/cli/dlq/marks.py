"""Which letters were replayed: committed offsets of a consumer group, and a note beside each.

The offset says that all letters before it were replayed; the note has those behind it, as ranges.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from penstock.kernel.errors import ConflictError

#: Brokers take notes of 4096 bytes (`offset.metadata.max.bytes`).
MOST_NOTE: Final = 4000
_RANGE: Final = re.compile(r"(\d+)-(\d+)")


def group_of(topic: str) -> str:
    """The consumer group that has the marks of a dead letter topic."""
    return f"penstock-dlq-{topic}"


@dataclass(frozen=True, slots=True)
class Replayed:
    """The replayed offsets of one partition: all before `floor`, and ranges [start, end)."""

    floor: int = 0
    ranges: tuple[tuple[int, int], ...] = ()

    @classmethod
    def parse(cls, offset: int, note: str) -> Replayed:
        """From what is stored; a note in another form is ignored."""
        found = [(int(start), int(end) + 1) for start, end in _RANGE.findall(note)]
        return cls(offset, tuple(found))

    def __contains__(self, offset: int) -> bool:
        return offset < self.floor or any(start <= offset < end for start, end in self.ranges)

    def after(self, offsets: Iterable[int]) -> Replayed:
        """The same with these offsets added."""
        floor = self.floor
        merged: list[tuple[int, int]] = []
        for start, end in sorted([*self.ranges, *((each, each + 1) for each in offsets)]):
            if start <= floor:
                floor = max(floor, end)
            elif merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((start, end))
        return Replayed(floor, tuple(merged))

    @property
    def note(self) -> str:
        """The text to store beside the floor."""
        return ",".join(f"{start}-{end - 1}" for start, end in self.ranges)

    def check(self) -> None:
        """Raises ConflictError if the note is longer than brokers take."""
        if len(self.note) > MOST_NOTE:
            raise ConflictError(
                "the replayed letters are too scattered to be marked; replay those in between"
                " first (with fewer filters), or use --again, which marks nothing"
            )
