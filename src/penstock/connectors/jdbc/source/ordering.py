"""The SQL of a table's or query's order: what comes after a position, and up to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.connectors.jdbc.dialects import Dialect
from penstock.connectors.jdbc.source.positions import Position
from penstock.connectors.jdbc.tables import ColumnFacts

#: The name of the sub-select in all our questions.
WINDOW = "penstock_window"


@dataclass(frozen=True, slots=True)
class Ordering:
    """The columns by which new rows are recognised.

    Attributes:
        source: what stands behind FROM: a table, or a query in parentheses with a name.
        timestamps: of several, the first that is not null counts.
        number: the incrementing column.
        delay_ms: rows younger than this are left for later.
        zone: of timestamps that don't know their own.
    """

    dialect: Dialect
    source: str
    timestamps: tuple[ColumnFacts, ...] = ()
    number: ColumnFacts | None = None
    delay_ms: int = 0
    zone: str = "UTC"

    @property
    def timestamp_column(self) -> str:
        names = [self.dialect.quote(column.name) for column in self.timestamps]
        return names[0] if len(names) == 1 else f"COALESCE({', '.join(names)})"

    @property
    def timestamp_sql(self) -> str:
        return self.dialect.reading.comparable(self.timestamp_column)

    @property
    def number_sql(self) -> str:
        return "" if self.number is None else self.dialect.quote(self.number.name)

    @property
    def order_by(self) -> str:
        columns = [self.timestamp_sql] if self.timestamps else []
        columns += [self.number_sql] if self.number else []
        return f"ORDER BY {', '.join(columns)}"

    @property
    def has_instants(self) -> bool:
        """Whether a timestamp column knows its time zone."""
        return any(map(self.dialect.reading.is_instant, self.timestamps))

    # ------------------------------------------------------------------------------ conditions

    def after(self, position: Position) -> list[str]:
        """The condition for rows after a position. Without one it only leaves out nulls."""
        if not self.timestamps:
            if position.number is None:
                return [f"{self.number_sql} IS NOT NULL"]
            return [f"{self.number_sql} > {position.number}"]
        if position.micros is None:
            return [f"{self.timestamp_sql} IS NOT NULL"]
        time, literal = self.timestamp_sql, self._literal(position.micros)
        if self.number is None:
            return [f"{time} > {literal}"]
        if position.number is None:
            return [f"{time} >= {literal}"]
        # The first condition is what an index is good for.
        same = f"{time} = {literal} AND {self.number_sql} > {position.number}"
        return [f"{time} >= {literal}", f"({time} > {literal} OR ({same}))"]

    def until(self, position: Position) -> list[str]:
        """The condition for rows up to and including a position."""
        if not self.timestamps:
            return [f"{self.number_sql} <= {position.number}"]
        if position.micros is None:
            return []
        time, literal = self.timestamp_sql, self._literal(position.micros)
        if self.number is None or position.number is None:
            return [f"{time} <= {literal}"]
        same = f"{time} = {literal} AND {self.number_sql} <= {position.number}"
        return [f"{time} <= {literal}", f"({time} < {literal} OR ({same}))"]

    def before(self, position: Position) -> list[str]:
        """The condition for the rows that after() leaves out, except nulls."""
        if position.micros is None or self.number is None or position.number is not None:
            return self.until(position)
        return [f"{self.timestamp_sql} < {self._literal(position.micros)}"]

    @property
    def settled(self) -> list[str]:
        """The condition for rows that are old enough to be read."""
        if not self.timestamps:
            return []
        return [f"{self.timestamp_sql} < {self._clock(self.delay_ms)}"]

    # ------------------------------------------------------------------------------- questions

    def probe(self, position: Position, rows: int, suffix: str = "") -> str:
        """How many rows are new, counted up to `rows`; the first and the last of these.

        Where nothing is new there is no row at all: that is the cheapest thing to ask for.

        `suffix`: a limit of the user's own.
        """
        columns, names = [], []
        if self.timestamps:
            columns.append(f"{self._place} AS ts")
            names.append("ts")
        if self.number:
            columns.append(f"{self.number_sql} AS num")
            names.append("num")
        conditions = [*self.after(position), *self.settled]
        window = self._select(", ".join(columns), conditions, self.order_by)
        window = f"{window} {suffix}" if suffix else self.dialect.reading.limited(window, rows)
        ends = ", ".join(f"MIN({name}), MAX({name})" for name in names)
        return f"SELECT COUNT(*), {ends} FROM ({window}) {WINDOW} HAVING COUNT(*) > 0"

    def ends(self, position: Position) -> str:
        """The first and the last place behind a position."""
        conditions = [*self.after(position), *self.settled]
        return self._select(f"MIN({self._place}), MAX({self._place})", conditions)

    def last_number(self, micros: int) -> str:
        """The greatest incrementing number among the rows of one time."""
        same = f"{self.timestamp_sql} = {self._literal(micros)}"
        return self._select(f"MAX({self.number_sql})", [same])

    def now(self) -> str:
        """The database's clock."""
        reading = self.dialect.reading
        return reading.select_value(reading.clock_micros(self._clock(0), self.timestamps))

    def _clock(self, delay_ms: int) -> str:
        return self.dialect.reading.now(delay_ms, self.timestamps, self.zone)

    def _select(self, columns: str, conditions: Sequence[str], order: str = "") -> str:
        where = " AND ".join(conditions)
        return f"SELECT {columns} FROM {self.source} WHERE {where} {order}".rstrip()

    @property
    def _place(self) -> str:
        """The expression for a row's place, as a number where the database can."""
        if not self.timestamps:
            return self.number_sql
        return self.dialect.reading.timestamp_micros(self.timestamp_column, self.timestamps)

    def _literal(self, micros: int) -> str:
        return self.dialect.reading.timestamp_literal(micros, self.timestamps)


def joined(conditions: Sequence[str]) -> str:
    """Conditions as one."""
    return " AND ".join(conditions) or "1 = 1"
