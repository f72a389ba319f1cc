"""A batch of records as rows of tables: which table, which columns, by which statements."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from penstock.api.sink import SinkBatch
from penstock.connectors.jdbc.dialects.writing import (
    GONE,
    SEQUENCE,
    Merge,
    NewColumn,
    WriteMode,
)
from penstock.connectors.jdbc.sink.fields import SinkField, fields_of
from penstock.connectors.jdbc.sink.forms import Form, ValueRules, epoch_schema
from penstock.connectors.jdbc.sink.loading import FEW_ROWS, Into, Loader
from penstock.connectors.jdbc.sink.target import Target
from penstock.connectors.jdbc.sink_config import SinkConfig
from penstock.connectors.jdbc.tables import TableId
from penstock.data.schema import Schema, SchemaType
from penstock.errors import DataError, RefusedError, RetriableError, UnfitError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_STAGING: Final = "penstock_stage_"
_STAGING_NAME: Final = re.compile(_STAGING + "([0-9a-f]{8})_[0-9a-f]{12}")
_DAY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class TableRows:
    """The records of a batch that go to one table, and the columns they become there."""

    table: TableId
    frame: DataFrame
    fields: tuple[SinkField, ...]
    #: The table's name for each field.
    names: Mapping[str, str]
    #: Columns of the table that hold bits.
    bits: frozenset[str]
    few: bool


def table_id(name: str, *, catalogs: bool) -> TableId:
    """A name with dots between catalog, schema and table; `catalogs`: there are no schemas."""
    *outer, table = name.split(".")
    schema, catalog = [*reversed(outer), None, None][:2]
    return TableId(table, None, schema) if catalogs else TableId(table, schema, catalog)


def topics_by_table(config: SinkConfig, batch: SinkBatch) -> dict[str, list[str]]:
    """The tables of a batch and the topics that go there; a Spark job if nothing else tells."""
    if config.table_name("a") == config.table_name("b") and batch.topics is None:
        return {config.table_name(""): []}
    topics: Iterable[str] | None = batch.topics
    if topics is None:
        topics = (row.topic for row in batch.frame.select("topic").distinct().collect())
    found: dict[str, list[str]] = {}
    for topic in sorted(topics):
        found.setdefault(config.table_name(topic), []).append(topic)
    return found


def rows_by_table(config: SinkConfig, target: Target, batch: SinkBatch) -> Iterator[TableRows]:
    """The batch's rows for each table; the tables are there, with all columns, when it returns."""
    from pyspark.sql import functions as F

    tables = topics_by_table(config, batch)
    size = sum(each.end - each.start for each in batch.ranges)
    for name, topics in tables.items():
        frame = batch.frame
        if len(tables) > 1:
            frame = frame.filter(F.col("topic").isin(topics))
        table = table_id(name, catalogs=target.dialect.own_catalog_only)
        try:
            fields = _writable_fields(config, target, name, batch)
            columns = new_columns(fields, value_rules(config, Form.JDBC))
            names = target.structure.prepare(table, columns)
        except UnfitError as error:
            if len(tables) == 1:
                raise
            raise RefusedError(str(error)) from error  # Another table may take its records.
        yield TableRows(
            table,
            _complete(config, target, frame, fields),
            fields,
            names,
            target.structure.bits(table),
            few=size <= FEW_ROWS,
        )


def _writable_fields(
    config: SinkConfig, target: Target, table: str, batch: SinkBatch
) -> tuple[SinkField, ...]:
    """The columns of the batch's records; raises UnfitError before a row is on its way."""
    from penstock.connectors.jdbc.sink.columns import columns_of

    fields = fields_of(config.field_rules, table, batch.key_schema, batch.value_schema)
    rules = value_rules(config, target.loader.form)
    target.remembered(("writable", fields), lambda: columns_of(fields, rules, staged=False))
    return fields


def new_columns(fields: Iterable[SinkField], rules: ValueRules) -> list[NewColumn]:
    return [NewColumn(field.name, epoch_schema(field, rules), key=field.key) for field in fields]


def value_rules(config: SinkConfig, form: Form) -> ValueRules:
    return ValueRules(
        form,
        zone=config.db_timezone,
        date_zone=config.date_zone,
        legacy_calendar=config.legacy_calendar,
        replace_nulls=config.replaces_nulls,
        epoch_fields=config.epoch_fields,
        epoch_unit=config.epoch_unit,
    )


