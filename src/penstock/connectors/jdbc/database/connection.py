"""One JDBC connection: opened when it is first needed, and again after it was lost."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from py4j.protocol import Py4JJavaError

from penstock.connectors.jdbc.database.drivers import load_driver
from penstock.connectors.jdbc.database.errors import translated
from penstock.connectors.jdbc.dialects import Dialect
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.kernel.errors import ConfigError, PenstockError, RetriableError

log = logging.getLogger(__name__)

_KEPT_STATEMENTS: Final = 32
_WAIT_SECONDS: Final = 0.2

_ISOLATION: Final = {
    "READ_UNCOMMITTED": 1,
    "READ_COMMITTED": 2,
    "REPEATABLE_READ": 4,
    "SERIALIZABLE": 8,
    "SQL_SERVER_SNAPSHOT": 4096,
}


class Connection:
    """A java.sql.Connection, its driver and its kept statements. For one thread.

    Args:
        jvm: pyspark's view of the JVM.
        stopping: asked during waits; they end when it says True.
        statement_seconds: how long one statement may take before the connection is given up.
    """

    def __init__(
        self,
        settings: ConnectionSettings,
        dialect: Dialect,
        jvm: Any,
        *,
        stopping: Callable[[], bool],
        statement_seconds: float,
    ) -> None:
        self.settings = settings
        self.dialect = dialect
        self.jvm = jvm
        self._stopping = stopping
        self._statement_seconds = statement_seconds
        self._driver: Any = None
        self._connection: Any = None
        self._prepared: dict[str, Any] = {}

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    @property
    def driver(self) -> Any:
        """The java.sql.Driver, loaded when it is first asked for."""
        if self._driver is None:
            self._driver = load_driver(self.jvm, self.dialect, self.settings)
        return self._driver

    def close(self) -> None:
        """Give up the connection; the next use opens another. May be called at any time."""
        connection, self._connection = self._connection, None
        self._prepared.clear()
        if connection is not None:
            try:
                connection.close()
            except Exception:
                log.debug("a connection did not close cleanly", exc_info=True)

    @contextmanager
    def use(self, doing: str) -> Iterator[Any]:
        """The open connection, with translated() around the block.

        Raises:
            ConfigError: there is no driver, or the database refuses the login.
            RetriableError: the database did not answer in any attempt, or was lost.
        """
        with self.translating(doing):
            yield self._opened()

    @contextmanager
    def translating(self, doing: str) -> Iterator[None]:
        """Raise our errors for those of Java; a connection that is lost is closed."""
        try:
            yield
        except Py4JJavaError as error:
            failure = self._translated(error, doing)
            if isinstance(failure, RetriableError):
                self.close()
            # Without the Java trace: it has the URL with whatever is written in it.
            raise failure from None

    def _translated(self, error: Py4JJavaError, doing: str) -> PenstockError:
        return translated(error, doing, self.settings, self.dialect.faults)

    # ------------------------------------------------------------------------------ statements

    def prepared(self, sql: str) -> Any:
        """A java.sql.PreparedStatement, which is kept for the next time."""
        statement = self._prepared.get(sql)
        if statement is None:
            if len(self._prepared) >= _KEPT_STATEMENTS:
                self._prepared.pop(next(iter(self._prepared))).close()
            statement = self._opened().prepareStatement(sql)
            self._prepared[sql] = statement
        return statement

    def is_prepared(self, sql: str) -> bool:
        return sql in self._prepared

    def forget_prepared(self, sql: str) -> None:
        self._prepared.pop(sql).close()

    # --------------------------------------------------------------------------------- opening

    def _opened(self) -> Any:
        if self._connection is None:
            self._connection = self._open_patiently()
        return self._connection

    def _open_patiently(self) -> Any:
        driver = self.driver
        attempts = max(1, self.settings.attempts)
        for attempt in range(1, attempts + 1):
            try:
                return self._open(driver)
            except Py4JJavaError as error:
                failure = self._translated(error, "connect")
                if not isinstance(failure, RetriableError) or attempt == attempts:
                    raise failure from None
                log.warning("Attempt %d of %d: %s", attempt, attempts, failure)
                self._wait(self.settings.backoff_seconds)
        raise AssertionError("the last attempt returns or raises")

    def _open(self, driver: Any) -> Any:
        properties = self.jvm.java.util.Properties()
        for name, value in self.dialect.connecting.properties(self.settings).items():
            properties.setProperty(name, value)
        connection = driver.connect(self.settings.url, properties)
        if connection is None:
            raise ConfigError(
                f"the driver {driver.getClass().getName()} does not know the URL"
                f" {self.settings.place}; see connection.url"
            )
        self._limit(connection)
        if self.settings.isolation:
            connection.setTransactionIsolation(_ISOLATION[self.settings.isolation])
        return connection

    def _limit(self, connection: Any) -> None:
        """Give every statement of the connection a deadline, where the driver can."""
        try:
            executor = self.jvm.java.util.concurrent.ForkJoinPool.commonPool()
            connection.setNetworkTimeout(executor, int(self._statement_seconds * 1000))
        except Py4JJavaError:
            log.debug("the driver has no network timeout")

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self._stopping():
            time.sleep(min(_WAIT_SECONDS, seconds))
        if self._stopping():
            raise RetriableError("the task is stopping")
