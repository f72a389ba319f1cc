"""Notices tables that a database gets or loses while a source connector runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Final

from penstock.api.connector import ConnectorContext
from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.source.config import SourceConfig
from penstock.connectors.jdbc.source.selection import missing_tables, selected_tables
from penstock.connectors.jdbc.tables import TableId
from penstock.kernel.errors import ConfigError

log = logging.getLogger(__name__)

_STOP_SECONDS: Final = 5.0


class TableMonitor:
    """Looks at the tables of a database from time to time, on a thread of its own."""

    def __init__(
        self, config: SourceConfig, connect: Callable[[], Database], context: ConnectorContext
    ) -> None:
        self._config = config
        self._connect = connect
        self._database: Database | None = None
        self._context = context
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._tables: list[TableId] = []
        self._reported_missing: list[str] = []
        # It logs for the connector that starts it.
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._run,), name="jdbc-tables", daemon=True
        )

    @property
    def tables(self) -> list[TableId]:
        """The tables at the last look."""
        with self._lock:
            return self._tables

    def start(self) -> None:
        """Look for the first time, at once, so that errors are reported now."""
        self._tables = self._look()
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        try:
            while not self._stopped.wait(self._config.table_poll_interval_ms / 1000):
                self._look_again()
        except ConfigError as error:
            self._context.raise_error(error)
        finally:
            self._forget_database()

    def _look_again(self) -> None:
        try:
            self._take_over(self._look())
        except ConfigError:
            raise
        except Exception as error:  # noqa: BLE001 - Spark's JVM may be gone, and come back
            log.warning("Could not look for tables, trying again later: %s", error)
            # With another JVM there is another way to the database.
            self._forget_database()

    def _forget_database(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            database.close()

    def _take_over(self, found: list[TableId]) -> None:
        with self._lock:
            before, self._tables = self._tables, found
        if found != before:
            added = [str(table) for table in found if table not in before]
            gone = [str(table) for table in before if table not in found]
            log.info("Tables changed; new: %s; gone: %s", added or "none", gone or "none")
            self._context.request_task_reconfiguration()

    def _look(self) -> list[TableId]:
        if self._database is None:
            self._database = self._connect()
        found = selected_tables(self._database, self._config)
        missing = missing_tables(found, self._config)
        if missing != self._reported_missing:
            self._reported_missing = missing
            if missing:
                log.warning("Tables that do not exist (yet): %s", ", ".join(missing))
        return found
