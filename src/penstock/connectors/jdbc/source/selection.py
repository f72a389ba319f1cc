"""Which tables of a database a connector reads, and which task reads which."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Sequence

from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.source.config import SourceConfig
from penstock.connectors.jdbc.tables import TableId
from penstock.kernel.errors import ConfigError

log = logging.getLogger(__name__)


def selected_tables(database: Database, config: SourceConfig) -> list[TableId]:
    """The tables to read, in the order of their names.

    Raises:
        ConfigError: two of them would go to the same topic.
    """
    found = [
        each.id
        for each in database.metadata.tables(
            config.table_types, catalog=config.catalog_pattern, schema=config.schema_pattern
        )
    ]
    chosen = sorted((table for table in found if is_selected(table, config)), key=str)
    names = Counter(table.name for table in chosen)
    twice = [str(table) for table in chosen if names[table.name] > 1]
    if twice:
        raise ConfigError(
            "The connector uses the unqualified table name as the topic name and has detected"
            f" duplicate unqualified table names: {', '.join(twice)}. Name the tables to read in"
            " full in table.whitelist, or narrow them with catalog.pattern or schema.pattern."
        )
    return chosen


def is_selected(table: TableId, config: SourceConfig) -> bool:
    """Whether the lists of the configuration have this table."""
    if config.table_whitelist:
        return _is_listed(table, config.table_whitelist)
    if config.table_blacklist:
        return not _is_listed(table, config.table_blacklist)
    name = str(table)
    included = config.include_list
    if included and not any(pattern.fullmatch(name) for pattern in included):
        return False
    return not any(pattern.fullmatch(name) for pattern in config.exclude_list)


def _is_listed(table: TableId, names: Sequence[str]) -> bool:
    # By its name, or with as much in front of it as somebody cared to write.
    endings = {".".join(table.parts[start:]) for start in range(len(table.parts))}
    return any(_unquoted(name) in endings for name in names)


def _unquoted(name: str) -> str:
    return name.replace("`", "").replace('"', "")


def missing_tables(tables: Sequence[TableId], config: SourceConfig) -> list[str]:
    """The names in the whitelist that no table has."""
    return [
        name
        for name in config.table_whitelist
        if not any(_is_listed(table, [name]) for table in tables)
    ]


def shared(tables: Sequence[TableId], tasks: int) -> list[list[TableId]]:
    """The tables in at most so many groups of nearly one size, neighbours together."""
    groups = min(tasks, len(tables))
    if not groups:
        return []
    least, longer = divmod(len(tables), groups)
    result, start = [], 0
    for number in range(groups):
        end = start + least + (number < longer)
        result.append(list(tables[start:end]))
        start = end
    return result


def tables_text(tables: Sequence[TableId]) -> str:
    """A task's tables as a property; any character may be in a name."""
    return json.dumps([[table.catalog, table.schema, table.name] for table in tables])


def tables_of(text: str) -> list[TableId]:
    """The tables of a task's property."""
    return [TableId(name, schema, catalog) for catalog, schema, name in json.loads(text)]
