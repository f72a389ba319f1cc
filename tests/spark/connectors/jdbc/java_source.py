"""What Java's JDBC source connector makes of a row.

It can't be run here, but what it does is known: it chooses one of the driver's getters by the
column's type in java.sql.Types, and what that returns is the field's value. These are the choices
of Confluent's 10.x; they are made of the same drivers.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.dialects import find_dialect
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.tables import ColumnFacts, SqlType

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What stands for a value that the driver does not give: Java's task fails.
FAILS: Final = "fails"
#: What stands for a field that Java's records do not have.
LEFT_OUT: Final = "left out"

# Signed, and unsigned.
_WHOLE_NUMBERS: Final = {
    SqlType.TINYINT: ("getByte", "getShort"),
    SqlType.SMALLINT: ("getShort", "getInt"),
    SqlType.INTEGER: ("getInt", "getLong"),
    SqlType.BIGINT: ("getLong", "getLong"),
}
_GETTERS: Final = {
    SqlType.BOOLEAN: "getBoolean",
    SqlType.BIT: "getByte",
    SqlType.REAL: "getFloat",
    SqlType.FLOAT: "getDouble",
    SqlType.DOUBLE: "getDouble",
    SqlType.CHAR: "getString",
    SqlType.VARCHAR: "getString",
    SqlType.LONGVARCHAR: "getString",
    SqlType.NCHAR: "getNString",
    SqlType.NVARCHAR: "getNString",
    SqlType.LONGNVARCHAR: "getNString",
    SqlType.BINARY: "getBytes",
    SqlType.VARBINARY: "getBytes",
    SqlType.LONGVARBINARY: "getBytes",
    SqlType.DATE: "getDate",
    SqlType.TIME: "getTime",
    SqlType.TIMESTAMP: "getTimestamp",
    SqlType.NUMERIC: "getBigDecimal",
    SqlType.DECIMAL: "getBigDecimal",
    SqlType.SQLXML: "getSQLXML",
}
_MOMENTS: Final = {"getDate": 86_400_000, "getTime": 1, "getTimestamp": 1}


def java_rows(
    spark: SparkSession, config: dict[str, str], select: str, zone: str = "UTC"
) -> list[dict[str, Any]]:
    """The rows of a query as records have them, with FAILS where there would be none."""
    settings = ConnectionSettings(config["connection.url"], config["connection.user"])
    database = Database(settings, find_dialect(settings), spark._jvm)
    calendar = _calendar(spark, zone)
    try:
        numbered = list(enumerate(database.metadata.columns_of(select), start=1))
        results = database.with_connection(
            select, lambda connection, _: connection.createStatement().executeQuery(select)
        )
        rows = []
        while results.next():
            rows.append(
                {
                    column.name: _value(results, number, column, getter, calendar)
                    for number, column in numbered
                    if (getter := _getter(column, settings.scheme)) is not None
                }
            )
        return rows
    finally:
        database.close()


def _getter(column: ColumnFacts, scheme: str) -> str | None:
    """The name of the getter; None for a column that records do not have."""
    if scheme == "postgresql" and column.type == SqlType.BIT:
        bits = column.precision
        return "getBoolean" if bits <= 1 else "getByte" if bits <= 8 else "getBytes"
    if scheme == "postgresql" and column.type == SqlType.OTHER:
        text = column.type_name in {"json", "jsonb"} or column.java_class == "java.util.UUID"
        return "getString" if text else None
    if column.type in _WHOLE_NUMBERS:
        signed, unsigned = _WHOLE_NUMBERS[SqlType(column.type)]
        return signed if column.signed else unsigned
    return _GETTERS[SqlType(column.type)] if column.type in _GETTERS else None


def _value(results: Any, number: int, column: ColumnFacts, getter: str, calendar: Any) -> Any:
    more: dict[str, tuple[Any, ...]] = dict.fromkeys(_MOMENTS, (calendar(),))
    more["getBigDecimal"] = (column.scale,)
    try:
        found = getattr(results, getter)(number, *more.get(getter, ()))
    except (Py4JJavaError, PySparkException):
        return FAILS
    if results.wasNull() or found is None:
        return None
    if getter in _MOMENTS:
        return found.getTime() // _MOMENTS[getter]
    if getter == "getFloat":
        # The bridge to the JVM makes a double of its digits.
        return struct.unpack("f", struct.pack("f", found))[0]
    return found.getString() if getter == "getSQLXML" else found


def _calendar(spark: SparkSession, zone: str) -> Callable[[], Any]:
    java: Any = spark._jvm
    return lambda: java.java.util.GregorianCalendar(java.java.util.TimeZone.getTimeZone(zone))
