"""A record in flight: the columns every record has between source and sink."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from penstock.api.plugin import Side

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.api.converter import HeaderConverter
    from penstock.kernel.data.schema import Schema


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an opened map: a VARIANT, null if the map has no such member.

    `sure`: the map has it in every row, so it is never null (JSON's null is a VARIANT).
    """

    column: Column
    sure: bool


@dataclass(frozen=True, slots=True)
class Opened:
    """Pending changes to a map without a schema.

    `members`: these replace the map's members of the same names; None removes one.
    """

    members: Mapping[str, Member | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Part:
    """The key or the value of a record: a column and, known on the driver, its schema.

    Without a schema the column is a VARIANT. If `opened` is set it is a map or null (or the record
    has a fault), and `opened` has changes of its members. Only transformations and sinks that
    accept opened maps get one; columns/opened.py has functions for them.
    """

    column: Column
    schema: Schema | None
    opened: Opened | None = None


@dataclass(frozen=True, slots=True)
class Envelope:
    """Expressions for all parts of a record. One envelope has one key and one value schema.

    Attributes:
        partition: int; null lets the producer choose.
        offset: long; null on the source side.
        timestamp: long, milliseconds; null for "now".
        headers: array<struct<key: string, value: binary>>, the values as they are in Kafka.
        header_converter: the connector's; it converts new header values.
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


def fail(envelope: Envelope, condition: Column, message: Column | str) -> Envelope:
    """Mark the rows that meet the condition as faulty; an earlier fault stays."""
    from pyspark.sql import functions as F

    text = F.lit(message) if isinstance(message, str) else message
    return envelope.replace(fault=F.coalesce(envelope.fault, F.when(condition, text)))
