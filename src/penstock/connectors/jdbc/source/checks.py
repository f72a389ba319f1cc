"""Rules between the keys of a JDBC source; what one key alone can say is in its declaration."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.connectors.jdbc.findings import by_key, raise_any
from penstock.connectors.jdbc.source.config import Mode, SourceConfig
from penstock.connectors.jdbc.source.expressions import check_mappings
from penstock.kernel.errors import ConfigError


def config_errors(config: SourceConfig) -> dict[str, list[str]]:
    """Messages by key; empty if the configuration holds together."""
    return by_key(_findings(config))


def check_config(config: SourceConfig) -> None:
    """Raise ConfigError with all messages, if there are any."""
    raise_any(config_errors(config))


def _findings(config: SourceConfig) -> Iterator[tuple[str, str]]:
    if not config.connection_url:
        yield "connection.url", "connection.url is required: the JDBC URL of the database"
    if not config.topic_prefix and config.row_source:
        yield "topic.prefix", "topic.prefix is required with query: it is the name of the topic"
    yield from _mode_findings(config)
    yield from _table_findings(config)
    yield from _expression_findings(config)


def _mode_findings(config: SourceConfig) -> Iterator[tuple[str, str]]:
    if not config.mode:
        yield "mode", f"mode is required: one of {', '.join(Mode)}"
        return
    mode = Mode(config.mode)
    mapped = config.column_mappings.get("timestamp.columns.mapping")
    if mode.has_timestamp and not config.timestamp_column_name and not mapped:
        yield "timestamp.column.name", f"timestamp.column.name is required in mode {mode}"
    named = config.incrementing_column_name
    if mode.has_incrementing and config.row_source and not named:
        yield (
            "incrementing.column.name",
            "incrementing.column.name is required with query: a query has no auto-increment column",
        )


def _table_findings(config: SourceConfig) -> Iterator[tuple[str, str]]:
    listed = [config.table_whitelist, config.table_blacklist]
    if all(listed):
        yield "table.blacklist", "table.blacklist and table.whitelist are exclusive"
    if any(listed) and config.table_expressions:
        yield (
            "table.include.list",
            "table.include.list and table.exclude.list can't be combined with table.whitelist and"
            " table.blacklist",
        )
    if config.row_source and (any(listed) or config.table_expressions):
        yield "query", "query may not be combined with whole-table copying settings"
    if config.query and config.masked_query:
        yield "query.masked", "query and query.masked are exclusive"


def _expression_findings(config: SourceConfig) -> Iterator[tuple[str, str]]:
    for name, each in config.column_mappings.items():
        try:
            check_mappings(name, each)
        except ConfigError as error:
            yield name, str(error)
    try:
        _ = config.include_list, config.exclude_list
    except ConfigError as error:
        yield next(iter(error.errors)), str(error)
