"""Values of every type through the JDBC sink into tables that it makes, and into others."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from penstock.kernel.data.schema import (
    Field,
    Schema,
    SchemaType,
    date_schema,
    decimal_schema,
    struct_schema,
    time_schema,
    timestamp_schema,
)
from tests.spark.connectors.jdbc.calendars import OLD_DAYS, days_since_1970
from tests.spark.connectors.jdbc.sinks import (
    LONG,
    TEXT,
    Sinks,
    batch,
    on_postgresql,
    on_servers,
    with_mysql,
)

EPOCH = date(1970, 1, 1)
WIDE = Decimal("-1234567890123456789012345678.0123456789")
TYPES = {
    "id": Schema(SchemaType.INT32),
    "i8": Schema(SchemaType.INT8, optional=True),
    "i16": Schema(SchemaType.INT16, optional=True),
    "i64": Schema(SchemaType.INT64, optional=True),
    "f32": Schema(SchemaType.FLOAT32, optional=True),
    "f64": Schema(SchemaType.FLOAT64, optional=True),
    "b": Schema(SchemaType.BOOLEAN, optional=True),
    "s": Schema(SchemaType.STRING, optional=True),
    "raw": Schema(SchemaType.BYTES, optional=True),
    "dec": decimal_schema(10, optional=True),
    "day": date_schema(optional=True),
    "tod": time_schema(optional=True),
    "ts": timestamp_schema(optional=True),
}
ALL = struct_schema(*(Field(name, schema) for name, schema in TYPES.items()))
ROWS: list[dict[str, Any]] = [
    {"id": 1} | dict.fromkeys([name for name in TYPES if name != "id"]),
    {
        "id": 2, "i8": -128, "i16": -32768, "i64": -(2**63), "f32": -0.5, "f64": 1e-300, "b": False,
        "s": "", "raw": b"", "dec": WIDE, "day": (date(1583, 1, 1) - EPOCH).days, "tod": 0,
        "ts": -1,
    },
    {
        "id": 3, "i8": 127, "i16": 32767, "i64": 2**63 - 1, "f32": 1.5, "f64": 0.1, "b": True,
        "s": "日本 🚰 'x' \"y\" \\ \t\r\n \\N", "raw": bytes(range(256)), "dec": Decimal("1E-10"),
        "day": (date(2024, 2, 29) - EPOCH).days, "tod": 86_399_999, "ts": 1_700_000_000_123,
    },
]  # fmt: skip


def stored(sinks: Sinks, *columns: str, table: str = "users") -> list[tuple[Any, ...]]:
    return [tuple(map(_plain, row)) for row in sinks.rows(table, *columns, order="1")]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}.{value.microsecond:06}"
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    return value


@with_mysql
@pytest.mark.parametrize("mode", ["insert", "upsert"])
def test_all_types(sinks: Sinks, mode: str) -> None:
    keys = {"insert_mode": mode, "pk_mode": "record_value", "pk_fields": "id"}
    sinks.task(auto_create="true", **keys).write(batch(sinks.spark, ROWS, ALL))
    numbers = stored(sinks, "id", "i8", "i16", "i64", "f32", "f64", "s", "raw")
    assert numbers == [
        tuple(row[name] for name in ("id", "i8", "i16", "i64", "f32", "f64", "s", "raw"))
        for row in ROWS
    ]
    booleans = [row[1] for row in stored(sinks, "id", "b")]
    assert booleans == [None, False, True]
    if sinks.settings.scheme == "sqlite":
        assert stored(sinks, "id", "day", "tod", "ts")[1:] == [
            (2, ROWS[1]["day"] * 86_400_000, 0, -1),
            (3, ROWS[2]["day"] * 86_400_000, 86_399_999, 1_700_000_000_123),
        ]
        return
    assert [row[1] for row in stored(sinks, "id", "dec")] == [None, WIDE, Decimal("1E-10")]
    kind = "CHAR(30)" if "postgresql" not in sinks.settings.scheme else "TEXT"
    texts = sinks.query(
        "SELECT "
        + ", ".join(f"CAST({name} AS {kind})" for name in ("day", "tod", "ts"))
        + " FROM users ORDER BY id"
    )
    assert [tuple(text and text.strip() for text in row) for row in texts] == [
        (None, None, None),
        ("1583-01-01", _time(sinks, "00:00:00"), "1969-12-31 23:59:59.999"),
        ("2024-02-29", _time(sinks, "23:59:59.999"), "2023-11-14 22:13:20.123"),
    ]


def _time(sinks: Sinks, text: str) -> str:
    """MariaDB shows as many digits as the column has."""
    exact = sinks.settings.scheme == "postgresql" or "." in text
    return text if exact else f"{text}.000"


@on_servers
def test_times_in_the_databases_zone(sinks: Sinks) -> None:
    schema = struct_schema(Field("ts", timestamp_schema()), Field("day", date_schema()))
    moment = int(datetime(2024, 3, 31, 0, 30, tzinfo=UTC).timestamp() * 1000)
    row = {"ts": moment, "day": (date(2024, 3, 31) - EPOCH).days}
    keys = {"auto_create": "true", "db_timezone": "America/New_York"}
    sinks.task(**keys).write(batch(sinks.spark, [row], schema))
    sinks.task(**keys, date_timezone="UTC", table_name_format="other").write(
        batch(sinks.spark, [row], schema)
    )
    [(found,)] = stored(sinks, "ts")
    assert found == "2024-03-30 20:30:00.000000"
    assert [str(sinks.rows(table, "day")[0][0]) for table in ("users", "other")] == [
        "2024-03-30",
        "2024-03-31",
    ]


@on_servers
@pytest.mark.parametrize("calendar", ["LEGACY", "PROLEPTIC_GREGORIAN"])
def test_days_before_1582(sinks: Sinks, calendar: str) -> None:
    """Days by the names that Java's own calendar has for them."""
    schema = struct_schema(Field("ts", timestamp_schema()), Field("day", date_schema()))
    legacy = calendar == "LEGACY"
    days = [days_since_1970(sinks.spark, day, legacy=legacy) for day in OLD_DAYS]
    rows = [{"ts": day * 86_400_000 + 3_600_500, "day": day} for day in days]
    sinks.execute("CREATE TABLE users (ts " + _moments(sinks) + ", day DATE)")
    sinks.task(date_calendar_system=calendar).write(batch(sinks.spark, rows, schema))
    kind = "TEXT" if sinks.settings.scheme == "postgresql" else "CHAR(21)"
    texts = sinks.query(f"SELECT CAST(day AS {kind}), CAST(ts AS {kind}) FROM users ORDER BY day")
    assert texts == [(day, f"{day} 01:00:00.5") for day in OLD_DAYS]


