"""MariaDB and MySQL, with the drivers of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from penstock.connectors.jdbc.dialects.base import Dialect, Driver, Received, Selected, wall_text
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.tables import ColumnFacts, SqlType

_MARIADB: Final = Driver("org.mariadb.jdbc.Driver", "org.mariadb.jdbc:mariadb-java-client")
_MYSQL: Final = Driver("com.mysql.cj.jdbc.Driver", "com.mysql:mysql-connector-j")
_STREAM: Final = -(2**31)

# The database does the arithmetic: drivers shift timestamps by their idea of a time zone, and
# stumble over zero dates, for which these give NULL.
_EXPRESSIONS: Final = {
    SqlType.DATE: ("TO_DAYS({}) - 719528", Received.DAYS),
    SqlType.TIME: (
        "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ADDTIME('1970-01-01 00:00:00', {}))",
        Received.TIME_MICROS,
    ),
    SqlType.TIMESTAMP: ("TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {})", Received.WALL_MICROS),
}


class MySqlDialect(Dialect):
    """Identifiers in back quotes; a table belongs to a catalog."""

    names = ("MySqlDatabaseDialect",)
    schemes = ("mysql", "mariadb")
    quote_mark = "`"
    own_catalog_only = True

    def text(self, value: str) -> str:
        return super().text(value.replace("\\", "\\\\"))

    def driver(self, settings: ConnectionSettings) -> Driver:
        if settings.scheme == "mariadb" or "permitmysqlscheme" in settings.url.lower():
            return _MARIADB
        return _MYSQL

    def driver_properties(self) -> dict[str, str]:
        return {"connectTimeout": "30000", "tinyInt1isBit": "true"}

    def reading_properties(self) -> dict[str, str]:
        return {**self.driver_properties(), "socketTimeout": "1800000"}

    def spark_url(self, settings: ConnectionSettings) -> str:
        # With its own scheme Spark quotes columns as MariaDB quotes texts.
        if settings.scheme != "mariadb" or "permitmysqlscheme" in settings.url.lower():
            return settings.url
        mark = "&" if "?" in settings.url else "?"
        rest = settings.url.split(":", 2)[2]
        return f"jdbc:mysql:{rest}{mark}permitMysqlScheme=true"

    def isolation_statement(self, level: str) -> str | None:
        return f"SET SESSION TRANSACTION ISOLATION LEVEL {level.replace('_', ' ')}"

    def fetch_size(self, settings: ConnectionSettings, rows: int) -> int:
        # MySQL's driver streams with this number only; with any other it holds all rows.
        return _STREAM if self.driver(settings) is _MYSQL else rows

    def limited(self, select: str, rows: int, *, offset: int = 0) -> str:
        return f"{select} LIMIT {rows} OFFSET {offset}" if offset else f"{select} LIMIT {rows}"

    def selected(self, column: ColumnFacts) -> Selected:
        name = self.quote(column.name)
        if column.type_name == "year":
            # The drivers call a year a date: its first of January.
            return Selected(f"TO_DAYS(MAKEDATE(NULLIF({name}, 0), 1)) - 719528", Received.DAYS)
        if column.type in _EXPRESSIONS:
            expression, received = _EXPRESSIONS[SqlType(column.type)]
            return Selected(expression.format(name), received)
        return Selected(name)

    def timestamp_micros(self, expression: str, columns: Sequence[ColumnFacts]) -> str:
        del columns
        return f"TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {expression})"

    def timestamp_literal(self, micros: int, columns: Sequence[ColumnFacts]) -> str:
        del columns
        return f"TIMESTAMP{self.text(wall_text(micros))}"

    def now(self, delay_ms: int, columns: Sequence[ColumnFacts], zone: str) -> str:
        del zone  # The server's clock is what its rows were written by.
        # Finer than the column's own clock would let a row pass that another of the same time
        # follows. What has 19 characters counts seconds.
        digits = min((max(0, each.precision - 20) for each in columns), default=0)
        clock = f"CURRENT_TIMESTAMP({min(digits, 6)})"
        return f"{clock} - INTERVAL {delay_ms * 1000} MICROSECOND" if delay_ms else clock
