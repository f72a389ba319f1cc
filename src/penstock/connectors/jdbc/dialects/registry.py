"""The databases there are, and which one a URL or `dialect.name` stands for."""

from __future__ import annotations

from typing import Final

from penstock.connectors.jdbc.dialects.dialect import Dialect
from penstock.connectors.jdbc.dialects.generic import GenericDialect
from penstock.connectors.jdbc.dialects.mysql import MySqlDialect
from penstock.connectors.jdbc.dialects.postgresql import PostgreSqlDialect
from penstock.connectors.jdbc.dialects.sqlite import SqliteDialect
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.kernel.errors import ConfigError

#: A new database is one more line here.
DIALECTS: Final[tuple[type[Dialect], ...]] = (
    MySqlDialect,
    PostgreSqlDialect,
    SqliteDialect,
    GenericDialect,
)
DIALECT_NAMES: Final = tuple(name for each in DIALECTS for name in each.names)
EXAMPLE_URLS: Final = tuple(url for each in DIALECTS for url in each.example_urls)


def find_dialect(settings: ConnectionSettings, name: str = "", *, quoting: bool = True) -> Dialect:
    """The dialect of this name, or else of the URL; what no dialect claims is generic.

    Raises:
        ConfigError: there is no dialect of this name.
    """
    by_url = next((each for each in DIALECTS if settings.scheme in each.schemes), None)
    if not name:
        return (by_url or GenericDialect)(quoting=quoting)
    named = next((each for each in DIALECTS if name in each.names), None)
    if named is None:
        raise ConfigError(f"no dialect {name}; there are: {', '.join(DIALECT_NAMES)}")
    # Faults are in the words of the driver, and that goes by the URL.
    return named(quoting=quoting, faults=by_url.own_faults if by_url else None)
