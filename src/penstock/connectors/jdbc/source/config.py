"""The keys of the JDBC source: Confluent's names, and Aiven's where they differ."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from penstock.connectors.jdbc.common_config import (
    CONNECTOR,
    DATABASE,
    URL_DOC,
    ConnectionConfig,
    credentials_key,
    jdbc_url,
    quotes,
    quoting_key,
    quoting_mode_key,
)
from penstock.connectors.jdbc.source.expressions import expression, mapped_columns
from penstock.connectors.jdbc.tables import TableId
from penstock.kernel.config import (
    Importance,
    Password,
    Type,
    at_least,
    key,
    matches,
    one_of,
    one_of_ignoring_case,
    optional,
)

MODE: Final = "Mode"
_TOPIC_PREFIX: Final = matches(
    r"[a-zA-Z0-9._-]{0,249}", "at most 249 of the characters a-z, A-Z, 0-9, '.', '_' and '-'"
)
_ROWS_DOC: Final = (
    "How many rows a reader fetches, and so holds, at a time. It does not bound how much is read"
    " in one go: rows stream through."
)


class Mode(StrEnum):
    """How a source recognises new rows."""

    BULK = "bulk"
    TIMESTAMP = "timestamp"
    INCREMENTING = "incrementing"
    TIMESTAMP_INCREMENTING = "timestamp+incrementing"

    @property
    def has_timestamp(self) -> bool:
        return self in {Mode.TIMESTAMP, Mode.TIMESTAMP_INCREMENTING}

    @property
    def has_incrementing(self) -> bool:
        return self in {Mode.INCREMENTING, Mode.TIMESTAMP_INCREMENTING}


class NumericMapping(StrEnum):
    """What becomes of NUMERIC columns."""

    NONE = "none"
    PRECISION_ONLY = "precision_only"
    BEST_FIT = "best_fit"
    BEST_FIT_EAGER_DOUBLE = "best_fit_eager_double"


class Granularity(StrEnum):
    """The form of timestamps in records."""

    CONNECT_LOGICAL = "connect_logical"
    MICROS_LONG = "micros_long"
    MICROS_STRING = "micros_string"
    MICROS_ISO = "micros_iso_datetime_string"
    NANOS_LONG = "nanos_long"
    NANOS_STRING = "nanos_string"
    NANOS_ISO = "nanos_iso_datetime_string"


class SourceConfig(ConnectionConfig):
    """What both families of keys have in common."""

    connection_url: str = key(
        Type.STRING,
        name="connection.url",
        default="",
        valid=jdbc_url,
        importance=Importance.HIGH,
        group=DATABASE,
        doc=URL_DOC,
    )
    table_whitelist: list[str] = key(
        Type.LIST,
        name="table.whitelist",
        default="",
        importance=Importance.MEDIUM,
        group=DATABASE,
        doc="The tables to read, by name or by full name. Not together with `table.blacklist`.",
    )
    table_blacklist: list[str] = key(
        Type.LIST,
        name="table.blacklist",
        default="",
        importance=Importance.MEDIUM,
        group=DATABASE,
        doc="The tables not to read, by name or by full name; all others are read.",
    )
    catalog_pattern: str | None = key(
        Type.STRING,
        name="catalog.pattern",
        default=None,
        importance=Importance.MEDIUM,
        group=DATABASE,
        doc='The catalog whose tables are read: `""` for tables without one, null for any. For'
        " MySQL and MariaDB a catalog is a database, and null stands for the one of the URL.",
    )
    schema_pattern: str | None = key(
        Type.STRING,
        name="schema.pattern",
        default=None,
        importance=Importance.HIGH,
        group=DATABASE,
        doc="A pattern for the schemas whose tables are read (`%` any text, `_` any character);"
        " null for any.",
    )
    table_types: list[str] = key(
        Type.LIST,
        name="table.types",
        default="TABLE",
        importance=Importance.LOW,
        group=CONNECTOR,
        doc="The kinds of tables to read, in the words of the driver: TABLE, VIEW, …",
    )
    numeric_precision_mapping: bool = key(
        Type.BOOLEAN,
        name="numeric.precision.mapping",
        default=False,
        importance=Importance.LOW,
        group=DATABASE,
        doc="The old way to say `numeric.mapping=precision_only`.",
    )
    numeric_mapping: str | None = key(
        Type.STRING,
        name="numeric.mapping",
        default=None,
        valid=optional(one_of(*NumericMapping)),
        importance=Importance.LOW,
        group=DATABASE,
        doc="What becomes of NUMERIC columns. `none`: always Decimal. `precision_only`: without"
        " digits behind the point, the smallest integer type that holds the precision."
        " `best_fit`: integers too, and double for up to 18 digits with some behind the point."
        " `best_fit_eager_double`: double for any with digits behind the point. As in the Java"
        " connector it does not apply to columns that the driver calls DECIMAL, as MySQL's does.",
    )
    mode: str = key(
        Type.STRING,
        default="",
        valid=one_of("", *Mode),
        importance=Importance.HIGH,
        group=MODE,
        doc="How new rows are found. `bulk`: all rows, at every poll. `incrementing`: those with a"
        " greater number in a column that only grows. `timestamp`: those with a later timestamp."
        " `timestamp+incrementing`: by both, which tells rows of the same time apart.",
    )
    incrementing_column_name: str = key(
        Type.STRING,
        name="incrementing.column.name",
        default="",
        importance=Importance.MEDIUM,
        group=MODE,
        doc="The column that only grows. Empty: the table's auto-increment column.",
    )
    timestamp_column_name: list[str] = key(
        Type.LIST,
        name="timestamp.column.name",
        default="",
        importance=Importance.MEDIUM,
        group=MODE,
        doc="The timestamp columns; of several, the first that is not null counts.",
    )
    incrementing_initial: int | None = key(
        Type.LONG,
        name="incrementing.initial",
        default=None,
        importance=Importance.LOW,
        group=MODE,
        doc="Rows with this number in the incrementing column, or a lower one, are not read."
        " Null: all are. Counts only as long as no offset is stored.",
    )
    validate_non_null: bool = key(
        Type.BOOLEAN,
        name="validate.non.null",
        default=True,
        importance=Importance.LOW,
        group=MODE,
        doc="Refuse tables whose incrementing column, or whose every timestamp column, may be"
        " null: such rows would never be read.",
    )
    query: str = key(
        Type.STRING,
        default="",
        importance=Importance.MEDIUM,
        group=MODE,
        doc="Read the rows of this query instead of tables; `topic.prefix` is then the whole name"
        " of the topic. It may have joins and, in every mode, a WHERE clause.",
    )
    poll_interval_ms: int = key(
        Type.INT,
        name="poll.interval.ms",
        default=5000,
        valid=at_least(0),
        importance=Importance.HIGH,
        group=CONNECTOR,
        doc="The wait between two looks for new rows.",
    )
    table_poll_interval_ms: int = key(
        Type.LONG,
        name="table.poll.interval.ms",
        default=60_000,
        valid=at_least(1),
        importance=Importance.LOW,
        group=CONNECTOR,
        doc="The wait between two looks for tables that are new or gone.",
    )
    timestamp_delay_interval_ms: int = key(
        Type.LONG,
        name="timestamp.delay.interval.ms",
        default=0,
        valid=at_least(0),
        importance=Importance.HIGH,
        group=CONNECTOR,
        doc="How old a timestamp must be before its row is read. A transaction sets its timestamps"
        " before it commits; one that is open for longer than this may commit rows that are"
        " older than what was read already, and these are never read. So set it to more than your"
        " longest transaction takes. The mode `incrementing` has no such protection.",
    )
    topic_prefix: str = key(
        Type.STRING,
        name="topic.prefix",
        default="",
        valid=_TOPIC_PREFIX,
        importance=Importance.HIGH,
        group=CONNECTOR,
        doc="What stands before the table's name in the name of its topic; with `query`, the whole"
        " name of the topic.",
    )
    batch_max_rows: int = key(
        Type.INT,
        name="batch.max.rows",
        default=1000,
        valid=at_least(1),
        importance=Importance.LOW,
        group=CONNECTOR,
        doc=_ROWS_DOC,
    )
    parallel_reads: bool = key(
        Type.BOOLEAN,
        name="parallel.reads",
        default=True,
        importance=Importance.LOW,
        group=CONNECTOR,
        doc="Read much at once with several readers, each a range of the incrementing column, the"
        " timestamp or, in bulk mode, the primary key. All changes of one row stay in order; rows"
        " of different ranges mix. `false`: one reader, and the topic has the order of the query."
        " (Only in Penstock.)",
    )

    chunk_rows: int = key(
        Type.LONG,
        name="chunk.rows",
        default=1_000_000,
        valid=at_least(1),
        importance=Importance.LOW,
        group=CONNECTOR,
        doc="About how many rows of a backlog are read in one go, before the connector's other"
        " tables have their turn. Offsets are stored more often, about every 100,000 rows, where"
        " several readers share an indexed table. What is read in order has chunks of at most"
        " 100,000 rows; of a `query`, offsets are stored after each chunk. A worker that is killed"
        " reads again what came after the last offset. (Only in Penstock.)",
    )

    # What the families say differently.

    @property
    def qualified_names(self) -> bool:
        """Whether SQL has the full names of tables."""
        return True

    @property
    def start_ms(self) -> int | None:
        """Rows older than this are not read; -1 stands for now."""
        return None

    @property
    def include_list(self) -> list[re.Pattern[str]]:
        return []

    @property
    def exclude_list(self) -> list[re.Pattern[str]]:
        return []

    @property
    def table_expressions(self) -> list[str]:
        """All expressions for the names of tables, as they were given."""
        return []

    @property
    def column_mappings(self) -> dict[str, list[str]]:
        """The keys that name columns by table, and what each says."""
        return {}

    @property
    def masked_query(self) -> str:
        return ""

    @property
    def row_source(self) -> str:
        """The query to read; empty if tables are read."""
        return self.query or self.masked_query

    @property
    def suffix(self) -> str:
        """What is written behind the reading query."""
        return ""

    @property
    def retries(self) -> int:
        """How often a query is repeated that failed for a passing reason; -1: without end."""
        return -1

    @property
    def granularity(self) -> Granularity:
        return Granularity.CONNECT_LOGICAL

    @property
    def decimal_precision(self) -> bool:
        """Whether the schema of a Decimal has the column's precision."""
        return False

    @property
    def legacy_calendar(self) -> bool:
        """Whether days before 1582-10-15 are counted by Java's old calendar."""
        return True

    def incrementing_column(self, table: TableId | None) -> str:
        """The incrementing column that is named for a table; empty if none is."""
        del table
        return self.incrementing_column_name

    def timestamp_columns(self, table: TableId | None) -> list[str]:
        """The timestamp columns that are named for a table."""
        del table
        return self.timestamp_column_name

    @property
    def numerics(self) -> NumericMapping:
        if self.numeric_mapping is not None:
            return NumericMapping(self.numeric_mapping)
        precise = self.numeric_precision_mapping
        return NumericMapping.PRECISION_ONLY if precise else NumericMapping.NONE