def needs_staging(config: SinkConfig) -> bool:
    """Whether rows can't simply be added to the target."""
    return config.mode is not WriteMode.INSERT or config.delete_enabled


def load(config: SinkConfig, target: Target, loader: Loader, rows: TableRows) -> int:
    """Put the rows straight into the target."""
    frame = _selected(config, target, loader, rows, staged=False)
    return loader.load(frame, _into(target.dialect.qualified(rows.table), rows), few=rows.few)


def stage(config: SinkConfig, target: Target, loader: Loader, rows: TableRows) -> Merge:
    """Put the rows into a staging table of their own; what is to happen with them then."""
    staging = target.writing.staging_id(rows.table, _staging_name())
    name = target.dialect.qualified(staging)
    fields = _renamed(rows)
    rules = value_rules(config, loader.form)
    qualified = target.dialect.qualified(rows.table)
    columns = new_columns(fields, rules)
    target.database.execute(target.writing.create_staging(name, qualified, columns, own=loader.own))
    try:
        frame = _selected(config, target, loader, rows, staged=True)
        into = _into(name, rows, SEQUENCE, GONE)
        count = loader.load(frame, into, few=rows.few)
        if not loader.own:
            _check_count(target, name, count)
        waiting = _merge(config, qualified, name, fields)
        for statement in target.writing.index_staging(waiting):
            target.database.execute(statement)
    except BaseException:
        drop(target, name)
        raise
    return waiting


def _staging_name() -> str:
    """The time of its making is in it, so that others know what was forgotten."""
    return f"{_STAGING}{int(time.time()):x}_{uuid.uuid4().hex[:12]}"


def drop_forgotten(target: Target) -> None:
    """Drop staging tables that killed workers left behind more than a day ago."""
    for found in target.database.tables(name=f"{_STAGING}%"):
        made = _STAGING_NAME.fullmatch(found.id.name)
        if made and int(made.group(1), 16) < time.time() - _DAY_SECONDS:
            drop(target, target.dialect.qualified(found.id))


def drop(target: Target, staging: str) -> None:
    """Drop a staging table; one that can't be dropped now is not worth a failure."""
    try:
        target.database.execute(target.writing.drop_staging(staging))
    except (DataError, RetriableError):
        target.database.close()  # A temporary one goes with its session.


def merge(target: Target, waiting: Merge) -> None:
    """Bring the target up to date, inside a transaction."""
    for statement in target.writing.merge(waiting):
        target.database.execute(statement)


def _check_count(target: Target, staging: str, count: int) -> None:
    """A task that Spark ran twice may have added its rows twice."""
    [(found,)] = target.database.query(f"SELECT COUNT(*) FROM {staging}")
    if int(found) != count:
        raise RetriableError(f"{staging}: {found} rows are there instead of {count}")


def _complete(
    config: SinkConfig, target: Target, frame: DataFrame, fields: tuple[SinkField, ...]
) -> DataFrame:
    from penstock.connectors.jdbc.sink.columns import complete

    condition = target.remembered(
        ("complete", fields), lambda: complete(fields, deletes=config.delete_enabled)
    )
    return frame if condition is None else frame.filter(condition)


def _selected(
    config: SinkConfig, target: Target, loader: Loader, rows: TableRows, *, staged: bool
) -> DataFrame:
    from penstock.connectors.jdbc.sink.columns import columns_of

    fields = _renamed(rows)
    rules = value_rules(config, loader.form)
    columns = target.remembered(
        ("columns", fields, staged), lambda: columns_of(fields, rules, staged=staged)
    )
    return rows.frame.select(*columns)


def _renamed(rows: TableRows) -> tuple[SinkField, ...]:
    return tuple(
        SinkField(rows.names[field.name], field.schema, field.path, field.key)
        for field in rows.fields
    )


def _into(table: str, rows: TableRows, *more: str) -> Into:
    names = tuple(rows.names[field.name] for field in rows.fields)
    binary = (rows.names[field.name] for field in rows.fields if _is_binary(field.schema))
    return Into(table, (*names, *more), frozenset(binary), rows.bits & frozenset(names))


def _is_binary(schema: Schema) -> bool:
    return schema.type is SchemaType.BYTES and not schema.is_decimal


def _merge(config: SinkConfig, target: str, staging: str, fields: Iterable[SinkField]) -> Merge:
    fields = tuple(fields)
    return Merge(
        config.mode,
        target,
        staging,
        tuple(field.name for field in fields if field.key),
        tuple(field.name for field in fields if not field.key),
        deletes=config.delete_enabled,
    )
