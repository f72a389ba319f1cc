"""How a database writes names and texts in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from penstock.connectors.jdbc.tables import TableId


class Notation:
    """Standard SQL's notation; a dialect says what differs.

    Args:
        quoting: whether identifiers are quoted; users may turn that off.
    """

    quote_mark: ClassVar[str] = '"'
    #: Whether tables belong to catalogs, without schemas, and those of the URL's catalog are all
    #: that is looked at unless a pattern says so.
    own_catalog_only: ClassVar[bool] = False

    def __init__(self, *, quoting: bool = True) -> None:
        self._quoting = quoting

    def quote(self, name: str) -> str:
        """An identifier as SQL has it."""
        if not self._quoting:
            return name
        mark = self.quote_mark
        return f"{mark}{name.replace(mark, mark * 2)}{mark}"

    def quoted(self, names: Sequence[str], prefix: str = "") -> str:
        """A list of identifiers, each behind the prefix."""
        return ", ".join(prefix + self.quote(name) for name in names)

    def qualified(self, table: TableId) -> str:
        """The full name of a table as SQL has it."""
        return ".".join(map(self.quote, table.parts))

    def text(self, value: str) -> str:
        """A text as an SQL literal."""
        return "'" + value.replace("'", "''") + "'"

    def table_id(self, name: str) -> TableId:
        """The table that a user's name stands for, with dots between catalog, schema and table."""
        *outer, table = name.split(".")
        schema, catalog = [*reversed(outer), None, None][:2]
        if self.own_catalog_only:
            return TableId(table, None, schema)
        return TableId(table, schema, catalog)
