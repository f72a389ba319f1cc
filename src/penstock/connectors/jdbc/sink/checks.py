"""Rules between the keys of a JDBC sink; what one key alone can say is in its declaration."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.connectors.jdbc.dialects.merging import WriteMode
from penstock.connectors.jdbc.findings import by_key, raise_any
from penstock.connectors.jdbc.sink.config import SinkConfig
from penstock.connectors.jdbc.sink.fields import KAFKA_FIELDS, KeyMode


def config_errors(config: SinkConfig) -> dict[str, list[str]]:
    """Messages by key; empty if the configuration holds together."""
    return by_key(_findings(config))


def check_config(config: SinkConfig) -> None:
    """Raise ConfigError with all messages, if there are any."""
    raise_any(config_errors(config))


def _findings(config: SinkConfig) -> Iterator[tuple[str, str]]:
    if config.delete_enabled and config.pk_mode != KeyMode.RECORD_KEY:
        text = "Deletes need the key of a record: delete.enabled=true goes with pk.mode=record_key"
        yield "delete.enabled", text
        yield "pk.mode", text
    if config.mode is not WriteMode.INSERT and config.pk_mode == KeyMode.NONE:
        text = f"insert.mode={config.insert_mode} needs a primary key: set pk.mode"
        yield "insert.mode", text
        yield "pk.mode", text
    if config.pk_mode == KeyMode.KAFKA and len(config.pk_fields) not in (0, len(KAFKA_FIELDS)):
        yield (
            "pk.fields",
            "pk.mode=kafka needs three names, for topic, partition and offset; or none",
        )
    if len(set(config.pk_fields)) != len(config.pk_fields):
        yield "pk.fields", "a column is named twice"