def _moments(sinks: Sinks) -> str:
    return "TIMESTAMP" if sinks.settings.scheme == "postgresql" else "DATETIME(1)"


@on_servers
@pytest.mark.parametrize(("mode", "unit"), [("microseconds", 1), ("nanoseconds", 1000)])
def test_numbers_that_are_timestamps(sinks: Sinks, mode: str, unit: int) -> None:
    sinks.execute("CREATE TABLE users (id INTEGER, at TIMESTAMP(6) NULL)")
    schema = struct_schema(Field("id", Schema(SchemaType.INT32)), Field("at", LONG))
    task = sinks.task(timestamp_fields_list="at", timestamp_precision_mode=mode)
    micros = 1_700_000_000_123_456
    rows = [{"id": 1, "at": micros * unit + unit - 1}, {"id": 2, "at": 86_400_000_001 * unit}]
    task.write(batch(sinks.spark, rows, schema))
    assert stored(sinks, "id", "at") == [
        (1, "2023-11-14 22:13:20.123456"),
        (2, "1970-01-02 00:00:00.000001"),
    ]


@on_postgresql
def test_columns_of_other_types(sinks: Sinks) -> None:
    """Text is read by the database as its own types are."""
    sinks.execute(
        "CREATE TABLE users (id SMALLINT, u UUID, j JSONB, n NUMERIC(5,1), d DATE, e INET,"
        " t TIMESTAMPTZ, ok BOOLEAN)"
    )
    schema = struct_schema(
        Field("id", LONG),
        *(Field(name, TEXT) for name in ("u", "j", "d", "e")),
        Field("n", Schema(SchemaType.FLOAT64)),
        Field("t", timestamp_schema()),
        Field("ok", Schema(SchemaType.BOOLEAN)),
    )
    row = {
        "id": 7, "u": "123e4567-e89b-12d3-a456-426614174000", "j": '{"a": [1, "\\n"]}', "n": 12.5,
        "d": "2024-01-02", "e": "10.0.0.1", "t": 0, "ok": True,
    }  # fmt: skip
    for mode in ("insert", "upsert"):
        keys = {"insert_mode": mode, "pk_mode": "record_value", "pk_fields": "id"}
        if mode == "upsert":
            sinks.execute("ALTER TABLE users ADD PRIMARY KEY (id)")
        sinks.task(**keys).write(batch(sinks.spark, [row], schema))
    found = sinks.query("SELECT id, u::text, j->'a'->>0, n::text, d::text, e::text, ok FROM users")
    assert found == [
        (7, row["u"], "1", "12.5", "2024-01-02", "10.0.0.1/32", True),
    ]


@on_postgresql
def test_arrays_of_postgresql(sinks: Sinks) -> None:
    schema = struct_schema(
        Field("tags", Schema(SchemaType.ARRAY, value_schema=TEXT)),
        Field("sizes", Schema(SchemaType.ARRAY, value_schema=Schema(SchemaType.INT32))),
    )
    row = {"tags": ['a"b', "c\\d", "", None, "e,f"], "sizes": [1, 2]}
    sinks.task(auto_create="true").write(batch(sinks.spark, [row], schema))
    found = sinks.query("SELECT array_to_string(tags, '|', 'null'), sizes[2] FROM users")
    assert found == [('a"b|c\\d||null|e,f', 2)]


def test_nulls_become_defaults_if_wanted(sinks: Sinks) -> None:
    schema = struct_schema(Field("name", replace(TEXT, default="nobody")))
    for table, wanted in (("a", "true"), ("b", "false")):
        keys = {"auto_create": "true", "table_name_format": table}
        task = sinks.task(**keys, replace_null_with_default=wanted)
        task.write(batch(sinks.spark, [{"name": None}], schema))
    assert (sinks.rows("a"), sinks.rows("b")) == ([("nobody",)], [(None,)])
