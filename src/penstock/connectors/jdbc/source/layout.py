"""The columns of a table or query, and what follows from them: fields, schema and order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.source.config import Mode, SourceConfig
from penstock.connectors.jdbc.source.mode_columns import ModeColumns
from penstock.connectors.jdbc.source.ordering import Ordering
from penstock.connectors.jdbc.source.origin import Origin
from penstock.connectors.jdbc.source.positions import OffsetForm
from penstock.connectors.jdbc.source.schemas import SchemaRules, field_schemas, record_schema
from penstock.connectors.jdbc.tables import ColumnFacts, SqlType
from penstock.kernel.data.schema import Field, Schema

if TYPE_CHECKING:
    from penstock.connectors.jdbc.source.fields import ReadField

_INTEGERS: Final = frozenset({SqlType.TINYINT, SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT})


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of an origin at one time, and what follows from them.

    Attributes:
        ordering: None in mode bulk.
        ranged: whether an index finds a range of the ordering; without one every range is a
            whole scan.
        shared_by: the column that bulk reads are shared by.
    """

    fields: tuple[ReadField, ...]
    schema: Schema
    ordering: Ordering | None
    form: OffsetForm
    ranged: bool
    shared_by: str | None


class CurrentLayout:
    """The layout of one origin; asked for anew when its columns have changed."""

    def __init__(self, origin: Origin, config: SourceConfig) -> None:
        self._origin = origin
        self._config = config
        self._mode = Mode(config.mode)
        self._layout: Layout | None = None
        self._fingerprint: str | None = None

    def known(self, database: Database) -> Layout:
        """The layout as it was last found."""
        return self._layout or self.checked(database)

    def checked(self, database: Database) -> Layout:
        """The layout as it is now.

        Raises:
            ConfigError: the origin lacks a column that the mode needs.
        """
        empty = f"SELECT * FROM {self._origin.source} WHERE 1 = 0"
        fingerprint = database.metadata.fingerprint(empty)
        if self._layout is None or fingerprint is None or fingerprint != self._fingerprint:
            self._layout = self._described(database, database.metadata.columns_of(empty))
            self._fingerprint = fingerprint
        return self._layout

    def _described(self, database: Database, columns: Sequence[ColumnFacts]) -> Layout:
        from penstock.connectors.jdbc.source.fields import read_field

        config, dialect = self._config, database.dialect
        rules = SchemaRules(config.numerics, config.granularity, config.decimal_precision)
        known = field_schemas(columns, dialect, rules)
        fields = tuple(
            read_field(number, column, schema, dialect)
            for number, (column, schema) in enumerate(known)
        )
        table = self._origin.table
        name = None if table is None else table.name
        schema = record_schema(name, (Field(each.column.name, each.schema) for each in fields))
        ordering = self._ordering(database, columns)
        return Layout(
            fields,
            schema,
            ordering,
            self._offset_form(ordering),
            self._is_ranged(database, ordering),
            self._shared_by(database, columns),
        )

    def _ordering(self, database: Database, columns: Sequence[ColumnFacts]) -> Ordering | None:
        if self._mode is Mode.BULK:
            return None
        found = ModeColumns(self._origin, self._config, columns)
        number, timestamps = found.incrementing(), found.timestamps()
        if self._config.validate_non_null:
            found.check_not_null(number, timestamps)
        settled = (self._config.timestamp_delay_interval_ms, self._config.db_timezone)
        return Ordering(database.dialect, self._origin.source, timestamps, number, *settled)

    def _offset_form(self, ordering: Ordering | None) -> OffsetForm:
        zone = self._config.db_timezone
        utc = zone == "UTC" or (ordering is not None and ordering.has_instants)
        return OffsetForm(self._mode, None if utc else ZoneInfo(zone))

    def _is_ranged(self, database: Database, ordering: Ordering | None) -> bool:
        if ordering is None:
            return False
        if self._origin.table is None:
            return True  # It is unknown; its tables may well have an index.
        if len(ordering.timestamps) > 1:
            return False
        columns = ordering.timestamps or (ordering.number,)
        indexed = database.metadata.leading_index_columns(self._origin.table)
        return any(column is not None and column.name in indexed for column in columns)

    def _shared_by(self, database: Database, columns: Sequence[ColumnFacts]) -> str | None:
        """A primary key that is one whole number."""
        if self._mode is not Mode.BULK or self._origin.table is None:
            return None
        key = database.metadata.primary_key(self._origin.table)
        types = {column.name: column.type for column in columns}
        return key[0] if len(key) == 1 and types.get(key[0]) in _INTEGERS else None
