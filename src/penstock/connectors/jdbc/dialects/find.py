"""Which dialect a URL or `dialect.name` stands for."""

from __future__ import annotations

from typing import Final

from penstock.connectors.jdbc.dialects.base import Dialect
from penstock.connectors.jdbc.dialects.generic import GenericDialect
from penstock.connectors.jdbc.dialects.mysql import MySqlDialect
from penstock.connectors.jdbc.dialects.postgresql import PostgreSqlDialect
from penstock.connectors.jdbc.dialects.sqlite import SqliteDialect
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.errors import ConfigError

_DIALECTS: Final[tuple[type[Dialect], ...]] = (
    MySqlDialect,
    PostgreSqlDialect,
    SqliteDialect,
    GenericDialect,
)
DIALECT_NAMES: Final = tuple(name for each in _DIALECTS for name in each.names)


def find_dialect(settings: ConnectionSettings, name: str = "", *, quoting: bool = True) -> Dialect:
    """The dialect of this name, or else of the URL; what no dialect claims is generic.

    Raises:
        ConfigError: there is no dialect of this name.
    """
    if name:
        named = [each for each in _DIALECTS if name in each.names]
        if not named:
            raise ConfigError(f"no dialect {name}; there are: {', '.join(DIALECT_NAMES)}")
        return named[0](quoting=quoting)
    found = [each for each in _DIALECTS if settings.scheme in each.schemes]
    return (found or [GenericDialect])[0](quoting=quoting)
