"""What the JDBC source accepts, and what it says of the rest."""

from __future__ import annotations

import pytest

from penstock.connectors.jdbc.dialects import find_dialect
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.source.config import (
    AivenSourceConfig,
    ConfluentSourceConfig,
    Granularity,
    NumericMapping,
    SourceConfig,
)
from penstock.connectors.jdbc.source.connector import (
    AivenJdbcSourceConnector,
    ConfluentJdbcSourceConnector,
)
from penstock.connectors.jdbc.source.schemas import SchemaRules, field_schema
from penstock.connectors.jdbc.tables import ColumnFacts, SqlType, TableId
from penstock.kernel.data.schema import SchemaType, decimal_schema
from penstock.kernel.errors import ConfigError

GOOD = {
    "connection.url": "jdbc:mysql://db/shop",
    "mode": "timestamp+incrementing",
    "timestamp.column.name": "at",
    "topic.prefix": "my_topic_",
}


def test_a_good_one() -> None:
    assert ConfluentJdbcSourceConnector().validate(GOOD) == {}
    assert AivenJdbcSourceConnector().validate(GOOD) == {}


@pytest.mark.parametrize(
    ("lists", "told"),
    [
        ({"table.whitelist": "ordres"}, "no table matches table.whitelist=ordres, or the user"),
        ({"schema.pattern": "s"}, "no table matches schema.pattern=s, or the user may not read it"),
        ({}, "the database has no table, or the user may not read it"),
    ],
)
def test_why_there_is_no_task(lists: dict[str, str], told: str) -> None:
    connector = ConfluentJdbcSourceConnector()
    connector._props = GOOD | lists
    assert connector.without_tasks().startswith(told)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"connection.url": ""}, "connection.url"),
        ({"mode": ""}, "mode"),
        ({"timestamp.column.name": ""}, "timestamp.column.name"),
        ({"table.whitelist": "a", "table.blacklist": "b"}, "table.blacklist"),
        ({"table.whitelist": "a", "table.include.list": "b"}, "table.include.list"),
        ({"query": "SELECT 1", "table.whitelist": "a"}, "query"),
        ({"query": "SELECT 1"}, "incrementing.column.name"),
        (
            {"query": "SELECT 1", "incrementing.column.name": "i", "topic.prefix": ""},
            "topic.prefix",
        ),
        ({"query": "SELECT 1", "query.masked": "SELECT 1"}, "query.masked"),
        ({"table.include.list": "("}, "table.include.list"),
        ({"timestamp.columns.mapping": "nonsense"}, "timestamp.columns.mapping"),
    ],
)
def test_keys_that_do_not_go_together(changes: dict[str, str], key: str) -> None:
    assert key in ConfluentJdbcSourceConnector().validate({**GOOD, **changes})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("connection.url", "mysql://db/shop"),
        ("mode", "sometimes"),
        ("db.timezone", "Middle/Earth"),
        ("numeric.mapping", "worst_fit"),
        ("timestamp.granularity", "hours"),
        ("topic.prefix", "with space"),
        ("dialect.name", "NoSuchDialect"),
        ("quote.sql.identifiers", "sometimes"),
        ("transaction.isolation.mode", "NONE"),
        ("connection.attempts", "0"),
        ("jdbc.credentials.provider.class", "com.example.Vault"),
        ("batch.max.rows", "0"),
    ],
)
def test_values_that_are_refused(key: str, value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ConfluentSourceConfig.parse({**GOOD, key: value})
    assert key in caught.value.errors


def test_the_defaults_of_both_families() -> None:
    confluent, aiven = ConfluentSourceConfig.parse(GOOD), AivenSourceConfig.parse(GOOD)
    assert (confluent.batch_max_rows, aiven.batch_max_rows) == (1000, 100)
    assert (confluent.start_ms, aiven.start_ms) == (None, 0)
    assert (confluent.incrementing_initial, aiven.incrementing_initial) == (None, -1)
    assert confluent.poll_interval_ms == aiven.poll_interval_ms == 5000
    unquoted = AivenSourceConfig.parse({**GOOD, "sql.quote.identifiers": "false"})
    assert unquoted.dialect.quote("a") == "a"


def test_columns_by_table() -> None:
    config = ConfluentSourceConfig.parse(
        {
            **GOOD,
            "timestamp.columns.mapping": r".*\.orders:[changed|made],.*:[at]",
            "incrementing.column.mapping": r".*\.orders:order_id",
        }
    )
    orders, users = TableId("orders", None, "shop"), TableId("users", None, "shop")
    assert config.timestamp_columns(orders) == ["changed", "made"]
    assert config.timestamp_columns(users) == ["at"]
    assert config.incrementing_column(orders) == "order_id"
    assert config.incrementing_column(users) == ""


def test_further_connection_keys_are_the_drivers() -> None:
    props = {**GOOD, "connection.useSSL": "true", "connection.password": "s3cret"}
    settings = ConfluentSourceConfig.parse(props).connection(props)
    assert settings.properties == {"useSSL": "true"}
    assert "s3cret" not in repr(settings)


@pytest.mark.parametrize(
    ("mapping", "precision", "scale", "expected"),
    [
        ("none", 2, 0, None),
        ("precision_only", 2, 0, SchemaType.INT8),
        ("precision_only", 4, 0, SchemaType.INT16),
        ("precision_only", 9, 0, SchemaType.INT32),
        ("precision_only", 18, 0, SchemaType.INT64),
        ("precision_only", 19, 0, None),
        ("precision_only", 9, 2, None),
        ("best_fit", 9, -2, SchemaType.INT32),
        ("best_fit", 9, 2, SchemaType.FLOAT64),
        ("best_fit", 19, 2, None),
        ("best_fit_eager_double", 38, 2, SchemaType.FLOAT64),
        ("best_fit_eager_double", 38, 0, None),
    ],
)
def test_numerics(mapping: str, precision: int, scale: int, expected: SchemaType | None) -> None:
    dialect = find_dialect(ConnectionSettings("jdbc:postgresql://db/x"))
    numeric = ColumnFacts("n", SqlType.NUMERIC, "numeric", precision, scale)
    rules = SchemaRules(NumericMapping(mapping), Granularity.CONNECT_LOGICAL, precision=True)
    found = field_schema(numeric, dialect, rules)
    untouched = decimal_schema(max(0, scale), optional=True, precision=precision)
    assert found is not None
    if expected is None:
        assert found == untouched
    else:
        assert found.type is expected
    # DECIMAL is left alone, as by the Java connector.
    decimal = ColumnFacts("n", SqlType.DECIMAL, "decimal", precision, scale)
    assert field_schema(decimal, dialect, rules) == untouched


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (ConfluentSourceConfig, [("scale", "3"), ("connect.decimal.precision", "5")]),
        (AivenSourceConfig, [("scale", "3")]),
    ],
)
def test_only_confluents_decimals_tell_their_precision(
    config: type[SourceConfig], expected: list[tuple[str, str]]
) -> None:
    parsed = config.parse(GOOD)
    rules = SchemaRules(parsed.numerics, parsed.granularity, parsed.decimal_precision)
    dialect = find_dialect(ConnectionSettings("jdbc:postgresql://db/x"))
    column = ColumnFacts("n", SqlType.NUMERIC, "numeric", precision=5, scale=3)
    found = field_schema(column, dialect, rules)
    assert found is not None
    assert list(found.parameters) == expected


def test_keys_without_effect_are_told(caplog: pytest.LogCaptureFixture) -> None:
    ConfluentSourceConfig.parse(GOOD).warn({**GOOD, "poll.linger.ms": "100"})
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
        "poll.linger.ms has no effect"
    ]
