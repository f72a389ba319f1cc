"""PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from penstock.connectors.jdbc.dialects.connecting import Connecting, Driver
from penstock.connectors.jdbc.dialects.creating import Creating, NewColumn
from penstock.connectors.jdbc.dialects.dialect import Dialect
from penstock.connectors.jdbc.dialects.faults import Faults
from penstock.connectors.jdbc.dialects.loading import (
    Loader,
    LoadingDatabase,
    TableToLoad,
    ValueForm,
    load_lines,
)
from penstock.connectors.jdbc.dialects.merging import TOMBSTONE, Merge, Merging
from penstock.connectors.jdbc.dialects.notation import Notation
from penstock.connectors.jdbc.dialects.reading import (
    Reading,
    Received,
    Selected,
    limit_clause,
    wall_text,
)
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.tables import ColumnFacts, SqlType, TableId
from penstock.kernel.data.schema import Schema, SchemaType

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame

_DRIVER: Final = Driver("org.postgresql.Driver", "org.postgresql:postgresql")
_UUID: Final = "java.util.UUID"
_COPY_BYTES: Final = 1 << 16

# Infinity has no number: it becomes about the farthest one there is.
_MICROS: Final = (
    "CASE WHEN isfinite({0}) THEN (EXTRACT(EPOCH FROM {0}) * 1000000)::bigint"
    " WHEN {0} > '2000-01-01' THEN 9000000000000000000"
    " WHEN {0} < '2000-01-01' THEN -9000000000000000000 END"
)
_DAYS: Final = (
    "CASE WHEN isfinite({0}) THEN {0} - DATE '1970-01-01'"
    " WHEN {0} > '2000-01-01' THEN 2147483647 WHEN {0} < '2000-01-01' THEN -2147483647 END"
)
_TIME_MICROS: Final = "(EXTRACT(EPOCH FROM {}) * 1000000)::bigint"
# The driver says of a NUMERIC without precision that it has no fractions. One that has some is no
# number any more, so that the database refuses it: Spark would round it.
_WHOLE: Final = (
    "CASE WHEN {0} = trunc({0}) THEN {0} ELSE ({0} || ' has a fraction, but its column is a"
    " NUMERIC without a scale: cast it in a query')::numeric END"
)


class PostgreSqlConnecting(Connecting):
    def driver(self, settings: ConnectionSettings) -> Driver:
        del settings
        return _DRIVER

    def driver_properties(self) -> dict[str, str]:
        return {"connectTimeout": "30", "loginTimeout": "30", "tcpKeepAlive": "true"}

    def reading_properties(self) -> dict[str, str]:
        return {**self.driver_properties(), "socketTimeout": "1800"}

    def batch_properties(self) -> dict[str, str]:
        return {"reWriteBatchedInserts": "true"}

    def isolation_statement(self, level: str) -> str | None:
        words = level.replace("_", " ")
        return f"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {words}"


class PostgreSqlReading(Reading):
    """PostgreSQL makes numbers of times, and texts of what Spark has no type for."""

    def limited(self, select: str, rows: int, *, offset: int = 0) -> str:
        return limit_clause(select, rows, offset)

    def selected(self, column: ColumnFacts) -> Selected:  # noqa: PLR0911 - a table of types
        name = self.notation.quote(column.name)
        match column.type:
            case SqlType.DATE:
                return Selected(_DAYS.format(name), Received.DAYS)
            case SqlType.TIME if column.type_name == "timetz":
                utc = _TIME_MICROS.format(f"({name} AT TIME ZONE 'UTC')::time")
                return Selected(utc, Received.UTC_TIME_MICROS)
            case SqlType.TIME:
                return Selected(_TIME_MICROS.format(name), Received.TIME_MICROS)
            case SqlType.TIMESTAMP | SqlType.TIMESTAMP_WITH_TIMEZONE:
                received = Received.UTC_MICROS if self.is_instant(column) else Received.WALL_MICROS
                return Selected(_MICROS.format(name), received)
            case SqlType.NUMERIC if not column.precision:
                return Selected(_WHOLE.format(name))
            case SqlType.DOUBLE if column.type_name == "money":
                return Selected(f"{name}::numeric::float8")
            case SqlType.OTHER | SqlType.SQLXML:
                return Selected(f"{name}::text")
        return Selected(name)

    def field_schema(self, column: ColumnFacts) -> Schema | None:
        if column.type == SqlType.BIT:
            return Schema(_bit_type(column.precision), optional=column.optional)
        if column.type_name in {"json", "jsonb"} or column.java_class == _UUID:
            return Schema(SchemaType.STRING, optional=column.optional)
        return None

    def is_instant(self, column: ColumnFacts) -> bool:
        return column.type_name == "timestamptz"

    def timestamp_micros(self, expression: str, columns: Sequence[ColumnFacts]) -> str:
        del columns
        return f"(EXTRACT(EPOCH FROM {expression}) * 1000000)::bigint"

    def timestamp_literal(self, micros: int, columns: Sequence[ColumnFacts]) -> str:
        if any(map(self.is_instant, columns)):
            return f"TIMESTAMPTZ '{wall_text(micros)}+00'"
        return f"TIMESTAMP '{wall_text(micros)}'"

    def now(self, delay_ms: int, columns: Sequence[ColumnFacts], zone: str) -> str:
        digits = min((each.scale for each in columns), default=6)
        clock = f"CURRENT_TIMESTAMP({min(digits, 6)})"
        if not any(map(self.is_instant, columns)):
            # LOCALTIMESTAMP would show the zone of the driver's JVM.
            clock = f"({clock} AT TIME ZONE {self.notation.text(zone)})"
        return f"{clock} - INTERVAL '{delay_ms} milliseconds'" if delay_ms else clock


def _bit_type(bits: int) -> SchemaType:
    if bits <= 1:
        return SchemaType.BOOLEAN
    return SchemaType.INT8 if bits <= 8 else SchemaType.BYTES


class PostgreSqlCreating(Creating):
    types: ClassVar[dict[SchemaType | str, str]] = {
        **Creating.types,
        SchemaType.INT32: "INT",
        SchemaType.BOOLEAN: "BOOLEAN",
        SchemaType.STRING: "TEXT",
        SchemaType.BYTES: "BYTEA",
    }
    # A number of any size: the schema has a scale but no precision.
    decimal_type: ClassVar[str] = "DECIMAL"
    key_text_type: ClassVar[str] = "TEXT"
    adds_many: ClassVar[bool] = True

    def column_type(self, column: NewColumn) -> str:
        items = column.schema.value_schema
        if column.schema.type is SchemaType.ARRAY and items is not None:
            return self.column_type(NewColumn(column.name, items)) + "[]"
        return super().column_type(column)

    def default(self, column: NewColumn) -> str:
        value = column.schema.default
        if isinstance(value, bool):
            return str(value).upper()
        if isinstance(value, bytes):
            return f"'\\x{value.hex()}'"
        return super().default(column)


class PostgreSqlMerging(Merging):
    """Statements that join by hash, and need no index."""

    def staging_id(self, target: TableId, name: str) -> TableId:
        # Temporary tables stand in a schema of their own.
        del target
        return TableId(name)

    def create_staging(
        self, staging: str, target: str, columns: Sequence[NewColumn], *, private: bool
    ) -> str:
        wanted = self.notation.quoted([column.name for column in columns])
        return (
            f"CREATE {'TEMPORARY' if private else 'UNLOGGED'} TABLE {staging} AS SELECT {wanted},"
            f" 0::bigint AS {self.sequence}, 0::smallint AS {self.notation.quote(TOMBSTONE)}"
            f" FROM {target} WHERE false"
        )

    def index_staging(self, merge: Merge) -> list[str]:
        return [f"ANALYZE {merge.staging}"]

    def delete_by_tombstones(self, merge: Merge) -> str:
        keys = self.notation.quoted(merge.keys)
        gone = f"SELECT DISTINCT {keys} FROM {merge.staging} g WHERE {self.is_tombstone('g')}"
        return (
            f"DELETE FROM {merge.target} t USING ({gone}) g WHERE {self.same(merge.keys, 't', 'g')}"
        )

    def _drop_before(self, merge: Merge, condition: str, before: str) -> str:
        keys = self.notation.quoted(merge.keys)
        where = f" WHERE {condition.removeprefix(' AND ')}" if condition else ""
        # Keys that occur once are most of them, and none of our business.
        several = "" if condition else " HAVING COUNT(*) > 1"
        last = (
            f"SELECT {keys}, MAX({self.sequence}) AS {self.sequence} FROM {merge.staging} l{where}"
            f" GROUP BY {keys}{several}"
        )
        return (
            f"DELETE FROM {merge.staging} s USING ({last}) l WHERE"
            f" {self.same(merge.keys, 's', 'l')} AND s.{self.sequence} {before} l.{self.sequence}"
        )

    def insert(self, merge: Merge) -> str:
        # The rows stand in the order in which they were loaded; sorting would only take time.
        columns = self.notation.quoted(merge.columns)
        return f"INSERT INTO {merge.target} ({columns}) SELECT {columns} FROM {merge.staging}"

    def upsert(self, merge: Merge) -> list[str]:
        return [f"{self.insert(merge)} {self.on_conflict(merge)}"]

    def update(self, merge: Merge) -> str:
        names = map(self.notation.quote, merge.changed)
        values = ", ".join(f"{name} = s.{name}" for name in names)
        return (
            f"UPDATE {merge.target} t SET {values} FROM {merge.staging} s"
            f" WHERE {self.same(merge.keys, 't', 's')}"
        )


class CopyLoader:
    """COPY, which reads a file through the driver."""

    form = ValueForm(lines=True, hex_prefix="\\x", arrays=True)
    in_transaction = True

    def __init__(self, database: LoadingDatabase, notation: Notation) -> None:
        self._database = database
        self._notation = notation

    def load(self, rows: DataFrame, table: TableToLoad, *, few: bool) -> int:
        copy = f"COPY {table.name} ({self._notation.quoted(table.columns)}) FROM STDIN"
        return load_lines(rows, lambda part: self._copy(copy, part), few=few)

    def _copy(self, statement: str, part: Path) -> int:
        def copy(connection: Any, jvm: Any) -> int:
            copies = connection.getCopyAPI()
            stream = jvm.java.io.FileInputStream(str(part))
            try:
                return int(copies.copyIn(statement, stream, _COPY_BYTES))
            finally:
                stream.close()

        return self._database.with_connection(statement, copy)


class PostgreSqlDialect(Dialect):
    """Standard SQL for the most part."""

    names = ("PostgreSqlDatabaseDialect",)
    schemes = ("postgresql",)
    example_urls = ("jdbc:postgresql://host/shop",)

    connecting_class = PostgreSqlConnecting
    reading_class = PostgreSqlReading
    creating_class = PostgreSqlCreating
    merging_class = PostgreSqlMerging
    # The driver has one exception class for all, so its words must do.
    own_faults = Faults(
        lost_words=r"PSQLException: (?:An I/O error|Connection to \S+ refused"
        r"|The connection attempt failed|This connection has been closed"
        r"|FATAL: (?:the database system is|terminating connection)).*",
        wrong_row_words=r"PSQLException: ERROR: .*"
        r"(?:violates|too long|out of range|overflow|invalid (?:input|byte))",
        row_words="COPY .*, line",
    )

    def bulk_loader(self, database: LoadingDatabase) -> Loader:
        return CopyLoader(database, self)
