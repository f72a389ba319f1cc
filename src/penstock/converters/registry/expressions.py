"""Expressions of the registry converters; apart from them, so that their keys need no Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from penstock.codecs.registry.client import Registered, RegistrySchema
from penstock.columns.faults import Outcome
from penstock.converters.common import decoded, encoded
from penstock.converters.registry.converter import NO_SCHEMA, NULL_FOR_REQUIRED
from penstock.kernel.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.converters.registry.format import Format
    from penstock.kernel.data.schema import Schema


def encode(
    format_: Format,
    schema: Schema,
    data: Column,
    targets: Mapping[str, Registered | str],
    topic: Column,
) -> Column:
    """`targets`: for each topic the schema to write with, or why there is none."""
    outcome = _written(format_, schema, data, targets, topic)
    absent = F.lit(None if schema.optional else NULL_FOR_REQUIRED).cast("string")
    if outcome.fault is None:
        error = F.when(data.isNull(), absent)
    else:
        error = F.when(data.isNull(), absent).otherwise(outcome.fault)
    return encoded(F.when(data.isNotNull(), outcome.value), error)


def encode_schemaless(data: Column) -> Column:
    """Null is null; nothing else without a schema can be written."""
    given = data.isNotNull() & ~F.is_variant_null(data)
    return encoded(_no_bytes(), F.when(given, F.lit(NO_SCHEMA)))


def decode(
    format_: Format, schema: Schema, written: RegistrySchema, tag: bytes, raw: Column
) -> Column:
    """Messages with this tag; others have another layout."""
    same = F.substring(raw, 1, len(tag)) == F.lit(tag)
    outcome = format_.decode(schema, written, F.when(same, raw))
    return decoded(outcome.value, outcome.fault, F.coalesce(~same, F.lit(False)))


def decode_nulls(raw: Column) -> Column:
    """Only null has this layout."""
    nothing = F.lit(None)
    return decoded(nothing.cast("variant"), nothing.cast("string"), raw.isNotNull())


def _written(
    format_: Format,
    schema: Schema,
    data: Column,
    targets: Mapping[str, Registered | str],
    topic: Column,
) -> Outcome:
    """Each row in the form of its topic. Topics that share a schema only differ in the head."""
    forms: dict[RegistrySchema | str, dict[str, bytes]] = {}
    for name, target in targets.items():
        if isinstance(target, Registered):
            forms.setdefault(target.schema, {})[name] = target.tag
        else:
            forms.setdefault(target, {})[name] = b""
    if len(targets) == 1:
        ((form, tags),) = forms.items()
        return _of_form(format_, schema, form, data, F.lit(*tags.values()))
    value, fault = _no_bytes(), F.concat(F.lit("No schema was looked up for topic "), topic)
    for form, tags in forms.items():
        here = topic.isin(*tags)
        outcome = _of_form(format_, schema, form, data, _head(tags, topic))
        value = F.when(here, outcome.value).otherwise(value)
        fault = F.when(here, _no_text() if outcome.fault is None else outcome.fault).otherwise(
            fault
        )
    return Outcome(value, fault)


def _of_form(
    format_: Format, schema: Schema, form: RegistrySchema | str, data: Column, head: Column
) -> Outcome:
    """The messages of one form; a text instead of a form says why there are none."""
    if isinstance(form, str):
        return Outcome(_no_bytes(), F.lit(form))
    try:
        return format_.encode(schema, form, data, head)
    except DataError as error:
        return Outcome(_no_bytes(), F.lit(str(error)))


def _head(tags: Mapping[str, bytes], topic: Column) -> Column:
    head = _no_bytes()
    for name, tag in tags.items():
        head = F.when(topic == name, F.lit(tag)).otherwise(head)
    return head


def _no_bytes() -> Column:
    return F.lit(None).cast("binary")


def _no_text() -> Column:
    return F.lit(None).cast("string")
