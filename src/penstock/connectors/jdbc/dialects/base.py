"""What differs between databases: names, SQL texts, and how Spark reads them.

What a dialect does not say itself is standard SQL and the driver's own conversions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from typing import ClassVar, Final

from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.tables import ColumnFacts, SqlType, TableId
from penstock.data.schema import Schema

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Driver:
    """A driver's class and where to get it."""

    class_name: str
    jar: str


class Received(Enum):
    """What Spark gets from the database for a column."""

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


class Dialect:
    """The reading half; dialects.writing has the other."""

    #: The values of `dialect.name` that stand for it.
    names: ClassVar[tuple[str, ...]] = ()
    #: The parts of JDBC URLs behind `jdbc:` that stand for it.
    schemes: ClassVar[tuple[str, ...]] = ()
    quote_mark: ClassVar[str] = '"'
    #: Whether the tables of a URL's database are all that is looked at unless a pattern says so.
    own_catalog_only: ClassVar[bool] = False
    #: Whether a result that is open keeps others from writing.
    results_lock: ClassVar[bool] = False

    def __init__(self, *, quoting: bool = True) -> None:
        self._quoting = quoting

    # ---------------------------------------------------------------------------------- names

    def quote(self, name: str) -> str:
        """An identifier as SQL has it."""
        if not self._quoting:
            return name
        mark = self.quote_mark
        return f"{mark}{name.replace(mark, mark * 2)}{mark}"

    def qualified(self, table: TableId) -> str:
        """The full name of a table as SQL has it."""
        return ".".join(map(self.quote, table.parts))

    def text(self, value: str) -> str:
        """A text as an SQL literal."""
        return "'" + value.replace("'", "''") + "'"

    # ----------------------------------------------------------------------------- connection

    def driver(self, settings: ConnectionSettings) -> Driver | None:
        """The driver for this URL; None if whichever accepts it will do."""
        del settings
        return None

    def driver_properties(self) -> dict[str, str]:
        """Settings every connection has unless its URL says otherwise: the driver's deadlines."""
        return {}

    def reading_properties(self) -> dict[str, str]:
        """The same for Spark's connections, which wait for the first row of a long query."""
        return self.driver_properties()

    def spark_url(self, settings: ConnectionSettings) -> str:
        """The URL by which Spark finds its own dialect."""
        return settings.url

    def spark_options(self, settings: ConnectionSettings, driver_class: str) -> dict[str, str]:
        """Options of Spark's JDBC source and sink, without the table."""
        options = {
            **_absent(self.reading_properties(), settings.url),
            **settings.properties,
            "url": self.spark_url(settings),
            "driver": driver_class,
        }
        if settings.user is not None:
            options["user"] = settings.user
        if settings.password is not None:
            options["password"] = settings.password.value
        statement = self.isolation_statement(settings.isolation) if settings.isolation else None
        if statement:
            options["sessionInitStatement"] = statement
        return options

    def properties(self, settings: ConnectionSettings) -> dict[str, str]:
        """Properties for the driver's connect()."""
        found = {**_absent(self.driver_properties(), settings.url), **settings.properties}
        if settings.user is not None:
            found["user"] = settings.user
        if settings.password is not None:
            found["password"] = settings.password.value
        return found

    def isolation_statement(self, level: str) -> str | None:
        """What sets the isolation level of a session; None if the database has no word for it."""
        return f"SET TRANSACTION ISOLATION LEVEL {level.replace('_', ' ')}"

    def fetch_size(self, settings: ConnectionSettings, rows: int) -> int:
        """The fetch size with which the driver streams, so that memory does not grow."""
        del settings
        return rows

    # --------------------------------------------------------------------------------- reading

    def limited(self, select: str, rows: int, *, offset: int = 0) -> str:
        """A SELECT with its ORDER BY, cut to some rows."""
        return f"{select} OFFSET {offset} ROWS FETCH NEXT {rows} ROWS ONLY"

    def selected(self, column: ColumnFacts) -> Selected:
        """How to select a column by its name."""
        return Selected(self.quote(column.name))

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
        return f"{{ts {self.text(wall_text(micros))}}}"

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


def wall_text(micros: int) -> str:
    """Microseconds since 1970-01-01 as `2021-12-05 06:57:48.000000`."""
    return (_EPOCH + timedelta(microseconds=micros)).strftime("%Y-%m-%d %H:%M:%S.%f").rjust(26, "0")


def _absent(properties: dict[str, str], url: str) -> dict[str, str]:
    """Properties that the URL does not set itself."""
    written = url.lower()
    return {name: value for name, value in properties.items() if f"{name.lower()}=" not in written}
