"""Bringing the rows of a frame into a table: the database's own bulk load, or JDBC batches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from penstock.connectors.jdbc.database import Database, row_in
from penstock.connectors.jdbc.sink.forms import Form
from penstock.connectors.jdbc.sink.spool import Load, count_lines, load_few, load_parts
from penstock.errors import RefusedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_HEX: Final = "UNHEX({})"
_NUMBER: Final = "CAST({} AS SIGNED)"
#: So few rows are fetched and put into a file here sooner than Spark has opened one.
FEW_ROWS: Final = 2000


@dataclass(frozen=True, slots=True)
class Into:
    """A table to load, its name quoted, and its columns in the order of the frame's.

    `binary`: those whose values are bytes; `bits`: numbers for columns of bits.
    """

    table: str
    columns: tuple[str, ...]
    binary: frozenset[str] = frozenset()
    bits: frozenset[str] = frozenset()


class Loader(Protocol):
    """One way to load."""

    form: Form
    #: Whether the rows go through the task's own connection, and so are in its transaction.
    own: bool

    def load(self, rows: DataFrame, into: Into, *, few: bool) -> int:
        """Load all rows; how many there were. Unless `own`, they are committed on return."""
        ...


class CopyLoader:
    """PostgreSQL's COPY."""

    form = Form.COPY
    own = True

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self, rows: DataFrame, into: Into, *, few: bool) -> int:
        names = ", ".join(map(self._database.dialect.quote, into.columns))
        copy = f"COPY {into.table} ({names}) FROM STDIN"
        return _spooled(rows, lambda part: self._database.copy_in(copy, str(part)), few=few)


class LoadDataLoader:
    """LOAD DATA LOCAL of MariaDB and MySQL.

    With LOCAL the server can't refuse a row: it drops or changes it, and warns. What another
    statement would have refused is refused here, before the commit.
    """

    form = Form.LOAD
    own = True

    def __init__(self, database: Database, *, strict: bool) -> None:
        self._database = database
        self._strict = strict

    def load(self, rows: DataFrame, into: Into, *, few: bool) -> int:
        return _spooled(rows, lambda part: self._load(part, into), few=few)

    def _load(self, part: Path, into: Into) -> int:
        loaded = self._database.execute(self._statement(part, into))
        warnings = self._database.query("SHOW WARNINGS LIMIT 20")
        serious = [str(row[2]) for row in warnings if str(row[0]) != "Note"]
        dropped = count_lines(part) - loaded
        if dropped or (self._strict and serious):
            why = serious[0] if serious else f"{dropped} rows were not taken"
            raise RefusedError(f"table {into.table}: {why}", row_in(why))
        return loaded

    def _statement(self, part: Path, into: Into) -> str:
        dialect = self._database.dialect
        texts = {
            name: f"@t{number}"
            for number, name in enumerate(into.columns)
            if name in into.binary | into.bits
        }
        names = [texts.get(name) or dialect.quote(name) for name in into.columns]
        made = [
            f"{dialect.quote(name)} = {(_HEX if name in into.binary else _NUMBER).format(text)}"
            for name, text in texts.items()
        ]
        return (
            f"LOAD DATA LOCAL INFILE {dialect.text(str(part))} INTO TABLE {into.table}"
            " CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\'"
            f" LINES TERMINATED BY '\\n' ({', '.join(names)})"
            + (f" SET {', '.join(made)}" if made else "")
        )


def _spooled(rows: DataFrame, load: Load, *, few: bool) -> int:
    return load_few(rows.toArrow(), load) if few else load_parts(rows, load)


class BatchLoader:
    """Spark's JDBC writer: for every database, at the speed of JDBC batches."""

    own = False

    def __init__(self, form: Form, options: dict[str, str], batch_size: int) -> None:
        self.form = form
        self._options = {**options, "batchsize": str(max(1, batch_size))}

    def load(self, rows: DataFrame, into: Into, *, few: bool) -> int:
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        del few
        seen = Observation()
        # One partition is one transaction.
        counted = rows.coalesce(1).observe(seen, F.count(F.lit(1)).alias("rows"))
        writer = counted.write.format("jdbc").mode("append")
        writer.options(**self._options, dbtable=into.table).save()
        return int(seen.get["rows"])
