"""The forms in which values leave Spark, and the settings that decide about them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from penstock.connectors.jdbc.sink.fields import SinkField
from penstock.data.schema import TIMESTAMP, Schema, SchemaType
from penstock.errors import UnfitError


class Form(StrEnum):
    """How values leave Spark."""

    COPY = "copy"  # text for PostgreSQL's COPY
    LOAD = "load"  # text for MySQL's LOAD DATA
    JDBC = "jdbc"  # values for java.sql.PreparedStatement
    SQLITE = "sqlite"  # the same, with times as milliseconds, as SQLite's driver stores them


@dataclass(frozen=True, slots=True)
class ValueRules:
    """The settings that decide about values."""

    form: Form
    zone: str = "UTC"
    #: The zone in which a Date is a day; dates of UTC may be other days elsewhere.
    date_zone: str = "UTC"
    #: Whether days before October 1582 get the names that Java's old calendar has for them.
    legacy_calendar: bool = True
    replace_nulls: bool = True
    #: INT64 fields that are timestamps, and how many of their units make a microsecond.
    epoch_fields: tuple[str, ...] = ()
    epoch_unit: int = 1


def epoch_schema(field: SinkField, rules: ValueRules) -> Schema:
    """The schema that counts for the field's column."""
    if not is_epoch(field, rules):
        return field.schema
    if field.schema.type is not SchemaType.INT64:
        raise UnfitError(
            f"field {field.name} is in timestamp.fields.list, but it is not an INT64; its type"
            f" is {field.schema.type.name}"
        )
    return Schema(SchemaType.INT64, optional=field.schema.optional, name=TIMESTAMP, version=1)


def is_epoch(field: SinkField, rules: ValueRules) -> bool:
    return field.path[0] == "value" and field.path[-1] in rules.epoch_fields
