"""Databases without a dialect of their own: Oracle, SQL Server, Db2 and others."""

from __future__ import annotations

from penstock.connectors.jdbc.dialects.dialect import Dialect


class GenericDialect(Dialect):
    """Standard SQL and the conversions of the driver, whose jar has to be on `plugin.path`."""

    names = (
        "GenericDatabaseDialect",
        "Db2DatabaseDialect",
        "DerbyDatabaseDialect",
        "OracleDatabaseDialect",
        "SapHanaDatabaseDialect",
        "SqlServerDatabaseDialect",
        "SybaseDatabaseDialect",
        "VerticaDatabaseDialect",
    )
