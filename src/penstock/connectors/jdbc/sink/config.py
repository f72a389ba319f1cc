"""The keys of the JDBC sinks, Confluent's and Aiven's."""

from __future__ import annotations

from typing import Final

from penstock.connectors.jdbc.common_config import (
    ConnectionConfig,
    credentials_key,
    quotes,
    quoting_key,
    quoting_mode_key,
)
from penstock.connectors.jdbc.dialects.merging import WriteMode
from penstock.connectors.jdbc.sink.fields import KAFKA_FIELDS, FieldRules, KeyMode
from penstock.kernel.config import (
    Importance,
    Type,
    at_least,
    each_of,
    key,
    non_empty,
    one_of,
    one_of_ignoring_case,
    rule,
)
from penstock.kernel.config.values import invalid

WRITES: Final = "Writes"
MAPPING: Final = "Data Mapping"
DDL: Final = "DDL Support"
RETRIES: Final = "Retries"
#: Values of exactly.once.new.topic.
FAIL: Final = "fail"
BEGIN: Final = "begin"


def _check_mapping(name: str, value: object) -> None:
    for item in value if isinstance(value, list) else []:
        topic, colon, table = item.partition(":")
        if not (topic and colon and table):
            raise invalid(name, value, f"{item!r} is not of the form topic:table")


class SinkConfig(ConnectionConfig):
    """What both families of keys have in common."""

    insert_mode: str = key(
        Type.STRING,
        name="insert.mode",
        default="insert",
        valid=one_of("insert", "upsert", "update"),
        importance=Importance.HIGH,
        group=WRITES,
        doc="What becomes of a record: `insert` adds a row; `upsert` adds one or changes the one"
        " with the same key; `update` changes rows that are there.",
    )
    batch_size: int = key(
        Type.INT,
        name="batch.size",
        default=3000,
        valid=at_least(0),
        importance=Importance.MEDIUM,
        group=WRITES,
        doc="How many rows travel in one JDBC batch, for databases that are not loaded by a"
        " statement of their own (COPY, LOAD DATA). It does not bound a transaction: all records"
        " that wait are one, up to two million.",
    )
    delete_enabled: bool = key(
        Type.BOOLEAN,
        name="delete.enabled",
        default=False,
        importance=Importance.MEDIUM,
        group=WRITES,
        doc="Whether a record with a null value deletes the row with its key. Needs"
        " `pk.mode=record_key`.",
    )
    table_name_format: str = key(
        Type.STRING,
        name="table.name.format",
        default="${topic}",
        valid=non_empty,
        importance=Importance.MEDIUM,
        group=MAPPING,
        doc="The name of the table; `${topic}` stands for the record's topic. Dots separate"
        " catalog, schema and table.",
    )
    pk_mode: str = key(
        Type.STRING,
        name="pk.mode",
        default="none",
        valid=one_of("none", "kafka", "record_key", "record_value"),
        importance=Importance.HIGH,
        group=MAPPING,
        doc="Where the primary key comes from: `kafka` is topic, partition and offset;"
        " `record_key` the record's key, a plain value or fields of a struct; `record_value`"
        " fields of its value.",
    )
    pk_fields: list[str] = key(
        Type.LIST,
        name="pk.fields",
        default="",
        importance=Importance.MEDIUM,
        group=MAPPING,
        doc="The columns of the primary key. `kafka`: three names, or none for"
        f" `{','.join(KAFKA_FIELDS)}`. `record_key` and `record_value`: the fields to take, or"
        " none for all; for a key that is a plain value, the name of its column.",
    )
    fields_whitelist: list[str] = key(
        Type.LIST,
        name="fields.whitelist",
        default="",
        importance=Importance.MEDIUM,
        group=MAPPING,
        doc="The fields of the value that become columns; all if it is empty. Fields of the"
        " primary key always do.",
    )
    auto_create: bool = key(
        Type.BOOLEAN,
        name="auto.create",
        default=False,
        importance=Importance.MEDIUM,
        group=DDL,
        doc="Whether a table that is missing is made.",
    )
    auto_evolve: bool = key(
        Type.BOOLEAN,
        name="auto.evolve",
        default=False,
        importance=Importance.MEDIUM,
        group=DDL,
        doc="Whether columns that a table lacks are added to it. Their fields must be optional or"
        " have a default. Nothing else of a table is ever changed.",
    )
    max_retries: int = key(
        Type.INT,
        name="max.retries",
        default=10,
        valid=at_least(0),
        importance=Importance.MEDIUM,
        group=RETRIES,
        doc="How often a batch is repeated after the database was away, or chose it as the victim"
        " of a deadlock, before the task fails. What the database refuses is not repeated.",
    )
    retry_backoff_ms: int = key(
        Type.INT,
        name="retry.backoff.ms",
        default=3000,
        valid=at_least(0),
        importance=Importance.MEDIUM,
        group=RETRIES,
        doc="The wait before a batch is repeated.",
    )
    exactly_once: bool = key(
        Type.BOOLEAN,
        name="exactly.once",
        default=False,
        importance=Importance.MEDIUM,
        group=WRITES,
        doc="Whether each record takes effect exactly once: its offset is stored in the target"
        " database, in the transaction of its batch, and a task begins where that says. Needs"
        " tables with transactions.",
    )
    exactly_once_table: str = key(
        Type.STRING,
        name="exactly.once.table",
        default="penstock_offsets",
        valid=non_empty,
        importance=Importance.LOW,
        group=WRITES,
        doc="The table for these offsets; it is made if it is missing. Connectors can share one,"
        " but not connectors of the same name from two clusters.",
    )
    exactly_once_new_topic: str = key(
        Type.STRING,
        name="exactly.once.new.topic",
        default=FAIL,
        valid=one_of(FAIL, BEGIN),
        importance=Importance.LOW,
        group=WRITES,
        doc="What a task does when a topic was deleted and made again, so that the stored offsets"
        " are those of another topic: `fail`, or `begin` the new one with its first record.",
    )

    @property
    def mode(self) -> WriteMode:
        return WriteMode(self.insert_mode)

    @property
    def table_kinds(self) -> list[str]:
        return ["TABLE"]

    @property
    def replaces_nulls(self) -> bool:
        """Whether a null becomes the default of its field."""
        return True

    @property
    def date_zone(self) -> str:
        return self.db_timezone

    @property
    def legacy_calendar(self) -> bool:
        """Whether days before 1582-10-15 get the names that Java's old calendar has for them."""
        return True

    @property
    def trims_errors(self) -> bool:
        """Whether the database's own words stay out of errors."""
        return False

    @property
    def epoch_fields(self) -> tuple[str, ...]:
        return ()

    @property
    def epoch_unit(self) -> int:
        return 1

    @property
    def text_column(self) -> str:
        return "record_value"

    @property
    def field_rules(self) -> FieldRules:
        return FieldRules(
            self.mode,
            KeyMode(self.pk_mode),
            tuple(self.pk_fields),
            frozenset(self.fields_whitelist),
            self.delete_enabled,
            self.text_column,
        )

    def table_name(self, topic: str) -> str:
        """The table for a topic, by its full name."""
        return self.table_name_format.replace("${topic}", topic)