class ConfluentSourceConfig(SourceConfig):
    """The keys of io.confluent.connect.jdbc.JdbcSourceConnector."""

    without_effect = frozenset({"max.buffer.size", "poll.linger.ms"})

    jdbc_credentials_provider_class: str | None = credentials_key()
    table_include_list: list[str] = key(
        Type.LIST,
        name="table.include.list",
        default="",
        importance=Importance.MEDIUM,
        group=DATABASE,
        doc="Expressions for the full names of the tables to read.",
    )
    table_exclude_list: list[str] = key(
        Type.LIST,
        name="table.exclude.list",
        default="",
        importance=Importance.MEDIUM,
        group=DATABASE,
        doc="Expressions for the full names of tables not to read, of those that"
        " `table.include.list` has.",
    )
    quote_sql_identifiers: str = quoting_mode_key(DATABASE)
    transaction_isolation_mode: str = key(
        Type.STRING,
        name="transaction.isolation.mode",
        default="DEFAULT",
        valid=one_of_ignoring_case(
            "DEFAULT",
            "READ_UNCOMMITTED",
            "READ_COMMITTED",
            "REPEATABLE_READ",
            "SERIALIZABLE",
            "SQL_SERVER_SNAPSHOT",
        ),
        importance=Importance.LOW,
        group=DATABASE,
        doc="The isolation level of the reading transactions; DEFAULT is the database's own.",
    )
    date_calendar_system: str = key(
        Type.STRING,
        name="date.calendar.system",
        default="LEGACY",
        valid=one_of("LEGACY", "PROLEPTIC_GREGORIAN"),
        importance=Importance.LOW,
        group=CONNECTOR,
        doc="How days before 1582-10-15 are counted: as Java's old calendar does, or as the"
        " database does.",
    )
    timestamp_columns_mapping: list[str] = key(
        Type.LIST,
        name="timestamp.columns.mapping",
        default="",
        importance=Importance.MEDIUM,
        group=MODE,
        doc="Timestamp columns by table: `expression:[column|column]`, the expression being one for"
        " full names. Instead of `timestamp.column.name`.",
    )
    incrementing_column_mapping: list[str] = key(
        Type.LIST,
        name="incrementing.column.mapping",
        default="",
        importance=Importance.MEDIUM,
        group=MODE,
        doc="Incrementing columns by table: `expression:column`. Instead of"
        " `incrementing.column.name`.",
    )
    timestamp_initial: int | None = key(
        Type.LONG,
        name="timestamp.initial",
        default=None,
        valid=optional(at_least(-1)),
        importance=Importance.LOW,
        group=MODE,
        doc="Read from this time on, in milliseconds since 1970; -1 is the time of the first look."
        " Null: all rows. Counts only as long as no offset is stored.",
    )
    query_masked: Password | None = key(
        Type.PASSWORD,
        name="query.masked",
        default=None,
        importance=Importance.MEDIUM,
        group=MODE,
        doc="The same as `query`, for one that must not be shown.",
    )
    query_suffix: str = key(
        Type.STRING,
        name="query.suffix",
        default="",
        importance=Importance.LOW,
        group=MODE,
        doc="Written behind the reading query: a hint, or `LIMIT n` to read at most so many rows at"
        " a time.",
    )
    query_retry_attempts: int = key(
        Type.INT,
        name="query.retry.attempts",
        default=-1,
        valid=at_least(-1),
        importance=Importance.LOW,
        group=CONNECTOR,
        doc="How often to repeat a query that failed because the database is away before the task"
        " fails; -1: without end.",
    )
    max_buffer_size: int = key(
        Type.INT,
        name="max.buffer.size",
        default=0,
        valid=at_least(0),
        importance=Importance.LOW,
        group=CONNECTOR,
        doc="There is no buffer of rows here.",
    )
    poll_linger_ms: int = key(
        Type.LONG,
        name="poll.linger.ms",
        default=5000,
        valid=at_least(0),
        importance=Importance.LOW,
        group=CONNECTOR,
        doc="Rows are sent on as they are found, nothing waits for more.",
    )
    timestamp_granularity: str = key(
        Type.STRING,
        name="timestamp.granularity",
        default="connect_logical",
        valid=one_of(*Granularity),
        importance=Importance.LOW,
        group=CONNECTOR,
        doc="The form of timestamps in records: Connect's logical type with milliseconds, or"
        " microseconds or nanoseconds since 1970 as a number or a text, or the date and time as"
        " a text.",
    )

    @property
    def quoting(self) -> bool:
        return quotes(self.quote_sql_identifiers)

    @property
    def isolation(self) -> str | None:
        level = self.transaction_isolation_mode.upper()
        return None if level == "DEFAULT" else level

    @property
    def start_ms(self) -> int | None:
        return self.timestamp_initial

    @property
    def include_list(self) -> list[re.Pattern[str]]:
        return [expression("table.include.list", text) for text in self.table_include_list]

    @property
    def exclude_list(self) -> list[re.Pattern[str]]:
        return [expression("table.exclude.list", text) for text in self.table_exclude_list]

    @property
    def table_expressions(self) -> list[str]:
        return self.table_include_list + self.table_exclude_list

    @property
    def column_mappings(self) -> dict[str, list[str]]:
        return {
            "timestamp.columns.mapping": self.timestamp_columns_mapping,
            "incrementing.column.mapping": self.incrementing_column_mapping,
        }

    @property
    def masked_query(self) -> str:
        return self.query_masked.value if self.query_masked else ""

    @property
    def suffix(self) -> str:
        return self.query_suffix

    @property
    def retries(self) -> int:
        return self.query_retry_attempts

    @property
    def granularity(self) -> Granularity:
        return Granularity(self.timestamp_granularity)

    @property
    def decimal_precision(self) -> bool:
        return True

    @property
    def legacy_calendar(self) -> bool:
        return self.date_calendar_system == "LEGACY"

    def incrementing_column(self, table: TableId | None) -> str:
        mapped = mapped_columns(self.incrementing_column_mapping, table)
        return mapped[0] if mapped else self.incrementing_column_name

    def timestamp_columns(self, table: TableId | None) -> list[str]:
        return mapped_columns(self.timestamp_columns_mapping, table) or self.timestamp_column_name


