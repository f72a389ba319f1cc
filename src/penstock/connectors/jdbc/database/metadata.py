"""The metadata of a database: its tables, their columns, keys and indexes."""

from __future__ import annotations

from collections.abc import Sequence

from py4j.protocol import Py4JJavaError

from penstock.connectors.jdbc.database.connection import Connection
from penstock.connectors.jdbc.database.values import column_facts, fetch_rows, string_array
from penstock.connectors.jdbc.tables import ColumnFacts, FoundTable, TableId


class Metadata:
    """Asks the driver. Every method raises as Database.query() does."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def catalog(self) -> str | None:
        """The catalog of the connection; for MySQL, the database of the URL."""
        with self._connection.use("ask for the catalog") as connection:
            found = connection.getCatalog()
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
        if catalog is None and self._connection.dialect.own_catalog_only:
            catalog = self.catalog
        with self._connection.use("list the tables") as connection:
            kinds = string_array(self._connection.jvm, types)
            results = connection.getMetaData().getTables(catalog, schema, name, kinds)
            found = [
                FoundTable(TableId(row[2], row[1] or None, row[0] or None), row[3])
                for row in fetch_rows(results, 1_000_000, columns=4)
            ]
        # A driver may also give types that were not asked for, and the patterns' other matches.
        wanted = {kind.upper() for kind in types}
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
        name = self._connection.dialect.qualified(table)
        return self.columns_of(f"SELECT * FROM {name} WHERE 1 = 0")

    def columns_of(self, sql: str) -> tuple[ColumnFacts, ...]:
        """The columns of a query's result."""
        with self._connection.use(sql) as connection:
            # A plain statement: of a prepared one, PostgreSQL refuses a result that has changed.
            statement = connection.createStatement()
            try:
                metadata = statement.executeQuery(sql).getMetaData()
                count = metadata.getColumnCount()
                return tuple(column_facts(metadata, number) for number in range(1, count + 1))
            finally:
                statement.close()

    def fingerprint(self, sql: str) -> str | None:
        """A text that changes with the columns of a result; None if there is no cheap one.

        Asking a driver about each column takes many calls into the JVM; this takes a few.
        """
        spark_sql = self._connection.jvm.org.apache.spark.sql
        url = self._connection.dialect.connecting.spark_url(self._connection.settings)
        dialect = spark_sql.jdbc.JdbcDialects.get(url)
        always_nullable = wall_clock = False
        with self._connection.use(sql) as connection:
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
        with self._connection.use("ask for the primary key") as connection:
            metadata = connection.getMetaData()
            results = metadata.getPrimaryKeys(table.catalog, table.schema, table.name)
            rows = fetch_rows(results, 1000, columns=5)
        return tuple(row[3] for row in sorted(rows, key=lambda row: row[4]))

    def leading_index_columns(self, table: TableId) -> frozenset[str]:
        """The columns that an index of the table begins with."""
        with self._connection.use("ask for the indexes") as connection:
            place = (table.catalog, table.schema, table.name)
            unique_only, approximate = False, True
            results = connection.getMetaData().getIndexInfo(*place, unique_only, approximate)
            rows = fetch_rows(results, 10_000, columns=9)
        indexed = {row[8] for row in rows if row[7] == 1 and row[8]}
        return frozenset(indexed | set(self.primary_key(table)[:1]))