class JdbcSinkConfig(SinkConfig):
    """Keys of io.confluent.connect.jdbc.JdbcSinkConnector."""

    without_effect = frozenset({"mssql.use.merge.holdlock"})

    jdbc_credentials_provider_class: str | None = credentials_key()
    table_types: list[str] = key(
        Type.LIST,
        name="table.types",
        default="TABLE",
        valid=each_of("TABLE", "PARTITIONED_TABLE", "VIEW"),
        importance=Importance.LOW,
        group=WRITES,
        doc="The kinds of table that may be written to.",
    )
    replace_null_with_default: bool = key(
        Type.BOOLEAN,
        name="replace.null.with.default",
        default=True,
        importance=Importance.LOW,
        group=MAPPING,
        doc="Whether a null becomes the default of its field, if that has one.",
    )
    date_timezone: str = key(
        Type.STRING,
        name="date.timezone",
        default="DB_TIMEZONE",
        valid=one_of_ignoring_case("DB_TIMEZONE", "UTC"),
        importance=Importance.MEDIUM,
        group=MAPPING,
        doc="The time zone in which a Date is a day. A Date is midnight in UTC; west of there"
        " that is still the day before, unless this is `UTC`.",
    )
    date_calendar_system: str = key(
        Type.STRING,
        name="date.calendar.system",
        default="LEGACY",
        valid=one_of_ignoring_case("LEGACY", "PROLEPTIC_GREGORIAN"),
        importance=Importance.LOW,
        group=MAPPING,
        doc="By which calendar days before 1582-10-15 get their year, month and day: Java's old"
        " one, or the one that the database has.",
    )
    timestamp_fields_list: list[str] = key(
        Type.LIST,
        name="timestamp.fields.list",
        default="",
        importance=Importance.MEDIUM,
        group=MAPPING,
        doc="INT64 fields of the value that are points in time, in the unit that"
        " `timestamp.precision.mode` names.",
    )
    timestamp_precision_mode: str = key(
        Type.STRING,
        name="timestamp.precision.mode",
        default="microseconds",
        valid=one_of_ignoring_case("microseconds", "nanoseconds"),
        importance=Importance.MEDIUM,
        group=MAPPING,
        doc="The unit of the fields in `timestamp.fields.list`. Columns get microseconds.",
    )
    string_output_value_column_name: str = key(
        Type.STRING,
        name="string.output.value.column.name",
        default="record_value",
        valid=non_empty,
        importance=Importance.LOW,
        group=MAPPING,
        doc="The column for values that are plain texts.",
    )
    quote_sql_identifiers: str = quoting_mode_key(DDL)
    mssql_use_merge_holdlock: bool = key(
        Type.BOOLEAN,
        name="mssql.use.merge.holdlock",
        default=True,
        importance=Importance.LOW,
        group=WRITES,
        doc="SQL Server's MERGE is not used: an upsert is an UPDATE and an INSERT in one"
        " transaction there.",
    )
    trim_sensitive_log: bool = key(
        Type.BOOLEAN,
        name="trim.sensitive.log",
        default=False,
        importance=Importance.LOW,
        internal=True,
        doc="Whether the database's own words, which may hold values, stay out of errors.",
    )

    @property
    def quoting(self) -> bool:
        return quotes(self.quote_sql_identifiers)

    @property
    def table_kinds(self) -> list[str]:
        return self.table_types

    @property
    def replaces_nulls(self) -> bool:
        return self.replace_null_with_default

    @property
    def date_zone(self) -> str:
        return "UTC" if self.date_timezone.upper() == "UTC" else self.db_timezone

    @property
    def legacy_calendar(self) -> bool:
        return self.date_calendar_system.upper() == "LEGACY"

    @property
    def trims_errors(self) -> bool:
        return self.trim_sensitive_log

    @property
    def epoch_fields(self) -> tuple[str, ...]:
        return tuple(self.timestamp_fields_list)

    @property
    def epoch_unit(self) -> int:
        return 1000 if self.timestamp_precision_mode.lower() == "nanoseconds" else 1

    @property
    def text_column(self) -> str:
        return self.string_output_value_column_name


