"""A database: statements, transactions, and access to its metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from py4j.protocol import Py4JJavaError

from penstock.connectors.jdbc.database.connection import Connection
from penstock.connectors.jdbc.database.metadata import Metadata
from penstock.connectors.jdbc.database.values import bind, current_row, fetch_rows
from penstock.connectors.jdbc.dialects import Dialect
from penstock.connectors.jdbc.settings import ConnectionSettings

T = TypeVar("T")

_STATEMENT_SECONDS: Final = 600.0


class Database:
    """One connection, opened when first needed and again when it was lost. For one thread.

    Args:
        jvm: pyspark's view of the JVM.
        stopping: asked during waits; they end when it says True.
        statement_seconds: how long one statement may take before its connection is given up.
    """

    def __init__(
        self,
        settings: ConnectionSettings,
        dialect: Dialect,
        jvm: Any,
        *,
        stopping: Callable[[], bool] = lambda: False,
        statement_seconds: float = _STATEMENT_SECONDS,
    ) -> None:
        self.dialect = dialect
        self._jvm = jvm
        self._connection = Connection(
            settings, dialect, jvm, stopping=stopping, statement_seconds=statement_seconds
        )
        self.metadata = Metadata(self._connection)

    def connect(self) -> None:
        """Open the connection now, in as many attempts as the settings allow.

        Raises:
            ConfigError: there is no driver, or the database refuses the login.
            RetriableError: it did not answer in any attempt.
        """
        with self._connection.use("connect"):
            pass

    def close(self) -> None:
        """Give up the connection; the next call opens another. May be called at any time."""
        self._connection.close()

    @property
    def driver_class(self) -> str:
        """The class of the driver, for Spark."""
        with self._connection.translating("load the driver"):
            return str(self._connection.driver.getClass().getName())

    # ------------------------------------------------------------------------------ statements

    def query(self, sql: str, *params: object, limit: int = 10_000) -> list[tuple[Any, ...]]:
        """The rows of a small result, as Python values; at most `limit` of them.

        The statement is kept: asking the same again costs three calls into the JVM.

        Raises:
            RetriableError: the connection was lost; the next call opens another.
            RefusedError: the database refuses a row.
            DataError: it refuses the statement.
        """
        with self._connection.translating(sql):
            return fetch_rows(self._results(sql, params), limit)

    def first(self, sql: str, columns: int) -> tuple[Any, ...] | None:
        """The first row of a result; None if there is none, which takes two calls into the JVM."""
        with self._connection.translating(sql):
            results = self._results(sql)
            row = current_row(results, columns) if results.next() else None
            # The next query closes it as well; that is soon enough but where it locks others out.
            if self.dialect.results_lock:
                results.close()
            return row

    def execute(self, sql: str, *params: object) -> int:
        """Run a statement that changes something; the number of rows it touched."""
        with self._connection.use(sql) as connection:
            statement = connection.prepareStatement(sql)
            try:
                bind(self._jvm, statement, params)
                return int(statement.executeUpdate())
            finally:
                statement.close()

    def with_connection(self, sql: str, action: Callable[[Any, Any], T]) -> T:
        """The result of the action, which gets the java.sql.Connection and the JVM.

        For statements that a driver has methods of its own for; `sql` names it in errors.
        """
        with self._connection.use(sql) as connection:
            return action(connection, self._jvm)

    def _results(self, sql: str, params: Sequence[object] = ()) -> Any:
        """The result of a kept statement; one that has grown stale is made anew."""
        kept = self._connection.is_prepared(sql)
        try:
            return self._run_prepared(sql, params)
        except Py4JJavaError:
            if not kept:
                raise
            # A table that was altered leaves plans behind that no longer work.
            self._connection.forget_prepared(sql)
            return self._run_prepared(sql, params)

    def _run_prepared(self, sql: str, params: Sequence[object]) -> Any:
        statement = self._connection.prepared(sql)
        bind(self._jvm, statement, params)
        return statement.executeQuery()

    # ---------------------------------------------------------------------------- transactions

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what the block does, or roll it back if the block raises."""
        with self._connection.use("BEGIN") as connection:
            connection.setAutoCommit(False)
        try:
            yield
            with self._connection.translating("COMMIT"):
                connection.commit()
        except BaseException:
            self._roll_back(connection)
            raise
        finally:
            self._end_transaction(connection)

    def _roll_back(self, connection: Any) -> None:
        try:
            connection.rollback()
        except Py4JJavaError:
            self.close()  # It can't even do that: the server rolls back when we are gone.

    def _end_transaction(self, connection: Any) -> None:
        if not self._connection.is_open:
            return
        try:
            connection.setAutoCommit(True)
        except Py4JJavaError:
            self.close()
