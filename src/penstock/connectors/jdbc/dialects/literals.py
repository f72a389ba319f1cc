"""Values as SQL literals: the defaults of columns."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from penstock.kernel.data.schema import DATE, TIME, TIMESTAMP, Schema

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def literal(schema: Schema, value: Any, *, backslashes: bool = False) -> str:
    """The value as standard SQL writes it; `backslashes`: a backslash begins an escape there."""
    if schema.name in {DATE, TIME, TIMESTAMP}:
        return f"'{_time_text(schema.name, value)}'"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(value, str):
        text = value.replace("'", "''")
        return f"'{text.replace(chr(92), chr(92) * 2) if backslashes else text}'"
    return str(value)


def _time_text(kind: str | None, value: int) -> str:
    if kind == DATE:
        return str(date(1970, 1, 1) + timedelta(days=value))
    pattern = "%H:%M:%S" if kind == TIME else "%Y-%m-%d %H:%M:%S"
    moment = _EPOCH + timedelta(milliseconds=value)
    return f"{moment:{pattern}}.{value % 1000:03}"
