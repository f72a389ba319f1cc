"""How a database is reached: its driver, the driver's settings, and what Spark has to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.connectors.jdbc.settings import ConnectionSettings


@dataclass(frozen=True, slots=True)
class Driver:
    """A driver's class and where to get it."""

    class_name: str
    jar: str


class Connecting:
    """Any database, by whichever driver accepts its URL."""

    def driver(self, settings: ConnectionSettings) -> Driver | None:
        """The driver for this URL; None if whichever accepts it will do."""
        del settings
        return None

    def missing_file(self, settings: ConnectionSettings) -> str | None:
        """The file of a database that is one, if it is not there, but would be made to connect."""
        del settings
        return None

    def driver_properties(self) -> dict[str, str]:
        """Settings every connection has unless its URL says otherwise: the driver's deadlines."""
        return {}

    def reading_properties(self) -> dict[str, str]:
        """The same for Spark's connections, which wait for the first row of a long query."""
        return self.driver_properties()

    def loading_properties(self) -> dict[str, str]:
        """Settings that a sink's connection needs for the bulk loader."""
        return {}

    def batch_properties(self) -> dict[str, str]:
        """Settings with which JDBC batches of Spark's writer travel in few statements."""
        return {}

    def properties(self, settings: ConnectionSettings) -> dict[str, str]:
        """Properties for the driver's connect()."""
        return {
            **_absent(self.driver_properties(), settings.url),
            **settings.properties,
            **_login(settings),
        }

    def spark_url(self, settings: ConnectionSettings) -> str:
        """The URL by which Spark finds its own dialect."""
        return settings.url

    def spark_options(self, settings: ConnectionSettings, driver_class: str) -> dict[str, str]:
        """Options of Spark's JDBC source and sink, without the table."""
        options = {
            **_absent(self.reading_properties(), settings.url),
            **settings.properties,
            "url": self.spark_url(settings),
            "driver": driver_class,
            **_login(settings),
        }
        statement = self.isolation_statement(settings.isolation) if settings.isolation else None
        if statement:
            options["sessionInitStatement"] = statement
        return options

    def isolation_statement(self, level: str) -> str | None:
        """The statement that sets a session's isolation level; None if the database has none."""
        return f"SET TRANSACTION ISOLATION LEVEL {level.replace('_', ' ')}"

    def fetch_size(self, settings: ConnectionSettings, rows: int) -> int:
        """The fetch size with which the driver streams, so that memory does not grow."""
        del settings
        return rows


def _absent(properties: Mapping[str, str], url: str) -> dict[str, str]:
    """Properties that the URL does not set itself."""
    written = url.lower()
    return {name: value for name, value in properties.items() if f"{name.lower()}=" not in written}


def _login(settings: ConnectionSettings) -> dict[str, str]:
    found = {}
    if settings.user is not None:
        found["user"] = settings.user
    if settings.password is not None:
        found["password"] = settings.password.value
    return found
