"""The one module that talks JDBC: java.sql through py4j, in the JVM that Spark runs in."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError

from penstock.columns.java_errors import line_about
from penstock.connectors.jdbc.dialects.base import Dialect
from penstock.connectors.jdbc.settings import ConnectionSettings
from penstock.connectors.jdbc.tables import ColumnFacts, FoundTable, TableId
from penstock.errors import ConfigError, DataError, PenstockError, RefusedError, RetriableError

log = logging.getLogger(__name__)

#: How long one statement may take before its connection is given up.
STATEMENT_SECONDS: Final = 600.0
_KEPT_STATEMENTS: Final = 32
_WAIT_SECONDS: Final = 0.2
_COPY_BYTES: Final = 1 << 16

_ISOLATION: Final = {
    "READ_UNCOMMITTED": 1,
    "READ_COMMITTED": 2,
    "REPEATABLE_READ": 4,
    "SERIALIZABLE": 8,
    "SQL_SERVER_SNAPSHOT": 4096,
}
# SQLSTATE classes and codes: connection, resources, the server goes down or comes up.
_LOST: Final = ("08", "53", "57P", "HYT", "S1T", "40")
_LOST_CLASSES: Final = (
    *("java.sql.SQLTransientException", "java.sql.SQLRecoverableException"),
    "java.sql.SQLNonTransientConnectionException",
)
# PostgreSQL's driver has one class for all.
_LOST_WORDS: Final = re.compile(
    r"PSQLException: (?:An I/O error|Connection to \S+ refused|The connection attempt failed"
    r"|This connection has been closed|FATAL: (?:the database system is|terminating connection)).*"
)
_REFUSED: Final = ("28", "3D", "3F", "0P")
_NULL_POINTER: Final = "java.lang.NullPointerException"
_NETWORK: Final = {
    "java.net.UnknownHostException": "no such host;",
    "java.net.ConnectException": "the connection was refused: is the database running there?",
    "java.net.NoRouteToHostException": "there is no way to this host;",
    "java.net.SocketTimeoutException": "it did not answer in time;",
}
# What is wrong with a row: values that do not fit, constraints, limits, and what triggers raise.
_WRONG_ROW: Final = ("22", "23", "44", "45", "54", "P0001")
# The same where the state does not tell: MySQL's numbers for a value that does not fit its column,
# a check, a row that is too big; SQLite's for a constraint, a type and a size.
_WRONG_ROW_CODES: Final = {
    "HY000": frozenset({1366, 1364, 1411, 3819, 4025}),
    "01000": frozenset({1265}),
    "42000": frozenset({1118, 1153}),
    "": frozenset({18, 19, 20}),
}
_ROW: Final = re.compile(r"(?:COPY .*, line|\bat row) (\d+)\b")


class Database:
    """One connection, opened when first needed and again when it was lost. For one thread.

    Args:
        jvm: pyspark's view of the JVM.
        stopping: asked during waits; they end when it says True.
    """

    def __init__(
        self,
        settings: ConnectionSettings,
        dialect: Dialect,
        jvm: Any,
        *,
        stopping: Callable[[], bool] = lambda: False,
        statement_seconds: float = STATEMENT_SECONDS,
    ) -> None:
        self.settings = settings
        self.dialect = dialect
        self._jvm = jvm
        self._stopping = stopping
        self._statement_seconds = statement_seconds
        self._driver: Any = None
        self._connection: Any = None
        self._prepared: dict[str, Any] = {}

    # ------------------------------------------------------------------------------ statements

    def query(self, sql: str, *params: object, limit: int = 10_000) -> list[tuple[Any, ...]]:
        """The rows of a small result, as Python values; at most `limit` of them.

        The statement is kept: asking the same again costs three calls into the JVM.

        Raises:
            RetriableError: the connection was lost; the next call opens another.
            RefusedError: the database refuses a row.
            DataError: it refuses the statement.
        """
        with self._translating(sql):
            return _rows(self._asked(sql, params), limit)

    def first(self, sql: str, columns: int) -> tuple[Any, ...] | None:
        """The first row of a result; None if there is none, which takes two calls into the JVM."""
        with self._translating(sql):
            results = self._asked(sql)
            row = None
            if results.next():
                row = tuple(_value(results.getObject(n)) for n in range(1, columns + 1))
            self._release(results)
            return row

    def _release(self, results: Any) -> None:
        # Asking again closes it as well; that is soon enough but where it locks others out.
        if self.dialect.results_lock:
            results.close()

    def execute(self, sql: str, *params: object) -> int:
        """Run a statement that changes something; the number of rows it touched."""
        with self._translating(sql):
            statement = self._connected().prepareStatement(sql)
            try:
                _bind(self._jvm, statement, params)
                return int(statement.executeUpdate())
            finally:
                statement.close()

    def copy_in(self, sql: str, path: str) -> int:
        """PostgreSQL only: COPY … FROM STDIN with the contents of a file; the rows it took."""
        with self._translating(sql):
            copies = self._connected().getCopyAPI()
            stream = self._jvm.java.io.FileInputStream(path)
            try:
                return int(copies.copyIn(sql, stream, _COPY_BYTES))
            finally:
                stream.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what the block does, or roll it back if the block raises."""
        with self._translating("BEGIN"):
            connection = self._connected()
            connection.setAutoCommit(False)
        try:
            yield
            with self._translating("COMMIT"):
                connection.commit()
        except BaseException:
            self._roll_back(connection)
            raise
        finally:
            self._end_transaction(connection)

    # -------------------------------------------------------------------------------- metadata

    @property
    def driver_class(self) -> str:
        """The class of the driver, for Spark."""
        with self._translating("load the driver"):
            return str(self._loaded_driver().getClass().getName())

    @property
    def catalog(self) -> str | None:
        """The catalog of the connection; for MySQL, the database of the URL."""
        with self._translating("ask for the catalog"):
            found = self._connected().getCatalog()
            return str(found) if found else None

    def tables(
        self,
        types: Sequence[str] = ("TABLE",),
        *,
        catalog: str | None = None,
        schema: str | None = None,
        name: str = "%",
    ) -> list[FoundTable]:
        """Tables by JDBC's patterns; None stands for all."""
        if catalog is None and self.dialect.own_catalog_only:
            catalog = self.catalog
        with self._translating("list the tables"):
            kinds = _strings(self._jvm, types)
            metadata = self._connected().getMetaData()
            results = metadata.getTables(catalog, schema, name, kinds)
            wanted = {kind.upper() for kind in types}
            found = [
                FoundTable(TableId(row[2], row[1] or None, row[0] or None), row[3])
                for row in _rows(results, 1_000_000, columns=4)
            ]
        # A driver may also give types that were not asked for, and the patterns' other matches.
        return [
            each
            for each in found
            if (each.type or "TABLE").upper() in wanted
            or ("TABLE" in wanted and (each.type or "").upper() == "BASE TABLE")
        ]

    def columns(self, table: TableId) -> tuple[ColumnFacts, ...]:
        """The columns of a table, in its order.

        Raises:
            DataError: there is no such table.
        """
        return self.columns_of(f"SELECT * FROM {self.dialect.qualified(table)} WHERE 1 = 0")

    def columns_of(self, sql: str) -> tuple[ColumnFacts, ...]:
        """The columns of a query's result."""
        with self._translating(sql):
            # A plain statement: of a prepared one, PostgreSQL refuses a result that has changed.
            statement = self._connected().createStatement()
            try:
                metadata = statement.executeQuery(sql).getMetaData()
                count = metadata.getColumnCount()
                return tuple(_column(metadata, number) for number in range(1, count + 1))
            finally:
                statement.close()

    def fingerprint(self, sql: str) -> str | None:
        """A text that changes with the columns of a result; None if there is no cheap one.

        Asking a driver about each column takes many calls into the JVM; this takes a few.
        """
        spark_sql = self._jvm.org.apache.spark.sql
        dialect = spark_sql.jdbc.JdbcDialects.get(self.dialect.spark_url(self.settings))
        always_nullable = wall_clock = False
        with self._translating(sql):
            connection = self._connected()
            statement = connection.createStatement()
            try:
                schema = spark_sql.execution.datasources.jdbc.JdbcUtils.getSchema(
                    connection, statement.executeQuery(sql), dialect, always_nullable, wall_clock
                )
                return str(schema.json())
            except Py4JJavaError as error:
                # Spark has no type for one of them; we may.
                if str(error.java_exception.getClass().getName()).startswith("org.apache.spark."):
                    return None
                raise
            finally:
                statement.close()

    def primary_key(self, table: TableId) -> tuple[str, ...]:
        """The columns of the primary key, in its order; empty without one."""
        with self._translating("ask for the primary key"):
            metadata = self._connected().getMetaData()
            results = metadata.getPrimaryKeys(table.catalog, table.schema, table.name)
            rows = _rows(results, 1000, columns=5)
        return tuple(row[3] for row in sorted(rows, key=lambda row: row[4]))

    def leading_index_columns(self, table: TableId) -> frozenset[str]:
        """The columns that an index of the table begins with."""
        with self._translating("ask for the indexes"):
            metadata = self._connected().getMetaData()
            place = (table.catalog, table.schema, table.name)
            unique_only, approximate = False, True
            results = metadata.getIndexInfo(*place, unique_only, approximate)
            rows = _rows(results, 10_000, columns=9)
        indexed = {row[8] for row in rows if row[7] == 1 and row[8]}
        return frozenset(indexed | set(self.primary_key(table)[:1]))

    # ------------------------------------------------------------------------------ connection

    def connect(self) -> None:
        """Open the connection now, in as many attempts as the settings allow.

        Raises:
            ConfigError: there is no driver, or the database refuses us.
            RetriableError: it did not answer in any attempt.
        """
        with self._translating("connect"):
            self._connected()

    def close(self) -> None:
        """Give up the connection; the next call opens another. May be called at any time."""
        connection, self._connection = self._connection, None
        self._prepared.clear()
        if connection is not None:
            try:
                connection.close()
            except Exception:
                log.debug("a connection did not close cleanly", exc_info=True)

    def _connected(self) -> Any:
        if self._connection is None:
            self._connection = self._opened()
        return self._connection

    def _opened(self) -> Any:
        driver = self._loaded_driver()
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
        properties = self._jvm.java.util.Properties()
        for name, value in self.dialect.properties(self.settings).items():
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
            executor = self._jvm.java.util.concurrent.ForkJoinPool.commonPool()
            connection.setNetworkTimeout(executor, int(self._statement_seconds * 1000))
        except Py4JJavaError:
            log.debug("the driver has no network timeout")

    def _loaded_driver(self) -> Any:
        if self._driver is None:
            loader = self._jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()
            wanted = self.dialect.driver(self.settings)
            if wanted is None:
                self._driver = self._driver_by_url(loader)
            else:
                self._driver = self._driver_by_name(loader, wanted.class_name, wanted.jar)
        return self._driver

    def _driver_by_name(self, loader: Any, class_name: str, jar: str) -> Any:
        try:
            return loader.loadClass(class_name).newInstance()
        except Py4JJavaError as error:
            if "ClassNotFoundException" not in str(error.java_exception):
                raise
            raise _no_driver(f"the class {class_name} was not found", jar) from None

    def _driver_by_url(self, loader: Any) -> Any:
        service = loader.loadClass("java.sql.Driver")
        drivers = self._jvm.java.util.ServiceLoader.load(service, loader).iterator()
        while drivers.hasNext():
            driver = drivers.next()
            if driver.acceptsURL(self.settings.url):
                return driver
        scheme = self.settings.scheme
        raise _no_driver(f"no driver knows jdbc:{scheme}: URLs", f"a JDBC driver for {scheme}")

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self._stopping():
            time.sleep(min(_WAIT_SECONDS, seconds))
        if self._stopping():
            raise RetriableError("it is to stop")

    def _asked(self, sql: str, params: Sequence[object] = ()) -> Any:
        """The result of a kept statement; one that has grown stale is made anew."""
        kept = sql in self._prepared
        try:
            return self._answer(sql, params)
        except Py4JJavaError:
            if not kept:
                raise
            # A table that was altered leaves plans behind that no longer work.
            self._prepared.pop(sql).close()
            return self._answer(sql, params)

    def _answer(self, sql: str, params: Sequence[object]) -> Any:
        statement = self._statement(sql)
        _bind(self._jvm, statement, params)
        return statement.executeQuery()

    def _statement(self, sql: str) -> Any:
        statement = self._prepared.get(sql)
        if statement is None:
            if len(self._prepared) >= _KEPT_STATEMENTS:
                self._prepared.pop(next(iter(self._prepared))).close()
            statement = self._connected().prepareStatement(sql)
            self._prepared[sql] = statement
        return statement

    def _roll_back(self, connection: Any) -> None:
        try:
            connection.rollback()
        except Py4JJavaError:
            self.close()  # It can't even do that: the server rolls back when we are gone.

    def _end_transaction(self, connection: Any) -> None:
        if self._connection is None:
            return
        try:
            connection.setAutoCommit(True)
        except Py4JJavaError:
            self.close()

    # ---------------------------------------------------------------------------------- errors

    @contextmanager
    def _translating(self, doing: str) -> Iterator[None]:
        try:
            yield
        except Py4JJavaError as error:
            failure = self._translated(error, doing)
            if isinstance(failure, RetriableError):
                self.close()
            # Without the Java trace: it has the URL with whatever is written in it.
            raise failure from None

    def _translated(self, error: Py4JJavaError, doing: str) -> PenstockError:
        cause = _sql_exception(error.java_exception)
        if cause is None and str(error.java_exception.getClass().getName()) == _NULL_POINTER:
            # What the JVM says then names variables of the driver.
            return ConfigError(
                f"{self.settings.place}: the driver can't work with these settings; is the"
                f" connection.url whole, with host and database? (in: {doing[:300]})"
            )
        state = str(cause.getSQLState() or "") if cause is not None else ""
        words = str((cause or error.java_exception).getMessage() or error.java_exception.toString())
        away = _why_away(error.java_exception)
        text = self.settings.hide(
            f"{self.settings.place}: {away}{' '.join(words.split())}"
            f" (SQLSTATE {state or 'unknown'}, in: {' '.join(doing.split())[:300]})"
        )
        if state.startswith(_REFUSED):
            return ConfigError(text)
        if state.startswith(_LOST) or _is_transient(cause):
            return RetriableError(text)
        return RefusedError(text, row_in(words)) if _is_wrong_row(state, cause) else DataError(text)


