"""The SQL of reading: how columns are selected, rows limited, and times compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from typing import Final

from penstock.connectors.jdbc.dialects.notation import Notation
from penstock.connectors.jdbc.tables import ColumnFacts, SqlType
from penstock.kernel.data.schema import Schema

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Received(Enum):
    """How Spark reads a column from the database."""

    AS_IS = auto()
    #: Days since 1970-01-01 as a whole number.
    DAYS = auto()
    #: Microseconds of the day as a whole number.
    TIME_MICROS = auto()
    #: The same of the day in UTC.
    UTC_TIME_MICROS = auto()
    #: Microseconds since 1970-01-01 as the clock on the wall showed them, as a whole number.
    WALL_MICROS = auto()
    #: Microseconds since 1970-01-01 in UTC, as a whole number.
    UTC_MICROS = auto()


@dataclass(frozen=True, slots=True)
class Selected:
    """How a column is selected: an SQL expression, and what comes of it."""

    sql: str
    received: Received = Received.AS_IS


class Reading:
    """Standard SQL and the driver's own conversions."""

    def __init__(self, notation: Notation) -> None:
        self.notation = notation

    def limited(self, select: str, rows: int, *, offset: int = 0) -> str:
        """A SELECT with its ORDER BY, cut to some rows."""
        return f"{select} OFFSET {offset} ROWS FETCH NEXT {rows} ROWS ONLY"

    def select_value(self, expression: str) -> str:
        """A query whose one row has the value of an expression."""
        return f"SELECT {expression}"

    def selected(self, column: ColumnFacts) -> Selected:
        """How to select a column by its name."""
        return Selected(self.notation.quote(column.name))

    def field_schema(self, column: ColumnFacts) -> Schema | None:
        """The schema of a column that only this database has; None for the common rules."""
        del column
        return None

    def is_instant(self, column: ColumnFacts) -> bool:
        """Whether a timestamp column knows its time zone."""
        return column.type == SqlType.TIMESTAMP_WITH_TIMEZONE

    def timestamp_micros(self, expression: str, columns: Sequence[ColumnFacts]) -> str:
        """A timestamp as microseconds since 1970-01-01, for the driver's own questions.

        Standard SQL has no word for it: there it is the timestamp itself.
        """
        del columns
        return expression

    def comparable(self, expression: str) -> str:
        """A timestamp in the form in which it is compared with timestamp_literal() and now()."""
        return expression

    def timestamp_literal(self, micros: int, columns: Sequence[ColumnFacts]) -> str:
        """A point in time to compare these columns with."""
        del columns
        return f"{{ts {self.notation.text(wall_text(micros))}}}"

    def now(self, delay_ms: int, columns: Sequence[ColumnFacts], zone: str) -> str:
        """The database's clock, so many milliseconds ago, in the resolution of the columns.

        `zone`: of columns that don't know their own; for databases that have no clock but UTC's.
        """
        del columns, zone
        if not delay_ms:
            return "CURRENT_TIMESTAMP"
        return f"CURRENT_TIMESTAMP - INTERVAL '{delay_ms / 1000:.3f}' SECOND"

    def clock_micros(self, clock: str, columns: Sequence[ColumnFacts]) -> str:
        """What now() gave, as timestamp_micros() has timestamps."""
        return self.timestamp_micros(clock, columns)


def limit_clause(select: str, rows: int, offset: int) -> str:
    """The LIMIT that MySQL, PostgreSQL, SQLite and others have instead of FETCH NEXT."""
    return f"{select} LIMIT {rows} OFFSET {offset}" if offset else f"{select} LIMIT {rows}"


def wall_text(micros: int) -> str:
    """Microseconds since 1970-01-01 as `2021-12-05 06:57:48.000000`."""
    return (_EPOCH + timedelta(microseconds=micros)).strftime("%Y-%m-%d %H:%M:%S.%f").rjust(26, "0")
