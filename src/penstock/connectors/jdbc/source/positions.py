"""How far a table was read, and how that is stored: Connect's offsets and partitions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from penstock.connectors.jdbc.source.config import Mode
from penstock.connectors.jdbc.tables import TableId
from penstock.kernel.errors import DataError

QUERY_PARTITION: Final = {"query": "query"}
#: In an offset: what it was read from, where the partition does not say. All queries have one
#: partition, and a table of SQLite has the same name in every file.
SOURCE_MARK: Final = "source_hash"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_WALL_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - a clock on a wall has no time zone
_MICRO: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Position:
    """The last row that was read; None where nothing is known.

    Attributes:
        micros: its timestamp in microseconds, as the database's wall clock shows it, or in UTC
            for columns that know their time zone.
    """

    micros: int | None = None
    number: int | None = None

    def __str__(self) -> str:
        """For the log."""
        parts = [] if self.micros is None else [_moment(self.micros)]
        parts += [] if self.number is None else [f"number {self.number}"]
        return f"behind {', '.join(parts)}" if parts else "the beginning"


@dataclass(frozen=True, slots=True)
class OffsetForm:
    """Between positions and Connect's offset maps.

    Attributes:
        zone: the time zone of the wall clock; None for timestamps that know their own.
    """

    mode: Mode
    zone: ZoneInfo | None = None

    def offset(self, position: Position) -> dict[str, Any]:
        """The map to store for a position."""
        found: dict[str, Any] = {}
        if self.mode.has_timestamp and position.micros is not None:
            micros = self._utc(position.micros)
            found["timestamp_nanos"] = micros % 1_000_000 * 1000
            found["timestamp"] = micros // 1000
        if self.mode.has_incrementing and position.number is not None:
            found["incrementing"] = position.number
        return found

    def position(self, offset: Mapping[str, Any]) -> Position:
        """The position that a stored map stands for.

        Raises:
            DataError: it is none that a JDBC source stores.
        """
        check_offset(offset)
        number = offset.get("incrementing") if self.mode.has_incrementing else None
        millis = offset.get("timestamp") if self.mode.has_timestamp else None
        if millis is None:
            return Position(number=number)
        # The nanoseconds are those of the second; offsets of old have none.
        nanos = offset.get("timestamp_nanos")
        micros = millis * 1000
        if nanos is not None:
            micros = millis // 1000 * 1_000_000 + nanos // 1000
        return Position(self._wall(micros), number)

    def at(self, millis: int) -> Position:
        """The position of a time in milliseconds since 1970."""
        return Position(micros=self._wall(millis * 1000))

    def _utc(self, micros: int) -> int:
        if self.zone is None:
            return micros
        wall = (_WALL_EPOCH + micros * _MICRO).replace(tzinfo=self.zone)
        moment = (wall - _EPOCH) // _MICRO
        if self._wall(moment) <= micros:
            return moment
        # Clocks skip this time when summer begins. Stored so it would come back as a later one,
        # and rows up to that would be lost; as an earlier one it only repeats some.
        return (wall.replace(fold=1) - _EPOCH) // _MICRO

    def _wall(self, micros: int) -> int:
        if self.zone is None:
            return micros
        moment = (_EPOCH + micros * _MICRO).astimezone(self.zone)
        return (moment.replace(tzinfo=None) - _WALL_EPOCH) // _MICRO


def source_mark(*texts: str) -> str:
    """A short text that other texts do not have."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def table_partition(table: TableId) -> dict[str, Any]:
    """The source partition of a table."""
    return {"protocol": "1", "table": str(table)}


def older_partitions(table: TableId) -> list[dict[str, Any]]:
    """Other ways in which a table's partition was written, the best first.

    A driver that does not name the catalog or schema made shorter names, and the first protocol
    had the bare name only.
    """
    shorter = [TableId(table.name, table.schema), TableId(table.name)]
    named = [table_partition(each) for each in shorter if str(each) != str(table)]
    return [*named, {"table": table.name}]


def check_offset(offset: Mapping[str, Any]) -> None:
    """Raise DataError if this is not an offset of a JDBC source."""
    known = {"incrementing", "timestamp", "timestamp_nanos"}
    unknown = sorted(offset.keys() - known - {SOURCE_MARK})
    if unknown or not offset:
        raise DataError(
            f"a JDBC source's offset has the keys {', '.join(sorted(known))}, not"
            f" {', '.join(unknown) or 'none'}"
        )
    for name in offset.keys() & known:
        value = offset[name]
        if not isinstance(value, int) or isinstance(value, bool):
            raise DataError(f"the offset's {name} is {value!r}, not a whole number")
    if not 0 <= offset.get("timestamp_nanos", 0) < 1_000_000_000:
        raise DataError("the offset's timestamp_nanos are those of one second: 0 to 999999999")


def check_partition(partition: Mapping[str, Any]) -> None:
    """Raise DataError if this is not a partition of a JDBC source."""
    if dict(partition) == QUERY_PARTITION:
        return
    if not isinstance(partition.get("table"), str) or partition.keys() - {"table", "protocol"}:
        raise DataError(
            'a JDBC source\'s partition is {"protocol": "1", "table": "<full name>"} or'
            f' {{"query": "query"}}, not {dict(partition)}'
        )
    if partition.get("protocol", "1") != "1":
        raise DataError(f"protocol {partition['protocol']!r} is not supported; use 1")


def _moment(micros: int) -> str:
    try:
        return str(_WALL_EPOCH + micros * _MICRO)
    except OverflowError:
        return f"the moment {micros} µs after 1970"
