"""A record in flight: the columns every record has between source and sink."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from penstock.api.plugin import Side

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.api.converter import HeaderConverter
    from penstock.data.schema import Schema


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an opened map: a VARIANT, null where the map has no such member.

    `sure`: the map has it in every row, so it is never null (that of JSON is a VARIANT).
    """

    column: Column
    sure: bool


@dataclass(frozen=True, slots=True)
class Opened:
    """Changes to a map without a schema that are not yet put into it.

    `members`: these take the place of what the map has under their names; None hides it.
    """

    members: Mapping[str, Member | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Part:
    """The key or the value of a record: a column and, known on the driver, its schema.

    Without a schema the column is a VARIANT. If `opened` it is a map or null (or the record has a
    fault), and what else is known of its members stands there. Only what takes opened maps gets
    one; columns/opened.py has what can be done with them.
    """

    column: Column
    schema: Schema | None
    opened: Opened | None = None


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
