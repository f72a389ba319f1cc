"""The keys of the JDBC sinks, and what they must not be together."""

from __future__ import annotations

import pytest

from penstock.connectors.jdbc.dialects.merging import WriteMode
from penstock.connectors.jdbc.sink.checks import config_errors
from penstock.connectors.jdbc.sink.config import AivenSinkConfig, JdbcSinkConfig
from penstock.kernel.errors import ConfigError

URL = {"connection.url": "jdbc:postgresql://127.0.0.1/shop"}


def confluent(**keys: str) -> JdbcSinkConfig:
    return JdbcSinkConfig.parse(URL | {name.replace("_", "."): text for name, text in keys.items()})


def test_defaults() -> None:
    config = confluent()
    assert (config.insert_mode, config.pk_mode, config.batch_size) == ("insert", "none", 3000)
    assert (config.max_retries, config.retry_backoff_ms) == (10, 3000)
    assert (config.auto_create, config.auto_evolve, config.delete_enabled) == (False, False, False)
    assert config.table_name("orders") == "orders"
    assert config_errors(config) == {}


@pytest.mark.parametrize(
    ("keys", "wrong"),
    [
        ({"delete_enabled": "true"}, {"delete.enabled", "pk.mode"}),
        ({"delete_enabled": "true", "pk_mode": "record_value"}, {"delete.enabled", "pk.mode"}),
        ({"delete_enabled": "true", "pk_mode": "record_key"}, set()),
        ({"insert_mode": "upsert"}, {"insert.mode", "pk.mode"}),
        ({"insert_mode": "update"}, {"insert.mode", "pk.mode"}),
        ({"insert_mode": "upsert", "pk_mode": "kafka"}, set()),
        ({"pk_mode": "kafka", "pk_fields": "a,b"}, {"pk.fields"}),
        ({"pk_mode": "kafka", "pk_fields": "a,b,c"}, set()),
        ({"pk_mode": "record_value", "pk_fields": "a,a"}, {"pk.fields"}),
    ],
)
def test_what_does_not_go_together(keys: dict[str, str], wrong: set[str]) -> None:
    assert set(config_errors(confluent(**keys))) == wrong


@pytest.mark.parametrize(
    "keys",
    [
        {"insert_mode": "multi"},
        {"pk_mode": "record"},
        {"batch_size": "-1"},
        {"table_types": "SYNONYM"},
        {"jdbc_credentials_provider_class": "com.example.Vault"},
        {"db_timezone": "Mars/Phobos"},
        {"quote_sql_identifiers": "sometimes"},
        {"table_name_format": ""},
    ],
)
def test_wrong_values(keys: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        confluent(**keys)


def test_date_zones() -> None:
    assert confluent(db_timezone="Asia/Tokyo").date_zone == "Asia/Tokyo"
    assert confluent(db_timezone="Asia/Tokyo", date_timezone="utc").date_zone == "UTC"


def test_aivens_tables() -> None:
    config = AivenSinkConfig.parse(
        URL
        | {
            "insert.mode": "multi",
            "table.name.normalize": "true",
            "topics.to.tables.mapping": "a:first,b:second",
        }
    )
    assert config.mode is WriteMode.INSERT
    assert [config.table_name(topic) for topic in ("a", "b", "c-d.e")] == [
        "first",
        "second",
        "c_d.e",
    ]
    with pytest.raises(ConfigError, match="topic:table"):
        AivenSinkConfig.parse(URL | {"topics.to.tables.mapping": "a"})
