"""The target's tables: found, made, and given new columns, before a row is written."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.dialects.creating import NewColumn
from penstock.connectors.jdbc.tables import TableId
from penstock.kernel.errors import ConfigError, DataError, UnfitError

log = logging.getLogger(__name__)

_KINDS: Final = ("TABLE", "PARTITIONED TABLE", "VIEW")


class TargetTables:
    """Finds, makes and extends tables, and remembers their columns.

    Args:
        create: whether missing tables are made.
        evolve: whether missing columns are added.
        kinds: the kinds of table that may be written to.
    """

    def __init__(
        self,
        database: Database,
        *,
        create: bool,
        evolve: bool,
        kinds: Sequence[str] = ("TABLE",),
    ) -> None:
        self._database = database
        self._dialect = database.dialect
        self._create = create
        self._evolve = evolve
        self._kinds = {kind.replace("_", " ").upper() for kind in kinds}
        self._known: dict[TableId, tuple[str, ...]] = {}
        self._bits: dict[TableId, frozenset[str]] = {}

    def forget(self) -> None:
        """Ask anew: somebody may have changed a table."""
        self._known.clear()

    def prepare(self, table: TableId, columns: Sequence[NewColumn]) -> dict[str, str]:
        """Make sure that the table has the columns; the name each has there.

        Raises:
            ConfigError: the table is missing and may not be made.
            UnfitError: a column is missing and may not, or can't, be made.
        """
        known = self._known.get(table)
        if known is None:
            known = self._find(table) or self._made(table, columns)
        names = _matched(known, columns)
        missing = [column for column in columns if column.name not in names]
        if missing:
            known = self._with_columns(table, known, missing)
            names = _matched(known, columns)
        self._known[table] = known
        return names

    def bits(self, table: TableId) -> frozenset[str]:
        """The table's columns of bits, for which a text is not a number but its characters."""
        return self._bits.get(table, frozenset())

    def _find(self, table: TableId) -> tuple[str, ...] | None:
        try:
            columns = self._database.metadata.columns(table)
        except DataError:
            if self._kind(table) is not None:
                raise
            return None
        kind = self._kind(table)
        if kind is not None and kind not in self._kinds:
            raise ConfigError(f"{table} is a {kind}; name that in table.types to write to it")
        self._bits[table] = frozenset(each.name for each in columns if each.type_name == "bit")
        return tuple(column.name for column in columns)

    def _kind(self, table: TableId) -> str | None:
        """The kind of the table in the driver's words; None if it finds none of this name."""
        found = self._database.metadata.tables(
            _KINDS, catalog=table.catalog, schema=table.schema, name=table.name
        )
        kinds = [each.type.upper() for each in found if each.id.name == table.name]
        return kinds[0].replace("BASE TABLE", "TABLE") if kinds else None

    def _made(self, table: TableId, columns: Sequence[NewColumn]) -> tuple[str, ...]:
        if not self._create:
            raise ConfigError(
                f"table {table} does not exist; make it, or set auto.create=true to have it made"
            )
        statement = self._dialect.creating.create_table(self._dialect.qualified(table), columns)
        log.info("Making table %s", table)
        try:
            self._database.execute(statement)
        except DataError:
            # Another task may have been quicker.
            found = self._find(table)
            if found is None:
                raise
            return found
        return tuple(column.name for column in columns)

    def _with_columns(
        self, table: TableId, known: tuple[str, ...], missing: Sequence[NewColumn]
    ) -> tuple[str, ...]:
        self._check_addition(table, missing)
        names = [column.name for column in missing]
        log.info("Adding to table %s: %s", table, ", ".join(names))
        qualified = self._dialect.qualified(table)
        try:
            for statement in self._dialect.creating.add_columns(qualified, missing):
                self._database.execute(statement)
        except DataError:
            found = self._find(table) or known
            if any(name not in found for name in names):
                raise
            return found
        return (*known, *names)

    def _check_addition(self, table: TableId, missing: Sequence[NewColumn]) -> None:
        names = ", ".join(column.name for column in missing)
        if not self._evolve:
            raise UnfitError(
                f"table {table} has no column {names}; add it, or set auto.evolve=true to have it"
                " added"
            )
        fixed = [
            column.name for column in missing if column.required and column.schema.default is None
        ]
        if fixed:
            raise UnfitError(
                f"column {', '.join(fixed)} can't be added to table {table}: its field is not"
                " optional and has no default, so existing rows would violate NOT NULL"
            )


def _matched(known: Sequence[str], columns: Sequence[NewColumn]) -> dict[str, str]:
    """The table's column for each of these: of the same name, or else but for its case."""
    folded = {name.casefold(): name for name in known}
    exact = set(known)
    found = {
        column.name: column.name if column.name in exact else folded.get(column.name.casefold())
        for column in columns
    }
    return {name: there for name, there in found.items() if there is not None}
