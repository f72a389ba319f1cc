"""PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from penstock.connectors.jdbc.dialects.base import Dialect, Driver, Received, Selected, wall_text
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.tables import ColumnFacts, SqlType
from penstock.data.schema import Schema, SchemaType

_DRIVER: Final = Driver("org.postgresql.Driver", "org.postgresql:postgresql")
_UUID: Final = "java.util.UUID"

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


class PostgreSqlDialect(Dialect):
    """Standard SQL for the most part."""

    names = ("PostgreSqlDatabaseDialect",)
    schemes = ("postgresql",)

    def driver(self, settings: ConnectionSettings) -> Driver:
        del settings
        return _DRIVER

    def driver_properties(self) -> dict[str, str]:
        return {"connectTimeout": "30", "loginTimeout": "30", "tcpKeepAlive": "true"}

    def reading_properties(self) -> dict[str, str]:
        return {**self.driver_properties(), "socketTimeout": "1800"}

    def isolation_statement(self, level: str) -> str | None:
        words = level.replace("_", " ")
        return f"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {words}"

    def limited(self, select: str, rows: int, *, offset: int = 0) -> str:
        return f"{select} LIMIT {rows} OFFSET {offset}" if offset else f"{select} LIMIT {rows}"

    def selected(self, column: ColumnFacts) -> Selected:  # noqa: PLR0911 - a table of types
        name = self.quote(column.name)
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
            clock = f"({clock} AT TIME ZONE {self.text(zone)})"
        return f"{clock} - INTERVAL '{delay_ms} milliseconds'" if delay_ms else clock


def _bit_type(bits: int) -> SchemaType:
    if bits <= 1:
        return SchemaType.BOOLEAN
    return SchemaType.INT8 if bits <= 8 else SchemaType.BYTES
