"""A trial: one configured transformation, or a few, and the records that go through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from penstock.kernel.data.schema import Schema
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
class Stage:
    """A transformation and the predicate that guards it."""

    transform: Plugin
    predicate: Plugin | None = None
    negate: bool = False

    def told(self) -> dict[str, Any]:
        predicate = self.predicate or Plugin("", {})
        return {
            "class": f"{PACKAGE}.{self.transform.name}",
            "config": dict(self.transform.config),
            "predicate": f"{PACKAGE}.{predicate.name}" if self.predicate else None,
            "predicate_config": dict(predicate.config),
            "negate": self.negate,
        }

    def config(self, alias: str) -> dict[str, str]:
        """As the settings of a connector."""
        own = f"transforms.{alias}"
        config = {f"{own}.type": f"{PACKAGE}.{self.transform.name}"}
        config |= {f"{own}.{key}": text for key, text in self.transform.config.items()}
        if self.predicate is None:
            return config
        guard = f"predicates.{alias}"
        config |= {f"{guard}.type": f"{PACKAGE}.{self.predicate.name}"}
        config |= {f"{guard}.{key}": text for key, text in self.predicate.config.items()}
        return config | {f"{own}.predicate": alias, f"{own}.negate": str(self.negate).lower()}

    def __str__(self) -> str:
        text = f"{self.transform.name} {dict(self.transform.config)}"
        if self.predicate is None:
            return text
        guard = f"{self.predicate.name} {dict(self.predicate.config)}"
        return f"{text} {'unless' if self.negate else 'if'} {guard}"


@dataclass(frozen=True, slots=True)
class Trial:
    """`seed` and `number` make the same trial again; its name is that of the first stage."""

    seed: int
    number: int
    stages: tuple[Stage, ...]
    header_converter: Plugin
    key_schema: Schema | None
    value_schema: Schema | None
    records: tuple[Record, ...]

    @property
    def name(self) -> str:
        return self.stages[0].transform.name

    def told(self) -> dict[str, Any]:
        """As TransformBridge.java reads it."""
        return {
            "stages": [stage.told() for stage in self.stages],
            "header_converter": self.header_converter.name,
            "header_config": dict(self.header_converter.config),
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
        stages = {f"s{place}": stage for place, stage in enumerate(self.stages)}
        guarded = [alias for alias, stage in stages.items() if stage.predicate is not None]
        config = {"transforms": ",".join(stages), "predicates": ",".join(guarded)}
        for alias, stage in stages.items():
            config |= stage.config(alias)
        headers = self.header_converter
        config |= {"header.converter": headers.name}
        return config | {f"header.converter.{key}": text for key, text in headers.config.items()}