def _no_driver(what: str, jar: str) -> ConfigError:
    return ConfigError(
        f"{what}: put the jar of {jar} into a directory of plugin.path, or name it in spark.jars,"
        " and start the worker anew"
    )


def _sql_exception(error: Any) -> Any:
    """The first java.sql.SQLException among an exception and its causes; None if there is none."""
    for _ in range(10):
        if error is None:
            return None
        if _has_method(error, "getSQLState"):
            return error
        error = error.getCause()
    return None


def lost_in_job(text: str) -> str | None:
    """What a failed job says of a database that went away; None if it was another's fault."""
    words = _LOST_WORDS.search(text)
    return words.group() if words else line_about(text, *_LOST_CLASSES)


def _why_away(error: Any) -> str:
    """What the network says, which drivers tell in many ways or not at all; else empty."""
    for _ in range(10):
        if error is None:
            return ""
        said = _NETWORK.get(str(error.getClass().getName()))
        if said is not None:
            return f"{said} "
        error = error.getCause()
    return ""


def row_in(words: str) -> int | None:
    """The row that a database speaks of, counted from 0, in what it was given to load."""
    found = _ROW.search(words)
    return None if found is None else int(found.group(1)) - 1


def _is_wrong_row(state: str, cause: Any) -> bool:
    if state.startswith(_WRONG_ROW):
        return True
    codes = _WRONG_ROW_CODES.get(state, frozenset())
    return cause is not None and bool(codes) and int(cause.getErrorCode()) in codes