class AivenSourceConfig(SourceConfig):
    """The keys of io.aiven.connect.jdbc.JdbcSourceConnector."""

    numeric_mapping: str | None = key(
        Type.STRING,
        name="numeric.mapping",
        default=None,
        valid=optional(one_of("none", "precision_only", "best_fit")),
        importance=Importance.LOW,
        group=DATABASE,
        doc="What becomes of NUMERIC columns: `none`, `precision_only` or `best_fit`.",
    )
    sql_quote_identifiers: bool = quoting_key(DATABASE)
    incrementing_initial: int | None = key(
        Type.LONG,
        name="incrementing.initial",
        default=-1,
        importance=Importance.LOW,
        group=MODE,
        doc="Rows with this number in the incrementing column, or a lower one, are not read."
        " Counts only as long as no offset is stored.",
    )
    timestamp_initial_ms: int = key(
        Type.LONG,
        name="timestamp.initial.ms",
        default=0,
        valid=at_least(-1),
        importance=Importance.LOW,
        group=MODE,
        doc="Read from this time on, in milliseconds since 1970; -1 is the time of the first look."
        " Counts only as long as no offset is stored.",
    )
    batch_max_rows: int = key(
        Type.INT,
        name="batch.max.rows",
        default=100,
        valid=at_least(1),
        importance=Importance.LOW,
        group=CONNECTOR,
        doc=_ROWS_DOC,
    )
    table_names_qualify: bool = key(
        Type.BOOLEAN,
        name="table.names.qualify",
        default=True,
        importance=Importance.LOW,
        group=CONNECTOR,
        doc="Whether SQL has the full names of tables.",
    )

    @property
    def quoting(self) -> bool:
        return self.sql_quote_identifiers

    @property
    def qualified_names(self) -> bool:
        return self.table_names_qualify

    @property
    def start_ms(self) -> int | None:
        return self.timestamp_initial_ms
