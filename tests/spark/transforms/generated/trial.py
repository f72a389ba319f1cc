"""A trial: one configured transformation and the records that go through it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from penstock.data.schema import Schema
from tests.spark.converters.bridge import told_schema, told_value

PACKAGE: Final = "org.apache.kafka.connect.transforms"


@dataclass(frozen=True, slots=True)
class Record:
    """A record as its task has it; the offset of a source's record is None."""

    topic: str
    partition: int | None
    offset: int | None
    timestamp: int | None
    key: Any
    value: Any
    headers: tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class Plugin:
    """A class by its name in Kafka's packages, with its settings."""

    name: str
    config: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Trial:
    """`seed` and `number` make the same trial again."""

    seed: int
    number: int
    transform: Plugin
    header_converter: Plugin
    predicate: Plugin | None
    negate: bool
    key_schema: Schema | None
    value_schema: Schema | None
    records: tuple[Record, ...]

    def told(self) -> dict[str, Any]:
        """As TransformBridge.java reads it."""
        predicate = self.predicate or Plugin("", {})
        return {
            "class": f"{PACKAGE}.{self.transform.name}",
            "config": dict(self.transform.config),
            "header_converter": self.header_converter.name,
            "header_config": dict(self.header_converter.config),
            "predicate": f"{PACKAGE}.{predicate.name}" if self.predicate else None,
            "predicate_config": dict(predicate.config),
            "negate": self.negate,
            "key_schema": told_schema(self.key_schema),
            "value_schema": told_schema(self.value_schema),
            "records": [self.told_record(record) for record in self.records],
        }

    def told_record(self, record: Record) -> dict[str, Any]:
        return {
            "topic": record.topic,
            "partition": record.partition,
            "offset": record.offset,
            "timestamp": record.timestamp,
            "key": told_value(self.key_schema, record.key),
            "value": told_value(self.value_schema, record.value),
            "headers": [[name, None if raw is None else raw.hex()] for name, raw in record.headers],
        }

    def chain_config(self) -> dict[str, str]:
        """The same as the settings of a connector."""
        config = {"transforms": "x", "transforms.x.type": f"{PACKAGE}.{self.transform.name}"}
        config |= {f"transforms.x.{key}": text for key, text in self.transform.config.items()}
        headers = self.header_converter
        config |= {"header.converter": headers.name}
        config |= {f"header.converter.{key}": text for key, text in headers.config.items()}
        if self.predicate is None:
            return config
        config |= {"predicates": "p", "predicates.p.type": f"{PACKAGE}.{self.predicate.name}"}
        config |= {f"predicates.p.{key}": text for key, text in self.predicate.config.items()}
        negate = str(self.negate).lower()
        return config | {"transforms.x.predicate": "p", "transforms.x.negate": negate}
