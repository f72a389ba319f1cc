"""A record as plain Python: what custom plugins and the error reports see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.data.schema import Schema


@dataclass(frozen=True, slots=True)
class TopicPartition:
    """One partition of one topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class TaskId:
    """One task of one connector."""

    connector: str
    number: int

    def __str__(self) -> str:
        return f"{self.connector}-{self.number}"


@dataclass(frozen=True, slots=True)
class SchemaAndValue:
    """A value with its schema; no schema means schemaless."""

    schema: Schema | None
    value: Any


@dataclass(frozen=True, slots=True)
class Header:
    """One header of a record."""

    key: str
    schema: Schema | None
    value: Any


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """What a record source hands over; offsets are Connect's partition and offset maps."""

    topic: str
    key: SchemaAndValue
    value: SchemaAndValue
    source_partition: Mapping[str, Any]
    source_offset: Mapping[str, Any] | None
    partition: int | None = None
    timestamp: int | None = None
    headers: tuple[Header, ...] = ()


@dataclass(frozen=True, slots=True)
class SinkRecord:
    """What a record sink receives."""

    topic: str
    partition: int
    offset: int
    key: SchemaAndValue
    value: SchemaAndValue
    timestamp: int | None = None
    headers: tuple[Header, ...] = ()
