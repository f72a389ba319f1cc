"""One table or query: how far it was read, what is new, and in which parts to read it."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from penstock.connectors.jdbc.database import Database
from penstock.connectors.jdbc.source.ordering import Ordering, joined
from penstock.connectors.jdbc.source.positions import OffsetForm, Position
from penstock.connectors.jdbc.source.schemas import SchemaRules, field_schemas, record_schema
from penstock.connectors.jdbc.source_config import Mode, SourceConfig
from penstock.connectors.jdbc.tables import ColumnFacts, SqlType, TableId
from penstock.data.schema import Field, Schema
from penstock.errors import ConfigError

if TYPE_CHECKING:
    from penstock.connectors.jdbc.source.fields import ReadField

log = logging.getLogger(__name__)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LIMITING: Final = re.compile(r"(?i)\b(limit|fetch\s+(first|next)|top|rownum)\b")
_NUMBERS: Final = frozenset(
    {
        *(SqlType.TINYINT, SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT),
        *(SqlType.NUMERIC, SqlType.DECIMAL),
    }
)
_TIMES: Final = frozenset({SqlType.DATE, SqlType.TIMESTAMP, SqlType.TIMESTAMP_WITH_TIMEZONE})
_INTEGERS: Final = frozenset({SqlType.TINYINT, SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT})


#: Spark tells which tasks of a job have ended only of its last 200.
MOST_PARTS: Final = 100


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is read at once.

    Attributes:
        counted_rows: new rows are counted up to here; with more there is a backlog.
        chunk_rows: about so many rows of a backlog are read in one go.
        stored_rows: after about so many rows an offset is stored, within a chunk if need be.
        part_rows: a part of a chunk has no less: each needs a connection and a query.
        shared_rows: from so many rows on, several readers share them.
        readers: how many readers there are.
    """

    counted_rows: int = 10_000
    chunk_rows: int = 1_000_000
    stored_rows: int = 100_000
    part_rows: int = 10_000
    shared_rows: int = 50_000
    readers: int = 1

    @property
    def chunk_parts(self) -> int:
        """In how many parts a chunk is read.

        An offset is stored after each, so none is longer than `stored_rows`; and all that are
        read at a time have at most twice as many rows.
        """
        rows = max(2 * self.stored_rows // max(2, self.readers), self.part_rows)
        return min(max(self.readers, self.chunk_rows // rows), MOST_PARTS)

    def parts(self, rows: float) -> int:
        """In how many parts so many rows are read.

        Few different numbers, because each is a plan of its own.
        """
        if rows < self.shared_rows:
            return 1
        return self.chunk_parts if rows >= self.chunk_parts * self.part_rows else self.readers


@dataclass(frozen=True, slots=True)
class Target:
    """What is read, and where it goes.

    Attributes:
        source: what stands behind FROM.
        table: None for a query.
        mark: what tells it from another target with the same partition; None if nothing has to.
    """

    source: str
    topic: str
    partition: Mapping[str, Any]
    table: TableId | None = None
    mark: str | None = None

    def __str__(self) -> str:
        return "the query" if self.table is None else f"table {self.table}"


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of the target at one time, and what follows from them."""

    fields: tuple[ReadField, ...]
    schema: Schema
    ordering: Ordering | None
    form: OffsetForm
    #: Whether an index finds a range of the ordering; without one every range is a whole scan.
    ranged: bool
    #: The column that bulk reads are shared by.
    shared_by: str | None


@dataclass(frozen=True, slots=True)
class Reading:
    """New rows: the texts behind WHERE of the parts to read, and the position after them.

    Attributes:
        between: the positions between two parts; empty if one can't begin there.
    """

    layout: Layout
    parts: tuple[str, ...]
    position: Position | None
    more: bool
    between: tuple[Position, ...] = ()


class RowsReader:
    """Looks for new rows of one target. For one thread; keeps its position in memory only."""

    def __init__(self, target: Target, config: SourceConfig, limits: Limits) -> None:
        self.target = target
        self.skipped = 0
        self._config = config
        self._mode = Mode(config.mode)
        self._limits = limits
        self._layout: Layout | None = None
        self._fingerprint: str | None = None
        self._position: Position | None = None

    def start(self, database: Database, offset: Mapping[str, Any] | None) -> None:
        """Begin behind a stored offset, or where the configuration says.

        Raises:
            ConfigError: the target lacks a column that the mode needs.
        """
        layout = self._current_layout(database)
        if layout.ordering is None:
            return
        if offset is not None:
            self._position = layout.form.position(offset)
        else:
            self._position = self._initial(database, layout, layout.ordering)
        log.info("Reading %s from %s", self.target, self._position)

    def check(self, database: Database) -> None:
        """Raise what start() would raise; nothing is begun."""
        self._current_layout(database)

    def look(self, database: Database, *, in_parts: bool = True) -> Reading | None:
        """What is new, or None. What is returned counts as read.

        Args:
            in_parts: whether it helps that one can begin between two parts; if not, less is read.
        """
        layout = self._layout or self._current_layout(database)
        if layout.ordering is None:
            return self._look_in_bulk(database)
        assert self._position is not None, "look() comes after start()"  # noqa: S101
        suffix = self._config.suffix if self._suffix_limits else ""
        probe = layout.ordering.probe(self._position, self._limits.counted_rows, suffix)
        columns = 1 + 2 * (bool(layout.ordering.timestamps) + bool(layout.ordering.number))
        found = database.first(probe, columns)
        if found is None:
            return None
        count, *ends = map(as_number, found)
        layout = self._current_layout(database)
        if count >= self._limits.counted_rows and not suffix:
            return self._backlog(database, layout, ends, in_parts=in_parts)
        return self._all_of(database, layout, count, ends, more=bool(suffix))

    # ------------------------------------------------------------------------------ few rows

    def _all_of(
        self, database: Database, layout: Layout, count: int, ends: Sequence[int], *, more: bool
    ) -> Reading:
        """A reading of all new rows, which a single reader takes in order."""
        ordering = _present(layout.ordering)
        if ordering.timestamps:
            end = self._at_time(database, ordering, ends[1])
        else:
            end = Position(number=ends[1])
            self._count_gap(count, ends[1])
        return self._reading(layout, [], end, more=more)

    def _at_time(self, database: Database, ordering: Ordering, micros: int) -> Position:
        """The position behind all rows of a time that there are now."""
        if ordering.number is None:
            return Position(micros)
        ((number,),) = database.query(ordering.last_number(micros))
        return Position(micros, None if number is None else as_number(number))

    def _count_gap(self, count: int, last: int) -> None:
        before = _present(self._position).number
        # What is missing before the first rows was deleted long ago, or never was.
        if before in (None, self._config.incrementing_initial) or last - before <= count:
            return
        self.skipped += last - before - count
        log.info(
            "%s: %d numbers up to %d are missing, %d since the start. A row that commits later"
            " with one of them is not read",
            self.target,
            last - before - count,
            last,
            self.skipped,
        )

    # ------------------------------------------------------------------------------ many rows

    def _backlog(
        self, database: Database, layout: Layout, ends: Sequence[int], *, in_parts: bool
    ) -> Reading | None:
        """A chunk of a backlog, shared by the readers where an index makes that cheap."""
        ordering = _present(layout.ordering)
        (row,) = database.query(ordering.ends(self._from))
        if row[0] is None:
            return None  # Somebody has deleted them since we counted.
        first, last = map(as_number, row)
        stop = last
        if layout.ranged:
            # As dense as its first rows, the chunk ends here; if not, it is longer or shorter.
            width = max(1, ends[1] - ends[0]) * self._chunk_rows(in_parts=in_parts)
            stop = min(last, first + width // self._limits.counted_rows)
        if ordering.timestamps:
            end = self._at_time(database, ordering, stop)
        else:
            end = Position(number=stop)
        between = self._shares(layout, first, stop, ends)
        return self._reading(layout, between, end, more=stop < last)

    def _chunk_rows(self, *, in_parts: bool) -> int:
        limits = self._limits
        # Nobody knows what a query costs: each chunk of it may be a scan of all its tables.
        if self.target.table is None or (in_parts and self._may_share):
            return limits.chunk_rows
        return min(limits.chunk_rows, limits.stored_rows)

    @property
    def _from(self) -> Position:
        position: Position = _present(self._position)
        return position

    def _shares(self, layout: Layout, first: int, stop: int, ends: Sequence[int]) -> list[Position]:
        """Where one part ends and the next begins."""
        if not self._may_share or not layout.ranged:
            return []
        per_row = max(1, ends[1] - ends[0]) / self._limits.counted_rows
        bounds = cuts(first, stop, self._limits.parts((stop - first + 1) / per_row))
        timed = bool(_present(layout.ordering).timestamps)
        return [Position(micros=bound) if timed else Position(number=bound) for bound in bounds]

    @property
    def _may_share(self) -> bool:
        return (
            self._config.parallel_reads
            and self.target.table is not None
            and not self._config.suffix
        )

    def _reading(
        self, layout: Layout, between: Sequence[Position], end: Position, *, more: bool
    ) -> Reading:
        """A reading up to the end, in parts that meet at the positions between."""
        ordering = _present(layout.ordering)
        lower = [[], *map(ordering.after, between)]
        upper = [*map(ordering.before, between), []]
        hint = "" if self._suffix_limits else f" {self._config.suffix}"
        whole = [*ordering.after(self._from), *ordering.until(end)]
        parts = tuple(
            f"{joined([*whole, *low, *high])} {ordering.order_by}{hint}".rstrip()
            for low, high in zip(lower, upper, strict=True)
        )
        self._position = end
        return Reading(layout, parts, end, more, tuple(between))

    # ----------------------------------------------------------------------------------- bulk

    def _look_in_bulk(self, database: Database) -> Reading | None:
        layout = self._current_layout(database)
        suffix = f" {self._config.suffix}".rstrip()
        if self.target.table is None:
            return Reading(layout, (f"1 = 1{suffix}",), None, more=False)
        some = database.dialect.limited(f"SELECT 1 FROM {self.target.source} ORDER BY 1", 1)
        if not database.query(some):
            return None
        return Reading(layout, tuple(self._bulk_parts(database, layout, suffix)), None, more=False)

    def _bulk_parts(self, database: Database, layout: Layout, suffix: str) -> list[str]:
        if layout.shared_by is None or not self._may_share:
            return [f"1 = 1{suffix}"]
        column = database.dialect.quote(layout.shared_by)
        sql = f"SELECT MIN({column}), MAX({column}) FROM {self.target.source}"
        (row,) = database.query(sql)
        if row[0] is None or as_number(row[1]) - as_number(row[0]) < self._limits.shared_rows:
            return ["1 = 1"]
        first, last = map(as_number, row)
        bounds = cuts(first, last, self._limits.readers)
        lower = ["", *(f"{column} > {bound}" for bound in bounds)]
        upper = [*(f"{column} <= {bound}" for bound in bounds), ""]
        return [joined([*filter(None, pair)]) for pair in zip(lower, upper, strict=True)]

    # --------------------------------------------------------------------------------- layout

    @property
    def _suffix_limits(self) -> bool:
        return bool(_LIMITING.search(self._config.suffix))

    def _current_layout(self, database: Database) -> Layout:
        """The layout, asked for anew if the columns have changed."""
        empty = f"SELECT * FROM {self.target.source} WHERE 1 = 0"
        fingerprint = database.fingerprint(empty)
        if self._layout is None or fingerprint is None or fingerprint != self._fingerprint:
            self._layout = self._described(database, database.columns_of(empty))
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
        table = self.target.table
        name = None if table is None else table.name
        schema = record_schema(name, (Field(each.column.name, each.schema) for each in fields))
        ordering = self._ordering(database, columns)
        zoned = ordering is not None and any(map(dialect.is_instant, ordering.timestamps))
        utc = zoned or config.db_timezone == "UTC"
        form = OffsetForm(self._mode, None if utc else ZoneInfo(config.db_timezone))
        ranged = self._is_ranged(database, ordering)
        return Layout(fields, schema, ordering, form, ranged, self._key(database, columns))

    def _is_ranged(self, database: Database, ordering: Ordering | None) -> bool:
        if ordering is None:
            return False
        if self.target.table is None:
            return True  # Nobody knows; its tables may well have an index.
        if len(ordering.timestamps) > 1:
            return False
        column = ordering.timestamps[0] if ordering.timestamps else _present(ordering.number)
        return column.name in database.leading_index_columns(self.target.table)

    def _key(self, database: Database, columns: Sequence[ColumnFacts]) -> str | None:
        """A primary key that is one whole number."""
        if self._mode is not Mode.BULK or self.target.table is None:
            return None
        key = database.primary_key(self.target.table)
        types = {column.name: column.type for column in columns}
        return key[0] if len(key) == 1 and types.get(key[0]) in _INTEGERS else None

    def _ordering(self, database: Database, columns: Sequence[ColumnFacts]) -> Ordering | None:
        if self._mode is Mode.BULK:
            return None
        number = self._number_column(columns) if self._mode.has_incrementing else None
        timestamps = self._timestamp_columns(columns) if self._mode.has_timestamp else ()
        if self._config.validate_non_null:
            self._check_not_null(number, timestamps)
        settled = (self._config.timestamp_delay_interval_ms, self._config.db_timezone)
        return Ordering(database.dialect, self.target.source, timestamps, number, *settled)

    def _number_column(self, columns: Sequence[ColumnFacts]) -> ColumnFacts:
        name = self._config.incrementing_column(self.target.table)
        if name:
            column = self._named(columns, name, "incrementing.column.name")
            return self._whole(self._of_type(column, _NUMBERS, "a number"))
        found = [column for column in columns if column.autoincrement]
        if len(found) != 1:
            raise ConfigError(
                f"{self.target} has {len(found)} auto-increment columns: name the one to use in"
                f" incrementing.column.name; mode={self._mode} needs it"
            )
        return self._whole(found[0])

    def _whole(self, column: ColumnFacts) -> ColumnFacts:
        if column.type in (SqlType.NUMERIC, SqlType.DECIMAL) and column.scale > 0:
            raise ConfigError(
                f"{self.target}: column {column.name} is {column.type_name} with {column.scale}"
                f" digits behind the point; mode={self._mode} needs whole numbers"
            )
        return column

    def _timestamp_columns(self, columns: Sequence[ColumnFacts]) -> tuple[ColumnFacts, ...]:
        names = self._config.timestamp_columns(self.target.table)
        if not names:
            raise ConfigError(f"mode={self._mode} needs timestamp.column.name for {self.target}")
        named = (self._named(columns, name, "timestamp.column.name") for name in names)
        return tuple(self._of_type(column, _TIMES, "a timestamp") for column in named)

    def _of_type(self, column: ColumnFacts, types: frozenset[SqlType], what: str) -> ColumnFacts:
        # Codes that are not in the standard are the driver's own business.
        known = column.type in set(SqlType) and column.type != SqlType.OTHER
        if known and column.type not in types:
            raise ConfigError(
                f"{self.target}: column {column.name} is {column.type_name}, not {what};"
                f" mode={self._mode} can't use it"
            )
        return column

    def _named(self, columns: Sequence[ColumnFacts], name: str, key: str) -> ColumnFacts:
        exact = [column for column in columns if column.name == name]
        alike = [column for column in columns if column.name.lower() == name.lower()]
        if not exact and len(alike) != 1:
            known = ", ".join(column.name for column in columns)
            raise ConfigError(f"{self.target} has no column {name} ({key}); it has {known}")
        return (exact or alike)[0]

    def _check_not_null(
        self, number: ColumnFacts | None, timestamps: Sequence[ColumnFacts]
    ) -> None:
        if self.target.table is None:
            return  # What a query's columns may be, drivers say as it suits them.
        # SQLite's driver says that a key may be null, even one that counts by itself.
        if number is not None and number.optional and not number.autoincrement:
            raise ConfigError(
                f"{self.target}: the incrementing column {number.name} may be null, and such rows"
                " are never read; make it NOT NULL or set validate.non.null=false"
            )
        if timestamps and all(column.optional for column in timestamps):
            raise ConfigError(
                f"{self.target}: the timestamp columns {', '.join(c.name for c in timestamps)} may"
                " be null, and such rows are never read; make one NOT NULL or set"
                " validate.non.null=false"
            )

    def _initial(self, database: Database, layout: Layout, ordering: Ordering) -> Position:
        number = self._config.incrementing_initial if ordering.number else None
        start = self._config.start_ms
        if not ordering.timestamps or start is None:
            return Position(number=number)
        if start < 0:
            ((now,),) = database.query(ordering.now())
            return Position(as_number(now))
        return layout.form.at(start)


def cuts(first: int, last: int, readers: int) -> list[int]:
    """Where to cut [first, last] into so many ranges of one width; each ends at its cut."""
    width = (last - first + 1) / readers
    places = {first - 1 + int(width * number) for number in range(1, readers)}
    return sorted(place for place in places if first <= place < last)


def as_number(value: Any) -> int:
    """A number, or the microseconds of a timestamp."""
    if isinstance(value, datetime):
        return (value - _EPOCH) // timedelta(microseconds=1)
    return int(value)


def _present(value: Any) -> Any:
    assert value is not None, "the caller has asked"  # noqa: S101
    return value
