"""Partitions, tasks, values with their schemas, and records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from penstock.kernel.data.schema import Schema


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


class KafkaRecord(Protocol):
    """A record as stored by the broker; `timestamp` is -1 if there is none."""

    @property
    def topic(self) -> str: ...
    @property
    def partition(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def timestamp(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> list[tuple[str, bytes | None]] | None: ...
