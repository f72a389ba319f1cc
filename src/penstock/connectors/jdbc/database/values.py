"""Converts Java's values and Python's: parameters, rows, and a driver's column metadata."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from py4j.java_gateway import JavaObject

from penstock.connectors.jdbc.tables import ColumnFacts


def bind(jvm: Any, statement: Any, params: Sequence[object]) -> None:
    """Set the parameters of a prepared statement."""
    for number, value in enumerate(params, 1):
        if isinstance(value, Decimal):
            statement.setBigDecimal(number, jvm.java.math.BigDecimal(str(value)))
        elif isinstance(value, int) and not isinstance(value, bool):
            statement.setLong(number, value)
        else:
            statement.setObject(number, value)


def fetch_rows(results: Any, limit: int, columns: int | None = None) -> list[tuple[Any, ...]]:
    """At most `limit` rows of a result, which is closed then."""
    count = columns or results.getMetaData().getColumnCount()
    found: list[tuple[Any, ...]] = []
    while len(found) < limit and results.next():
        found.append(current_row(results, count))
    results.close()
    return found


def current_row(results: Any, columns: int) -> tuple[Any, ...]:
    return tuple(_value(results.getObject(number)) for number in range(1, columns + 1))


def _value(value: Any) -> Any:
    """A Python value; py4j has made one of everything but dates and rarer things."""
    if not isinstance(value, JavaObject):
        return value
    kind = value.getClass().getName()
    if kind in {"java.sql.Timestamp", "java.time.LocalDateTime"}:
        # `2021-12-05 06:57:48.0`, or with a T and as many digits as there are.
        moment, _, fraction = value.toString().replace("T", " ").partition(".")
        whole = datetime.fromisoformat(moment).replace(tzinfo=UTC)
        return whole.replace(microsecond=int(fraction[:6].ljust(6, "0") or 0))
    if kind == "java.math.BigInteger":
        return int(value.toString())
    return value.toString()


def column_facts(metadata: Any, number: int) -> ColumnFacts:
    """One column of a java.sql.ResultSetMetaData, counted from 1."""
    return ColumnFacts(
        name=metadata.getColumnLabel(number),
        type=metadata.getColumnType(number),
        type_name=str(metadata.getColumnTypeName(number) or "").lower(),
        precision=metadata.getPrecision(number),
        scale=metadata.getScale(number),
        # 0 is columnNoNulls; 2, unknown, may be null.
        optional=metadata.isNullable(number) != 0,
        autoincrement=metadata.isAutoIncrement(number),
        signed=metadata.isSigned(number),
        java_class=str(metadata.getColumnClassName(number) or ""),
    )


def string_array(jvm: Any, texts: Sequence[str]) -> Any:
    """A String[] of Java."""
    made = jvm.java.lang.reflect.Array.newInstance(
        jvm.java.lang.Class.forName("java.lang.String"), len(texts)
    )
    for number, text in enumerate(texts):
        made[number] = text
    return made
