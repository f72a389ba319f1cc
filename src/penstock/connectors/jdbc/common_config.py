"""Keys that the JDBC source and the JDBC sink share."""

from __future__ import annotations

import logging
import zoneinfo
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from penstock.connectors.jdbc.dialects import DIALECT_NAMES, EXAMPLE_URLS, Dialect, find_dialect
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.kernel.config import (
    Config,
    Importance,
    Password,
    Type,
    at_least,
    key,
    one_of,
    one_of_ignoring_case,
    rule,
)
from penstock.kernel.config.values import invalid

log = logging.getLogger(__name__)

DATABASE: Final = "Database"
CONNECTOR: Final = "Connector"
DEFAULT_CREDENTIALS: Final = "io.confluent.connect.jdbc.util.DefaultJdbcCredentialsProvider"
*_FIRST, _LAST = (f"`{url}`" for url in EXAMPLE_URLS)
_EXAMPLES: Final = f"{', '.join(_FIRST)} or {_LAST}"
URL_DOC: Final = (
    f"The JDBC URL of the database, such as {_EXAMPLES}."
    " Drivers for these come with Penstock; for another database put its driver's jar into a"
    " directory of plugin.path. Further keys that begin with `connection.` are handed to the"
    " driver without that prefix."
)

_ALWAYS: Final = "ALWAYS"
_QUOTING_DOC: Final = "Whether names of tables and columns are quoted in SQL."
_PREFIX: Final = "connection."
_OWN_KEYS: Final = frozenset(
    {"url", "user", "password", "attempts", "backoff.ms", "attempts.max", "retry.backoff.ms"}
)


def _check_url(name: str, value: object) -> None:
    if isinstance(value, str) and value and not value.lower().startswith("jdbc:"):
        raise invalid(name, value, "a JDBC URL begins with jdbc:")


def _check_time_zone(name: str, value: object) -> None:
    try:
        zoneinfo.ZoneInfo(str(value))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise invalid(name, value, "Invalid time zone identifier") from None


def _check_credentials(name: str, value: object) -> None:
    if value not in (None, "", DEFAULT_CREDENTIALS, DEFAULT_CREDENTIALS.rpartition(".")[2]):
        raise invalid(
            name, value, "Java classes can't run here; use connection.user and connection.password"
        )


jdbc_url = rule(_check_url, "a JDBC URL")
time_zone = rule(_check_time_zone, "a time zone such as UTC or Europe/Berlin")
default_credentials = rule(_check_credentials, "the default provider")


def credentials_key() -> Any:
    """Declares Confluent's key for a class that gives user and password."""
    return key(
        Type.STRING,
        name="jdbc.credentials.provider.class",
        default=DEFAULT_CREDENTIALS,
        valid=default_credentials,
        importance=Importance.LOW,
        group=DATABASE,
        doc="Only the default is there: it takes `connection.user` and `connection.password`.",
    )


def quoting_mode_key(group: str) -> Any:
    """Declares Confluent's key that says whether identifiers are quoted."""
    return key(
        Type.STRING,
        name="quote.sql.identifiers",
        default=_ALWAYS,
        valid=one_of_ignoring_case(_ALWAYS, "NEVER"),
        importance=Importance.MEDIUM,
        group=group,
        doc=_QUOTING_DOC,
    )


def quotes(mode: str) -> bool:
    """Whether a value of that key says so."""
    return mode.upper() == _ALWAYS


def quoting_key(group: str) -> Any:
    """Declares Aiven's key for the same."""
    return key(
        Type.BOOLEAN,
        name="sql.quote.identifiers",
        default=True,
        importance=Importance.MEDIUM,
        group=group,
        doc=_QUOTING_DOC,
    )


class ConnectionConfig(Config):
    """How to reach the database."""

    #: Keys that are taken so that files work unchanged, though nothing here is left to set.
    without_effect: ClassVar[frozenset[str]] = frozenset()

    connection_url: str = key(
        Type.STRING,
        name="connection.url",
        valid=jdbc_url,
        importance=Importance.HIGH,
        group=DATABASE,
        doc=URL_DOC,
    )
    connection_user: str | None = key(
        Type.STRING,
        name="connection.user",
        default=None,
        importance=Importance.HIGH,
        group=DATABASE,
        doc="The database user.",
    )
    connection_password: Password | None = key(
        Type.PASSWORD,
        name="connection.password",
        default=None,
        importance=Importance.HIGH,
        group=DATABASE,
        doc="The password of the database user.",
    )
    connection_attempts: int = key(
        Type.INT,
        name="connection.attempts",
        default=3,
        valid=at_least(1),
        importance=Importance.LOW,
        group=DATABASE,
        doc="How often to try to connect before the connector counts as failed. A task that has"
        " lost its database goes on trying.",
    )
    connection_backoff_ms: int = key(
        Type.LONG,
        name="connection.backoff.ms",
        default=10_000,
        valid=at_least(0),
        importance=Importance.LOW,
        group=DATABASE,
        doc="The wait between two attempts to connect.",
    )
    dialect_name: str = key(
        Type.STRING,
        name="dialect.name",
        default="",
        valid=one_of("", *DIALECT_NAMES),
        importance=Importance.LOW,
        group=DATABASE,
        doc="The dialect to use instead of the one the URL stands for.",
    )
    db_timezone: str = key(
        Type.STRING,
        name="db.timezone",
        default="UTC",
        valid=time_zone,
        importance=Importance.MEDIUM,
        group=CONNECTOR,
        doc="The time zone of dates and times in the database that have none of their own.",
    )

    def warn(self, props: Mapping[str, str]) -> None:
        """Log a warning for each key that was set to no effect."""
        for name in sorted(self.without_effect & props.keys()):
            log.warning("%s has no effect: %s", name, self.definition()[name].documentation)

    @property
    def quoting(self) -> bool:
        """Whether identifiers are quoted; the two families of keys say it differently."""
        return True

    @property
    def isolation(self) -> str | None:
        """The isolation level to set, if any."""
        return None

    @property
    def dialect(self) -> Dialect:
        """The dialect for this configuration."""
        settings = ConnectionSettings(self.connection_url)
        return find_dialect(settings, self.dialect_name, quoting=self.quoting)

    def connection(self, props: Mapping[str, str]) -> ConnectionSettings:
        """How to reach the database; `props` are the properties this was parsed from."""
        return ConnectionSettings(
            self.connection_url,
            self.connection_user,
            self.connection_password,
            attempts=self.connection_attempts,
            backoff_seconds=self.connection_backoff_ms / 1000,
            isolation=self.isolation,
            properties={
                name.removeprefix(_PREFIX): value
                for name, value in props.items()
                if name.startswith(_PREFIX) and name.removeprefix(_PREFIX) not in _OWN_KEYS
            },
        )
