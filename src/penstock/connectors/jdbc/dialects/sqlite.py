"""SQLite: no server, and columns that hold values of any type."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

from penstock.connectors.jdbc.dialects.connecting import Connecting, Driver
from penstock.connectors.jdbc.dialects.creating import Creating
from penstock.connectors.jdbc.dialects.dialect import Dialect
from penstock.connectors.jdbc.dialects.faults import Faults
from penstock.connectors.jdbc.dialects.loading import ValueForm
from penstock.connectors.jdbc.dialects.merging import Merge, Merging
from penstock.connectors.jdbc.dialects.reading import Reading, Received, Selected, limit_clause
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.tables import ColumnFacts, SqlType
from penstock.kernel.data.schema import DATE, TIME, TIMESTAMP, SchemaType

_DRIVER: Final = Driver("org.sqlite.JDBC", "org.xerial:sqlite-jdbc")

# The driver takes a number in a date column for milliseconds, and writes them so; a text is ISO.
_MICROS: Final = (
    "CASE typeof({0}) WHEN 'null' THEN NULL WHEN 'integer' THEN {0} * 1000 WHEN 'real' THEN"
    " CAST(ROUND(({0} - 2440587.5) * 86400000) AS INTEGER) * 1000 ELSE"
    " CAST(strftime('%s', {0}) AS INTEGER) * 1000000"
    " + CAST(substr(strftime('%f', {0}), 4) AS INTEGER) * 1000 END"
)
_NOW: Final = "strftime('%Y-%m-%d %H:%M:%f', 'now')"


class SqliteConnecting(Connecting):
    def driver(self, settings: ConnectionSettings) -> Driver:
        del settings
        return _DRIVER

    def missing_file(self, settings: ConnectionSettings) -> str | None:
        name = settings.database
        if not name or name.startswith((":", "file:")):
            return None
        file = Path(name)
        return name if file.parent.is_dir() and not file.exists() else None

    def driver_properties(self) -> dict[str, str]:
        return {"busy_timeout": "30000"}

    def isolation_statement(self, level: str) -> str | None:
        return f"PRAGMA read_uncommitted = {'true' if level == 'READ_UNCOMMITTED' else 'false'}"


class SqliteReading(Reading):
    """Dates and times are numbers or texts, so SQLite makes numbers of all of them."""

    def limited(self, select: str, rows: int, *, offset: int = 0) -> str:
        return limit_clause(select, rows, offset)

    def selected(self, column: ColumnFacts) -> Selected:
        name = self.notation.quote(column.name)
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


class SqliteCreating(Creating):
    """Three kinds of number, and no statement for several columns."""

    types: ClassVar[dict[SchemaType | str, str]] = {
        **dict.fromkeys(
            (
                SchemaType.INT8,
                SchemaType.INT16,
                SchemaType.INT32,
                SchemaType.INT64,
                SchemaType.BOOLEAN,
            ),
            "INTEGER",
        ),
        SchemaType.FLOAT32: "REAL",
        SchemaType.FLOAT64: "REAL",
        SchemaType.STRING: "TEXT",
        SchemaType.BYTES: "BLOB",
        **dict.fromkeys((DATE, TIME, TIMESTAMP), "NUMERIC"),
    }
    decimal_type: ClassVar[str] = "NUMERIC"
    key_text_type: ClassVar[str] = "TEXT"


class SqliteMerging(Merging):
    def upsert(self, merge: Merge) -> list[str]:
        columns = self.notation.quoted(merge.columns)
        # Without WHERE the parser takes ON for a part of a join.
        return [
            f"INSERT INTO {merge.target} ({columns}) SELECT {columns} FROM {merge.staging}"
            f" WHERE true {self.on_conflict(merge)}"
        ]


class SqliteDialect(Dialect):
    """A database is a file."""

    names = ("SqliteDatabaseDialect",)
    schemes = ("sqlite",)
    example_urls = ("jdbc:sqlite:/data/shop.db",)
    results_lock = True

    connecting_class = SqliteConnecting
    reading_class = SqliteReading
    creating_class = SqliteCreating
    merging_class = SqliteMerging
    # The driver stores times so, and reads them so.
    batch_form = ValueForm(times_as_millis=True)
    own_faults = Faults(
        # There are no SQLSTATEs: a constraint, a type, a size.
        wrong_row_codes={"": frozenset({18, 19, 20})},
        driver_classes="SQLite",
        wrong_row_words=r"\[SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG)",
    )
