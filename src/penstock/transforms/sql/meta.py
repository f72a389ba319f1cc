"""The parts of a record that a query sets beside its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F

from penstock.api.envelope import Part
from penstock.kernel.data.schema import TIMESTAMP, Schema, SchemaType
from penstock.kernel.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.api.envelope import Envelope
    from penstock.transforms.sql.scope import Found


def with_meta(envelope: Envelope, found: Mapping[str, Found]) -> Envelope:
    """The record with the computed topic, partition, timestamp, headers and key.

    Raises:
        DataError: one of them has a wrong type.
    """
    for name, wanted in META_TYPES.items():
        if name in found and not wanted.takes(found[name].schema):
            raise DataError(f"{name} must be {wanted.phrase}: CAST(… AS {wanted.sql}) AS {name}")
    changes: dict[str, Any] = {}
    if "_topic" in found:
        changes["topic"] = F.coalesce(found["_topic"].column, envelope.topic)
    if "_partition" in found:
        changes["partition"] = found["_partition"].column.cast("int")
    if "_timestamp" in found:
        changes["timestamp"] = found["_timestamp"].column.cast("long")
    if "_headers" in found:
        changes["headers"] = _header_list(found["_headers"].column)
    if "_key" in found:
        changes["key"] = Part(found["_key"].column, found["_key"].schema)
    return envelope.replace(**changes)


@dataclass(frozen=True, slots=True)
class MetaType:
    """The type that a column must have to set a part of the record."""

    phrase: str
    sql: str
    takes: Callable[[Schema | None], bool]


def _is_text(schema: Schema | None) -> bool:
    return schema is not None and schema.type is SchemaType.STRING


def _is_int(schema: Schema | None) -> bool:
    narrow = (SchemaType.INT8, SchemaType.INT16, SchemaType.INT32)
    return schema is not None and schema.type in narrow and not schema.is_moment


def _is_timestamp(schema: Schema | None) -> bool:
    return schema is not None and schema.name == TIMESTAMP


def _is_text_map(schema: Schema | None) -> bool:
    return schema is not None and _is_text(schema.key_schema) and _is_text(schema.value_schema)


META_TYPES: Final = {
    "_topic": MetaType("a text", "STRING", _is_text),
    "_partition": MetaType("a whole number", "INT", _is_int),
    "_timestamp": MetaType("a timestamp", "TIMESTAMP", _is_timestamp),
    "_headers": MetaType("a map of texts", "MAP<STRING, STRING>", _is_text_map),
}


def _header_list(texts: Column) -> Column:
    return F.transform(
        F.map_entries(texts),
        lambda entry: F.struct(
            entry.getField("key").alias("key"),
            entry.getField("value").cast("string").cast("binary").alias("value"),
        ),
    )
