"""The columns by which a mode recognises new rows: found by name, and checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from penstock.connectors.jdbc.source.config import Mode, SourceConfig
from penstock.connectors.jdbc.source.origin import Origin
from penstock.connectors.jdbc.tables import ColumnFacts, SqlType
from penstock.kernel.errors import ConfigError

_NUMBERS: Final = frozenset(
    {
        *(SqlType.TINYINT, SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT),
        *(SqlType.NUMERIC, SqlType.DECIMAL),
    }
)
_TIMES: Final = frozenset({SqlType.DATE, SqlType.TIMESTAMP, SqlType.TIMESTAMP_WITH_TIMEZONE})


class ModeColumns:
    """Chooses among the columns of one origin. Every method may raise ConfigError."""

    def __init__(
        self, origin: Origin, config: SourceConfig, columns: Sequence[ColumnFacts]
    ) -> None:
        self._origin = origin
        self._config = config
        self._mode = Mode(config.mode)
        self._columns = columns

    def incrementing(self) -> ColumnFacts | None:
        """The incrementing column; None if the mode has none."""
        if not self._mode.has_incrementing:
            return None
        name = self._config.incrementing_column(self._origin.table)
        if name:
            column = self._named(name, "incrementing.column.name")
            return self._whole(self._of_type(column, _NUMBERS, "a number"))
        found = [column for column in self._columns if column.autoincrement]
        if len(found) != 1:
            raise ConfigError(
                f"{self._origin} has {len(found)} auto-increment columns: name the one to use in"
                f" incrementing.column.name; mode={self._mode} needs it"
            )
        return self._whole(found[0])

    def timestamps(self) -> tuple[ColumnFacts, ...]:
        """The timestamp columns; none if the mode has none."""
        if not self._mode.has_timestamp:
            return ()
        names = self._config.timestamp_columns(self._origin.table)
        if not names:
            raise ConfigError(f"mode={self._mode} needs timestamp.column.name for {self._origin}")
        named = (self._named(name, "timestamp.column.name") for name in names)
        return tuple(self._of_type(column, _TIMES, "a timestamp") for column in named)

    def check_not_null(self, number: ColumnFacts | None, timestamps: Sequence[ColumnFacts]) -> None:
        """Refuse columns whose rows might never be read because they are null."""
        if self._origin.table is None:
            return  # What a query's columns may be, drivers say as it suits them.
        # SQLite's driver says that a key may be null, even one that counts by itself.
        if number is not None and number.optional and not number.autoincrement:
            raise ConfigError(
                f"{self._origin}: the incrementing column {number.name} may be null, and such rows"
                " are never read; make it NOT NULL or set validate.non.null=false"
            )
        if timestamps and all(column.optional for column in timestamps):
            raise ConfigError(
                f"{self._origin}: the timestamp columns {', '.join(c.name for c in timestamps)} may"
                " be null, and such rows are never read; make one NOT NULL or set"
                " validate.non.null=false"
            )

    def _named(self, name: str, key: str) -> ColumnFacts:
        exact = [column for column in self._columns if column.name == name]
        alike = [column for column in self._columns if column.name.lower() == name.lower()]
        if not exact and len(alike) != 1:
            known = ", ".join(column.name for column in self._columns)
            raise ConfigError(f"{self._origin} has no column {name} ({key}); it has {known}")
        return (exact or alike)[0]

    def _of_type(self, column: ColumnFacts, types: frozenset[SqlType], what: str) -> ColumnFacts:
        # Codes that are not in the standard are the driver's own business.
        known = column.type in set(SqlType) and column.type != SqlType.OTHER
        if known and column.type not in types:
            raise ConfigError(
                f"{self._origin}: column {column.name} is {column.type_name}, not {what};"
                f" mode={self._mode} can't use it"
            )
        return column

    def _whole(self, column: ColumnFacts) -> ColumnFacts:
        if column.type in (SqlType.NUMERIC, SqlType.DECIMAL) and column.scale > 0:
            raise ConfigError(
                f"{self._origin}: column {column.name} is {column.type_name} with {column.scale}"
                f" digits behind the point; mode={self._mode} needs whole numbers"
            )
        return column
