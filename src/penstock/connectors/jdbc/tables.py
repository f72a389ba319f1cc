"""Tables and columns as a database's driver describes them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class SqlType(IntEnum):
    """The codes of java.sql.Types."""

    BIT = -7
    TINYINT = -6
    SMALLINT = 5
    INTEGER = 4
    BIGINT = -5
    FLOAT = 6
    REAL = 7
    DOUBLE = 8
    NUMERIC = 2
    DECIMAL = 3
    CHAR = 1
    VARCHAR = 12
    LONGVARCHAR = -1
    DATE = 91
    TIME = 92
    TIMESTAMP = 93
    BINARY = -2
    VARBINARY = -3
    LONGVARBINARY = -4
    NULL = 0
    OTHER = 1111
    BLOB = 2004
    CLOB = 2005
    ARRAY = 2003
    DATALINK = 70
    BOOLEAN = 16
    NCHAR = -15
    NVARCHAR = -9
    LONGNVARCHAR = -16
    NCLOB = 2011
    SQLXML = 2009
    TIME_WITH_TIMEZONE = 2013
    TIMESTAMP_WITH_TIMEZONE = 2014


@dataclass(frozen=True, slots=True)
class TableId:
    """The name of a table; what a database does not use is None."""

    name: str
    schema: str | None = None
    catalog: str | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the full name that there are, the table's last."""
        return tuple(part for part in (self.catalog, self.schema, self.name) if part)

    def __str__(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table that a database has, and its kind in the driver's words."""

    id: TableId
    type: str


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """A driver's metadata of one column of a result.

    Attributes:
        type: a code of java.sql.Types; drivers may have codes of their own.
        type_name: the database's name of the type, in lower case.
        optional: False only if the database promises a value.
        java_class: the class of the object the driver gives for a value.
    """

    name: str
    type: int
    type_name: str = ""
    precision: int = 0
    scale: int = 0
    optional: bool = True
    autoincrement: bool = False
    signed: bool = True
    java_class: str = ""
