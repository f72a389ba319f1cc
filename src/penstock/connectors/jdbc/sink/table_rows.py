"""A batch of records as rows of tables: which table, which columns, and the way there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.api.sink import SinkBatch
from penstock.connectors.jdbc.dialects.creating import NewColumn
from penstock.connectors.jdbc.dialects.loading import TableToLoad
from penstock.connectors.jdbc.dialects.merging import SEQUENCE, TOMBSTONE
from penstock.connectors.jdbc.sink.config import SinkConfig
from penstock.connectors.jdbc.sink.fields import SinkField, fields_of
from penstock.connectors.jdbc.sink.loading import FEW_ROWS
from penstock.connectors.jdbc.sink.target import Target
from penstock.connectors.jdbc.sink.value_rules import ValueRules, epoch_schema
from penstock.connectors.jdbc.tables import TableId
from penstock.kernel.data.schema import Schema, SchemaType
from penstock.kernel.errors import RefusedError, UnfitError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class TableRows:
    """The records of a batch that go to one table, and the columns they become there.

    Attributes:
        fields: each with the name of its column in the table.
        bits: columns of the table that hold bits.
        few: whether the rows are fetched sooner than Spark has opened a file for them.
    """

    table: TableId
    frame: DataFrame
    fields: tuple[SinkField, ...]
    bits: frozenset[str]
    few: bool


def rows_by_table(target: Target, batch: SinkBatch) -> Iterator[TableRows]:
    """The batch's rows for each table; the tables are there, with all columns, when it returns."""
    from pyspark.sql import functions as F

    tables = _topics_by_table(target.config, batch)
    size = sum(each.end - each.start for each in batch.ranges)
    for name, topics in tables.items():
        frame = batch.frame
        if len(tables) > 1:
            frame = frame.filter(F.col("topic").isin(topics))
        table = target.dialect.table_id(name)
        try:
            fields = _writable_fields(target, name, batch)
            names = target.tables.prepare(table, new_columns(fields, target.value_rules))
        except UnfitError as error:
            if len(tables) == 1:
                raise
            raise RefusedError(str(error)) from error  # Another table may take its records.
        yield TableRows(
            table,
            _complete(target, frame, fields),
            tuple(replace(field, name=names[field.name]) for field in fields),
            target.tables.bits(table),
            few=size <= FEW_ROWS,
        )


def load_rows(target: Target, rows: TableRows, table: str, *, staged: bool) -> int:
    """Put the rows into a table, by its quoted name; how many there were.

    `staged`: it is a staging table, which has the two columns more.
    """
    from penstock.connectors.jdbc.sink.columns import columns_of

    columns = target.remembered(
        ("columns", rows.fields, staged),
        lambda: columns_of(rows.fields, target.value_rules, staged=staged),
    )
    to_load = _table_to_load(table, rows, staged=staged)
    return target.loader.load(rows.frame.select(*columns), to_load, few=rows.few)


def new_columns(fields: Iterable[SinkField], rules: ValueRules) -> list[NewColumn]:
    """The columns to make for fields."""
    return [NewColumn(field.name, epoch_schema(field, rules), key=field.key) for field in fields]


def _topics_by_table(config: SinkConfig, batch: SinkBatch) -> dict[str, list[str]]:
    """The tables of a batch and the topics that go there; a Spark job if the batch has no list."""
    if config.table_name("a") == config.table_name("b") and batch.topics is None:
        return {config.table_name(""): []}
    topics: Iterable[str] | None = batch.topics
    if topics is None:
        topics = (row.topic for row in batch.frame.select("topic").distinct().collect())
    found: dict[str, list[str]] = {}
    for topic in sorted(topics):
        found.setdefault(config.table_name(topic), []).append(topic)
    return found


def _writable_fields(target: Target, table: str, batch: SinkBatch) -> tuple[SinkField, ...]:
    """The columns of the batch's records; raises UnfitError before a row is on its way."""
    from penstock.connectors.jdbc.sink.columns import columns_of

    fields = fields_of(target.config.field_rules, table, batch.key_schema, batch.value_schema)
    rules = target.value_rules
    target.remembered(("writable", fields), lambda: columns_of(fields, rules, staged=False))
    return fields


def _complete(target: Target, frame: DataFrame, fields: tuple[SinkField, ...]) -> DataFrame:
    from penstock.connectors.jdbc.sink.columns import complete

    deletes = target.config.delete_enabled
    condition = target.remembered(("complete", fields), lambda: complete(fields, deletes=deletes))
    return frame if condition is None else frame.filter(condition)


def _table_to_load(table: str, rows: TableRows, *, staged: bool) -> TableToLoad:
    names = tuple(field.name for field in rows.fields)
    more = (SEQUENCE, TOMBSTONE) if staged else ()
    binary = (field.name for field in rows.fields if _is_binary(field.schema))
    return TableToLoad(table, (*names, *more), frozenset(binary), rows.bits & frozenset(names))


def _is_binary(schema: Schema) -> bool:
    return schema.type is SchemaType.BYTES and not schema.is_decimal
