"""The settings that decide about the values that leave Spark."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.connectors.jdbc.dialects.loading import ValueForm
from penstock.connectors.jdbc.sink.config import SinkConfig
from penstock.connectors.jdbc.sink.fields import SinkField
from penstock.kernel.data.schema import TIMESTAMP, Schema, SchemaType
from penstock.kernel.errors import UnfitError


@dataclass(frozen=True, slots=True)
class ValueRules:
    """The settings that decide about values."""

    form: ValueForm
    zone: str = "UTC"
    #: The zone in which a Date is a day; dates of UTC may be other days elsewhere.
    date_zone: str = "UTC"
    #: Whether days before October 1582 get the names that Java's old calendar has for them.
    legacy_calendar: bool = True
    replace_nulls: bool = True
    #: INT64 fields that are timestamps, and how many of their units make a microsecond.
    epoch_fields: tuple[str, ...] = ()
    epoch_unit: int = 1


def rules_of(config: SinkConfig, form: ValueForm) -> ValueRules:
    """The rules that a config has for one way into a database."""
    return ValueRules(
        form,
        zone=config.db_timezone,
        date_zone=config.date_zone,
        legacy_calendar=config.legacy_calendar,
        replace_nulls=config.replaces_nulls,
        epoch_fields=config.epoch_fields,
        epoch_unit=config.epoch_unit,
    )


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
