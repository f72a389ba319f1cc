"""A registry, a session and a converter, and what tests do with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.serialization import MessageField, SerializationContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from penstock.api.converter import Layout, Topics
from penstock.converters.registry.converter import RegistryConverter
from penstock.kernel.data.schema import Schema, Struct
from penstock.testing.registry import SchemaRegistry
from tests.spark.converters.generate import arrow_column, connect_value


@dataclass(frozen=True)
class RegistryBench:
    spark: SparkSession
    registry: SchemaRegistry
    plugin: type[RegistryConverter]

    def converter(self, **keys: str) -> RegistryConverter:
        props = {"schema.registry.url": self.registry.url, "converter.type": "value"}
        given = {name.replace("_", "."): value for name, value in keys.items()}
        config: Any = self.plugin.Config.parse(props | given)
        return self.plugin(config)

    @property
    def client(self) -> SchemaRegistryClient:
        """Confluent's own."""
        return SchemaRegistryClient({"url": self.registry.url})

    def encode(
        self, converter: RegistryConverter, topic: str, schema: Schema, values: list[Any]
    ) -> list[Any]:
        """The bytes of values, or what is wrong with them."""
        frame = self.spark.createDataFrame(pa.table([arrow_column(schema, values)], names=["c"]))
        topics = Topics(F.lit(topic), frozenset([topic]))
        made = converter.encode_for(topics, schema, F.col("c"))
        rows = [row.r for row in frame.select(made.alias("r")).collect()]
        return [row.error or (row.data and bytes(row.data)) for row in rows]

    def decode(
        self, converter: RegistryConverter, layout: Layout, raws: Sequence[bytes | None]
    ) -> list[Any]:
        """The data of bytes; what is wrong with them; Ellipsis if they have another layout."""
        assert layout.schema is not None
        frame = self.spark.createDataFrame(pa.table([pa.array(raws, pa.binary())], names=["c"]))
        rows = frame.select(converter.decode(layout, F.col("c")).alias("r")).collect()
        return [
            ... if row.r.other else row.r.error or connect_value(layout.schema, row.r.data)
            for row in rows
        ]


def context(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


def plain(value: Any) -> Any:
    """Data with its structs as dictionaries."""
    match value:
        case Struct():
            return {name: plain(each) for name, each in value.values.items()}
        case list():
            return [plain(each) for each in value]
        case dict():
            return {key: plain(value[key]) for key in sorted(value)}
    return value
