"""A file's values with their lines, in any format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.kernel.errors import PenstockError


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text, number or boolean as it is written; None is null."""

    line: int
    text: str | None


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    line: int
    items: Sequence[Node]


@dataclass(frozen=True, slots=True)
class Entry:
    """A key with its value. A file may have a key twice; its reader must reject that."""

    line: int
    key: str
    value: Node


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping. Its own entries replace the `inherited` ones, of YAML's merge keys."""

    line: int
    entries: Sequence[Entry]
    inherited: Sequence[Entry] = ()

    def find(self, key: str) -> Entry | None:
        """The entry of a key."""
        return next((entry for entry in self if entry.key == key), None)

    def __iter__(self) -> Iterator[Entry]:
        """Its own entries, then the inherited ones that they do not replace."""
        own = {entry.key for entry in self.entries}
        yield from self.entries
        yield from (entry for entry in self.inherited if entry.key not in own)

    def repeated(self) -> list[Entry]:
        """Entries whose key occurred before."""
        seen: set[str] = set()
        found = []
        for entry in self.entries:
            if entry.key in seen:
                found.append(entry)
            seen.add(entry.key)
        return found


Node = Scalar | Items | Table


class SyntaxProblemError(PenstockError):
    """The text is not in the format of its file."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line
