"""MariaDB and MySQL, with the drivers of both."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from penstock.connectors.jdbc.dialects.connecting import Connecting, Driver
from penstock.connectors.jdbc.dialects.creating import Creating, NewColumn
from penstock.connectors.jdbc.dialects.dialect import Dialect
from penstock.connectors.jdbc.dialects.faults import Faults
from penstock.connectors.jdbc.dialects.literals import literal
from penstock.connectors.jdbc.dialects.loading import (
    Loader,
    LoadingDatabase,
    TableToLoad,
    ValueForm,
    load_lines,
)
from penstock.connectors.jdbc.dialects.merging import TOMBSTONE, Merge, Merging, WriteMode
from penstock.connectors.jdbc.dialects.reading import (
    Reading,
    Received,
    Selected,
    limit_clause,
    wall_text,
)
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.spool import count_lines
from penstock.connectors.jdbc.tables import ColumnFacts, SqlType
from penstock.kernel.data.schema import DATE, TIME, TIMESTAMP, SchemaType
from penstock.kernel.errors import RefusedError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame

log = logging.getLogger(__name__)

_MARIADB: Final = Driver("org.mariadb.jdbc.Driver", "org.mariadb.jdbc:mariadb-java-client")
_MYSQL: Final = Driver("com.mysql.cj.jdbc.Driver", "com.mysql:mysql-connector-j")
_STREAM: Final = -(2**31)
_FROM_HEX: Final = "UNHEX({})"
_FROM_NUMBER: Final = "CAST({} AS SIGNED)"

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


class MySqlConnecting(Connecting):
    def driver(self, settings: ConnectionSettings) -> Driver:
        if settings.scheme == "mariadb" or "permitmysqlscheme" in settings.url.lower():
            return _MARIADB
        return _MYSQL

    def driver_properties(self) -> dict[str, str]:
        return {"connectTimeout": "30000", "tinyInt1isBit": "true"}

    def reading_properties(self) -> dict[str, str]:
        return {**self.driver_properties(), "socketTimeout": "1800000"}

    def loading_properties(self) -> dict[str, str]:
        # Both drivers' words for "this client may send files".
        return {"allowLocalInfile": "true", "allowLoadLocalInfile": "true"}

    def batch_properties(self) -> dict[str, str]:
        return {"rewriteBatchedStatements": "true"}

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


class MySqlReading(Reading):
    """The server makes numbers of all dates and times."""

    def limited(self, select: str, rows: int, *, offset: int = 0) -> str:
        return limit_clause(select, rows, offset)

    def selected(self, column: ColumnFacts) -> Selected:
        name = self.notation.quote(column.name)
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
        return f"TIMESTAMP{self.notation.text(wall_text(micros))}"

    def now(self, delay_ms: int, columns: Sequence[ColumnFacts], zone: str) -> str:
        del zone  # The server's clock is what its rows were written by.
        # Finer than the column's own clock would let a row pass that another of the same time
        # follows. What has 19 characters counts seconds.
        digits = min((max(0, each.precision - 20) for each in columns), default=0)
        clock = f"CURRENT_TIMESTAMP({min(digits, 6)})"
        return f"{clock} - INTERVAL {delay_ms * 1000} MICROSECOND" if delay_ms else clock


class MySqlCreating(Creating):
    types: ClassVar[dict[SchemaType | str, str]] = {
        SchemaType.INT8: "TINYINT",
        SchemaType.INT16: "SMALLINT",
        SchemaType.INT32: "INT",
        SchemaType.INT64: "BIGINT",
        SchemaType.FLOAT32: "FLOAT",
        SchemaType.FLOAT64: "DOUBLE",
        SchemaType.BOOLEAN: "TINYINT",
        SchemaType.STRING: "TEXT",
        SchemaType.BYTES: "VARBINARY(1024)",
        DATE: "DATE",
        TIME: "TIME(3)",
        TIMESTAMP: "DATETIME(3)",
    }
    decimal_type: ClassVar[str] = "DECIMAL(65,{scale})"
    # A text of any length can't be indexed; this is the longest that fits into every row format.
    key_text_type: ClassVar[str] = "VARCHAR(256)"
    adds_many: ClassVar[bool] = True

    def default(self, column: NewColumn) -> str:
        text = literal(column.schema, column.schema.default, backslashes=True)
        # A TEXT may have an expression as its default, but no literal.
        return f"({text})" if self.column_type(column) == "TEXT" else text


class MySqlMerging(Merging):
    """A temporary table can't stand twice in one of MySQL's statements."""

    def create_staging(
        self, staging: str, target: str, columns: Sequence[NewColumn], *, private: bool
    ) -> str:
        wanted = self.notation.quoted([column.name for column in columns], "t.")
        # From the outer side of a join the columns come without NOT NULL.
        return (
            f"CREATE {'TEMPORARY ' if private else ''}TABLE {staging}"
            f" (PRIMARY KEY ({self.sequence})) AS SELECT {wanted},"
            f" 9223372036854775807 AS {self.sequence}, 0 AS {self.notation.quote(TOMBSTONE)}"
            f" FROM (SELECT 1) one LEFT JOIN {target} t ON FALSE LIMIT 0"
        )

    def index_staging(self, merge: Merge) -> list[str]:
        del merge
        return []

    def merge(self, merge: Merge) -> list[str]:
        texts = self._deletes(merge) if merge.deletes else []
        match merge.mode:
            case WriteMode.INSERT:
                return [*texts, self.insert(merge)]
            case WriteMode.UPSERT:
                return [*texts, *self.upsert(merge)]
            case WriteMode.UPDATE:
                return [*texts, *self._updates(merge)]

    def _deletes(self, merge: Merge) -> list[str]:
        last = self.notation.quote("penstock_gone_keys")
        same = self.same(merge.keys, "g", "t")
        return [
            f"DROP TEMPORARY TABLE IF EXISTS {last}",
            self._last(merge, last, f" WHERE {self.is_tombstone('s')}"),
            f"DELETE t FROM {merge.target} t JOIN {last} g ON {same}",
            f"DELETE t FROM {merge.staging} t JOIN {last} g ON {same}"
            f" WHERE t.{self.sequence} <= g.{self.sequence}",
            f"DROP TEMPORARY TABLE {last}",
        ]

    def _last(self, merge: Merge, table: str, where: str) -> str:
        keys = self.notation.quoted(merge.keys)
        return (
            f"CREATE TEMPORARY TABLE {table} AS SELECT {keys}, MAX({self.sequence})"
            f" AS {self.sequence} FROM {merge.staging} s{where} GROUP BY {keys}"
        )

    def upsert(self, merge: Merge) -> list[str]:
        # The rows come in their order, so the last one of a key wins without more ado.
        names = map(self.notation.quote, merge.changed)
        values = ", ".join(f"{name} = VALUES({name})" for name in names)
        return [f"{self.insert(merge)} ON DUPLICATE KEY UPDATE {values}"]

    def _updates(self, merge: Merge) -> list[str]:
        last = self.notation.quote("penstock_last_keys")
        names = map(self.notation.quote, merge.changed)
        values = ", ".join(f"t.{name} = s.{name}" for name in names)
        return [
            f"DROP TEMPORARY TABLE IF EXISTS {last}",
            self._last(merge, last, ""),
            f"UPDATE {merge.target} t JOIN {last} l ON {self.same(merge.keys, 'l', 't')}"
            f" JOIN {merge.staging} s ON s.{self.sequence} = l.{self.sequence} SET {values}",
            f"DROP TEMPORARY TABLE {last}",
        ]


class LoadDataLoader:
    """LOAD DATA LOCAL.

    With LOCAL the server can't refuse a row: it drops or changes it, and warns. What another
    statement would have refused is refused here, before the commit.

    Args:
        strict: whether the server's mode has other statements refuse what does not fit.
    """

    form = ValueForm(lines=True)
    in_transaction = True

    def __init__(self, database: LoadingDatabase, dialect: Dialect, *, strict: bool) -> None:
        self._database = database
        self._dialect = dialect
        self._strict = strict

    def load(self, rows: DataFrame, table: TableToLoad, *, few: bool) -> int:
        return load_lines(rows, lambda part: self._load(part, table), few=few)

    def _load(self, part: Path, table: TableToLoad) -> int:
        loaded = self._database.execute(self._statement(part, table))
        warnings = self._database.query("SHOW WARNINGS LIMIT 20")
        serious = [str(row[2]) for row in warnings if str(row[0]) != "Note"]
        dropped = count_lines(part) - loaded
        if dropped or (self._strict and serious):
            why = serious[0] if serious else f"{dropped} rows were rejected"
            raise RefusedError(f"table {table.name}: {why}", self._dialect.faults.row_in(why))
        return loaded

    def _statement(self, part: Path, table: TableToLoad) -> str:
        quote = self._dialect.quote
        texts = {
            name: f"@t{number}"
            for number, name in enumerate(table.columns)
            if name in table.binary | table.bits
        }
        names = [texts.get(name) or quote(name) for name in table.columns]
        made = [
            f"{quote(name)} = {(_FROM_HEX if name in table.binary else _FROM_NUMBER).format(text)}"
            for name, text in texts.items()
        ]
        return (
            f"LOAD DATA LOCAL INFILE {self._dialect.text(str(part))} INTO TABLE {table.name}"
            " CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\'"
            f" LINES TERMINATED BY '\\n' ({', '.join(names)})"
            + (f" SET {', '.join(made)}" if made else "")
        )


class MySqlDialect(Dialect):
    """Identifiers in back quotes; a table belongs to a catalog."""

    names = ("MySqlDatabaseDialect",)
    schemes = ("mysql", "mariadb")
    example_urls = ("jdbc:mysql://host:3306/shop", "jdbc:mariadb://host/shop")
    quote_mark = "`"
    own_catalog_only = True

    connecting_class = MySqlConnecting
    reading_class = MySqlReading
    creating_class = MySqlCreating
    merging_class = MySqlMerging
    own_faults = Faults(
        # A value that does not fit its column, a check, a row that is too big.
        wrong_row_codes={
            "HY000": frozenset({1366, 1364, 1411, 3819, 4025}),
            "01000": frozenset({1265}),
            "42000": frozenset({1118, 1153}),
        },
        row_words=r"\bat row",
    )

    def text(self, value: str) -> str:
        return super().text(value.replace("\\", "\\\\"))

    def bulk_loader(self, database: LoadingDatabase) -> Loader | None:
        [(files, mode)] = database.query("SELECT @@local_infile, @@sql_mode")
        if int(files):
            return LoadDataLoader(database, self, strict="STRICT_" in str(mode))
        log.info("The server has local_infile=OFF: rows are written as JDBC batches")
        return None
