"""A record in flight: the columns every record has between source and sink."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from penstock.api.plugin import Side

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.api.converter import HeaderConverter
    from penstock.data.schema import Schema


@dataclass(frozen=True, slots=True)
class Part:
    """The key or the value of a record: a column and, known on the driver, its schema.

    Without a schema the column is a VARIANT, or if `opened` the map<string, variant> of what is in
    it (null for null). Only transformations that take opened maps get one.
    """

    column: Column
    schema: Schema | None
    opened: bool = False


@dataclass(frozen=True, slots=True)
class Envelope:
    """Expressions for all parts of a record. One envelope has one key and one value schema.

    Attributes:
        partition: int; null if the producer is to choose.
        offset: long; null on the source side.
        timestamp: long, milliseconds; null for "now".
        headers: array<struct<key: string, value: binary>>, the values as they are in Kafka.
        header_converter: the connector's; it writes what becomes the value of a header.
        fault: string, null while the record is good; the first fault stays.
        keep: boolean, false for a record that a transformation drops; None keeps all.
    """

    topic: Column
    partition: Column
    offset: Column
    timestamp: Column
    key: Part
    value: Part
    headers: Column
    header_converter: HeaderConverter
    fault: Column
    keep: Column | None = None

    def part(self, side: Side) -> Part:
        """The key or the value."""
        return self.key if side is Side.KEY else self.value

    def with_part(self, side: Side, part: Part) -> Envelope:
        """The same record with another key or value."""
        return replace(self, key=part) if side is Side.KEY else replace(self, value=part)

    def replace(self, **changes: Any) -> Envelope:
        """The same record with some of its parts changed."""
        return replace(self, **changes)