def _has_method(java_object: Any, name: str) -> bool:
    methods = java_object.getClass().getMethods()
    return any(method.getName() == name for method in methods)


def _is_transient(cause: Any) -> bool:
    if cause is None:
        return False
    kinds = ("Transient", "Recoverable", "Communications", "Timeout", "Connection")
    return any(kind in str(cause.getClass().getSimpleName()) for kind in kinds)


def _bind(jvm: Any, statement: Any, params: Sequence[object]) -> None:
    for number, value in enumerate(params, 1):
        if isinstance(value, Decimal):
            statement.setBigDecimal(number, jvm.java.math.BigDecimal(str(value)))
        elif isinstance(value, int) and not isinstance(value, bool):
            statement.setLong(number, value)
        else:
            statement.setObject(number, value)


def _rows(results: Any, limit: int, columns: int | None = None) -> list[tuple[Any, ...]]:
    count = columns or results.getMetaData().getColumnCount()
    found: list[tuple[Any, ...]] = []
    while len(found) < limit and results.next():
        found.append(tuple(_value(results.getObject(number)) for number in range(1, count + 1)))
    results.close()
    return found


def _value(value: Any) -> Any:
    """A Python value; py4j has made one of everything but dates and rarer things."""
    if not isinstance(value, JavaObject):
        return value
    kind = value.getClass().getName()
    if kind in {"java.sql.Timestamp", "java.time.LocalDateTime"}:
        # `2021-12-05 06:57:48.0`, or with a T and as many digits as there are.
        moment, _, fraction = value.toString().replace("T", " ").partition(".")
        whole = datetime.fromisoformat(moment).replace(tzinfo=UTC)
        return whole.replace(microsecond=int(fraction[:6].ljust(6, "0") or 0))
    if kind == "java.math.BigInteger":
        return int(value.toString())
    return value.toString()


def _column(metadata: Any, number: int) -> ColumnFacts:
    return ColumnFacts(
        name=metadata.getColumnLabel(number),
        type=metadata.getColumnType(number),
        type_name=str(metadata.getColumnTypeName(number) or "").lower(),
        precision=metadata.getPrecision(number),
        scale=metadata.getScale(number),
        # 0 is columnNoNulls; 2, unknown, may be null.
        optional=metadata.isNullable(number) != 0,
        autoincrement=metadata.isAutoIncrement(number),
        signed=metadata.isSigned(number),
        java_class=str(metadata.getColumnClassName(number) or ""),
    )


def _strings(jvm: Any, texts: Sequence[str]) -> Any:
    made = jvm.java.lang.reflect.Array.newInstance(
        jvm.java.lang.Class.forName("java.lang.String"), len(texts)
    )
    for number, text in enumerate(texts):
        made[number] = text
    return made