class AivenSinkConfig(SinkConfig):
    """Keys of io.aiven.connect.jdbc.JdbcSinkConnector."""

    insert_mode: str = key(
        Type.STRING,
        name="insert.mode",
        default="insert",
        valid=one_of("insert", "multi", "upsert", "update"),
        importance=Importance.HIGH,
        group=WRITES,
        doc="What becomes of a record: `insert` and `multi` add a row; `upsert` adds one or changes"
        " the one with the same key; `update` changes rows that are there.",
    )
    table_name_normalize: bool = key(
        Type.BOOLEAN,
        name="table.name.normalize",
        default=False,
        importance=Importance.MEDIUM,
        group=MAPPING,
        doc="Whether characters other than letters, digits, dots and underscores become underscores"
        " in the name of a table.",
    )
    topics_to_tables_mapping: list[str] = key(
        Type.LIST,
        name="topics.to.tables.mapping",
        default=None,
        valid=rule(_check_mapping, "topic:table pairs"),
        importance=Importance.MEDIUM,
        group=MAPPING,
        doc="Pairs `topic:table`; topics that are not named follow `table.name.format`.",
    )
    sql_quote_identifiers: bool = quoting_key(DDL)

    @property
    def mode(self) -> WriteMode:
        # Every way in is one with many rows at a time.
        return WriteMode.INSERT if self.insert_mode == "multi" else WriteMode(self.insert_mode)

    @property
    def quoting(self) -> bool:
        return self.sql_quote_identifiers

    def table_name(self, topic: str) -> str:
        pairs = dict(item.split(":", 1) for item in self.topics_to_tables_mapping or [])
        if topic in pairs:
            return str(pairs[topic])
        name = super().table_name(topic)
        if not self.table_name_normalize:
            return name
        return "".join(each if each.isalnum() or each in "._" else "_" for each in name)
