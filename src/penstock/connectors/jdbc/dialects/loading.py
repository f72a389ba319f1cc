"""The contract of bulk loaders, and the form in which values leave Spark for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from penstock.connectors.jdbc.spool import Load, load_few, load_parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ValueForm:
    """How values leave Spark. By default as java.sql.PreparedStatement takes them.

    Attributes:
        lines: all columns are one line of text, with tabs between them; `\\N` is a null.
        hex_prefix: in a line, what stands before the hexadecimal digits of bytes.
        arrays: an array is a text in braces; otherwise the database takes none.
        times_as_millis: dates and times are milliseconds since 1970 as whole numbers.
    """

    lines: bool = False
    hex_prefix: str = ""
    arrays: bool = False
    times_as_millis: bool = False


@dataclass(frozen=True, slots=True)
class TableToLoad:
    """A table to load, its name quoted, and its columns in the order of the frame's.

    `binary`: those whose values are bytes; `bits`: numbers for columns of bits.
    """

    name: str
    columns: tuple[str, ...]
    binary: frozenset[str] = frozenset()
    bits: frozenset[str] = frozenset()


class Loader(Protocol):
    """One way to load."""

    form: ValueForm
    #: Whether the rows go through the task's own connection, and so are in its transaction.
    in_transaction: bool

    def load(self, rows: DataFrame, table: TableToLoad, *, few: bool) -> int:
        """Load all rows; how many there were. Outside the transaction they are committed then."""
        ...


class LoadingDatabase(Protocol):
    """The part of the task's database that bulk loaders use; see database.Database."""

    def query(self, sql: str, *params: object, limit: int = ...) -> list[tuple[Any, ...]]: ...
    def execute(self, sql: str, *params: object) -> int: ...
    def with_connection(self, sql: str, action: Callable[[Any, Any], T]) -> T: ...


def load_lines(rows: DataFrame, load: Load, *, few: bool) -> int:
    """Load lines of text from files on the driver's disk; how many there were.

    `few`: they are fetched and put into a file here sooner than Spark has opened one.
    """
    return load_few(rows.toArrow(), load) if few else load_parts(rows, load)
