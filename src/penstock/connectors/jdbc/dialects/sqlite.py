"""SQLite: no server, and columns that hold whatever was put into them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from penstock.connectors.jdbc.dialects.base import Dialect, Driver, Received, Selected
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.tables import ColumnFacts, SqlType

_DRIVER: Final = Driver("org.sqlite.JDBC", "org.xerial:sqlite-jdbc")

# The driver takes a number in a date column for milliseconds, and writes them so; a text is ISO.
_MICROS: Final = (
    "CASE typeof({0}) WHEN 'null' THEN NULL WHEN 'integer' THEN {0} * 1000 WHEN 'real' THEN"
    " CAST(ROUND(({0} - 2440587.5) * 86400000) AS INTEGER) * 1000 ELSE"
    " CAST(strftime('%s', {0}) AS INTEGER) * 1000000"
    " + CAST(substr(strftime('%f', {0}), 4) AS INTEGER) * 1000 END"
)
_NOW: Final = "strftime('%Y-%m-%d %H:%M:%f', 'now')"


class SqliteDialect(Dialect):
    """A database is a file."""

    names = ("SqliteDatabaseDialect",)
    schemes = ("sqlite",)
    results_lock = True

    def driver(self, settings: ConnectionSettings) -> Driver:
        del settings
        return _DRIVER

    def driver_properties(self) -> dict[str, str]:
        return {"busy_timeout": "30000"}

    def isolation_statement(self, level: str) -> str | None:
        return f"PRAGMA read_uncommitted = {'true' if level == 'READ_UNCOMMITTED' else 'false'}"

    def limited(self, select: str, rows: int, *, offset: int = 0) -> str:
        return f"{select} LIMIT {rows} OFFSET {offset}" if offset else f"{select} LIMIT {rows}"

    def selected(self, column: ColumnFacts) -> Selected:
        name = self.quote(column.name)
        micros = _MICROS.format(name)
        match column.type:
            case SqlType.TIMESTAMP:
                return Selected(micros, Received.WALL_MICROS)
            case SqlType.DATE:
                # Before 1970 a division must go down, not towards zero.
                days = f"CAST(FLOOR(({micros}) / 86400000000.0) AS INTEGER)"
                return Selected(days, Received.DAYS)
            case SqlType.TIME:
                of_day = f"((({micros}) % 86400000000) + 86400000000) % 86400000000"
                return Selected(of_day, Received.TIME_MICROS)
        return Selected(name)

    def timestamp_micros(self, expression: str, columns: Sequence[ColumnFacts]) -> str:
        del columns
        return _MICROS.format(expression)

    def comparable(self, expression: str) -> str:
        # Texts and numbers don't compare, and both may be there.
        return f"({_MICROS.format(expression)})"

    def timestamp_literal(self, micros: int, columns: Sequence[ColumnFacts]) -> str:
        del columns
        return str(micros)

    def now(self, delay_ms: int, columns: Sequence[ColumnFacts], zone: str) -> str:
        del columns, zone
        clock = f"({_MICROS.format(_NOW)})"
        return f"({clock} - {delay_ms * 1000})"

    def clock_micros(self, clock: str, columns: Sequence[ColumnFacts]) -> str:
        del columns
        return clock
