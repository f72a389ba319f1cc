"""A file that grows: finds whole lines that were not read yet."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from penstock.connectors.file.lines import first_line_end, last_line_end, size_of

log = logging.getLogger(__name__)

_SAMPLE_BYTES: Final = 64 << 10


@dataclass(frozen=True, slots=True)
class LineRange:
    """Whole lines: the bytes [start, end) of a file. `more`: there are more already."""

    path: str
    start: int
    end: int
    more: bool

    @property
    def length(self) -> int:
        return self.end - self.start


class GrowingFile:
    """How far a file has been read, and what there is to read next. For one thread."""

    def __init__(self, path: str, position: int) -> None:
        self._path = path
        self._position = position
        # No line ends between position and here, unless in a "\r" that is the last byte.
        self._searched = position
        self._complaint = ""

    def grown_to(self) -> int | None:
        """The length of the file if it may have new lines. Costs one look at the directory."""
        size = size_of(self._path)
        if size is None:
            self._complain("does not exist; waiting for it to be created")
            return None
        if size < self._position:
            self._complain(
                f"has {size} bytes, but {self._position} were read already: it was cut or replaced."
                " Waiting for it to grow; to read it from its start, reset the connector's offsets"
            )
            return None
        self._complaint = ""
        if size < self._searched:
            self._searched = self._position
        return size if size > self._searched else None

    def length_of(self, lines: int) -> int:
        """About how many bytes the next so many lines have, judged by the first of them."""
        with contextlib.suppress(FileNotFoundError), Path(self._path).open("rb") as stream:
            stream.seek(self._position)
            sample = stream.read(_SAMPLE_BYTES)
            ends = max(sample.count(b"\n"), sample.count(b"\r"), 1)
            return lines * max(1, len(sample) // ends)
        return lines

    def take(self, size: int, limit: int) -> LineRange | None:
        """The next whole lines, at most `limit` bytes of them or one that is longer.

        They count as read: the next call goes on behind them.
        """
        try:
            with Path(self._path).open("rb") as stream:
                end = self._last_end(stream, size, limit)
        except (FileNotFoundError, EOFError):
            return None  # It changed under us: the next look says how.
        self._searched = size if end is None else end
        if end is None:
            return None
        # Within the limit everything but an unfinished line is taken.
        found = LineRange(self._path, self._position, end, more=size > self._position + limit)
        self._position = end
        return found

    def _last_end(self, stream: BinaryIO, size: int, limit: int) -> int | None:
        begin = max(self._position, self._searched - 1)
        stop = min(size, self._position + limit)
        end = last_line_end(stream, begin, stop)
        if end > begin:
            return end
        # No line ends within the limit; the "\r" that may stand at its end counts now.
        begin = max(begin, stop - 1)
        end = first_line_end(stream, begin, size)
        return end if end > begin else None

    def _complain(self, complaint: str) -> None:
        if complaint != self._complaint:
            log.warning("File %s %s", self._path, complaint)
            self._complaint = complaint
