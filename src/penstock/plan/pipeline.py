"""A task's converters and chain as frames: source rows to bytes, bytes to sink rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from penstock.plan.faults import FAULT_TYPE, ORIGINAL, fault_of, no_fault, of_this_layout
from penstock.plan.remembered import Remembered
from penstock.plan.topics import output_topics

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from penstock.api.converter import Converter, Layout
    from penstock.api.source import SourceBatch
    from penstock.data.schema import Schema
    from penstock.plan.chain import Branch, Chain

HEADERS_TYPE: Final = "array<struct<key:string,value:binary>>"
_ENVELOPE: Final = ("topic", "partition", "offset", "timestamp", "headers")


@dataclass(frozen=True, slots=True)
class Typed:
    """Rows of one key schema and one value schema, faults included.

    `clean`: it is known already that there is no fault among them. `branch`: what a chain did to
    them.
    """

    frame: DataFrame
    key_schema: Schema | None
    value_schema: Schema | None
    clean: bool = False
    branch: Branch | None = None


@dataclass(frozen=True, slots=True)
class Converters:
    """The key and the value converter of a connector."""

    key: Converter
    value: Converter

    @property
    def uniform(self) -> bool:
        """Whether all records have one layout, whatever their bytes."""
        return self.key.uniform and self.value.uniform


class SourcePipeline:
    """From what a source task read to what Kafka's writer takes."""

    def __init__(self, chain: Chain, converters: Converters) -> None:
        self._chain = chain
        self._converters = converters
        self._topics: dict[object, frozenset[str]] = {}
        self._columns: Remembered[tuple[list[Column], list[Column]]] = Remembered()

    def topics(self, batch: SourceBatch) -> frozenset[str]:
        """The topics the batch goes to; a Spark job only if they depend on its records."""
        place = (batch.topic, batch.key_schema, batch.value_schema)
        if place in self._topics:
            return self._topics[place]
        branches = self._chain.compile(batch.key_schema, batch.value_schema)
        spark = batch.frame.sparkSession
        given = None if batch.topic is None else (batch.topic,)
        found = None if given is None else output_topics(spark, branches, given)
        if found is not None:
            self._topics[place] = found
            return found
        frame = _completed(batch)
        rows = [
            row
            for branch in branches
            for row in branch.apply(frame).select("topic").distinct().collect()
        ]
        return frozenset(row.topic for row in rows)

    def encoded(self, batch: SourceBatch) -> Iterator[DataFrame]:
        """Frames of bytes with a `fault` column, one for each branch of the chain."""
        frame = _completed(batch)
        for branch in self._chain.compile(batch.key_schema, batch.value_schema):
            yield self._encode(branch.apply(frame), branch.key_schema, branch.value_schema)

    def _encode(
        self, frame: DataFrame, key_schema: Schema | None, value_schema: Schema | None
    ) -> DataFrame:
        place = (key_schema, value_schema)
        encode, take_apart = self._columns.of(place, lambda: self._encoding(*place))
        return frame.select(*encode).select(*take_apart)

    def _encoding(
        self, key_schema: Schema | None, value_schema: Schema | None
    ) -> tuple[list[Column], list[Column]]:
        key, value = self._converters.key, self._converters.value
        encode = [
            *map(F.col, _ENVELOPE),
            F.col("fault"),
            key.encode(key_schema, F.col("key")).alias("key"),
            value.encode(value_schema, F.col("value")).alias("value"),
        ]
        return encode, _taken_apart(self._converters)


class SinkPipeline:
    """From raw records to what a sink task takes."""

    def __init__(self, chain: Chain, converters: Converters) -> None:
        self._chain = chain
        self._converters = converters

        self._columns: Remembered[_Decoding] = Remembered()
        self._routes: Remembered[tuple[Branch, frozenset[str] | None]] = Remembered()

    def decoded(self, raw: DataFrame, key: Layout, value: Layout) -> Iterator[Typed]:
        """Typed rows of raw ones, all of these layouts; the job fails at one of another layout.

        The record as it was stays beside them, as ORIGINAL, for reports and dead letters.
        """
        plan = self._columns.of((key, value), lambda: self._decoding(key, value))
        converted = raw.select(*plan.decode)
        if plan.this_layout is not None:
            converted = converted.filter(plan.this_layout)
        yield from self.transformed(
            Typed(converted.select(*plan.take_apart), key.schema, value.schema)
        )

    def _decoding(self, key: Layout, value: Layout) -> _Decoding:
        decode = [
            *map(F.col, _ENVELOPE),
            *(F.col(name).alias(original) for name, original in ORIGINAL.items()),
            no_fault().alias("fault"),
            self._converters.key.decode(key, F.col("key")).alias("key"),
            self._converters.value.decode(value, F.col("value")).alias("value"),
        ]
        return _Decoding(
            decode,
            None if self._converters.uniform else of_this_layout(_is_other("key", "value")),
            _taken_apart(self._converters, *ORIGINAL.values()),
        )

    def transformed(self, typed: Typed) -> Iterator[Typed]:
        """Typed rows after the chain, one frame for each of its branches."""
        for branch in self._chain.compile(typed.key_schema, typed.value_schema):
            yield Typed(
                branch.apply(typed.frame),
                branch.key_schema,
                branch.value_schema,
                clean=typed.clean and not branch.steps,
                branch=branch,
            )

    def topics(self, typed: Typed, read: frozenset[str]) -> frozenset[str] | None:
        """The topics these rows may have, read from others; None if that depends on the rows."""
        if typed.branch is None or not typed.branch.steps:
            return read
        branch = typed.branch

        def follow() -> tuple[Branch, frozenset[str] | None]:
            return branch, output_topics(typed.frame.sparkSession, [branch], read)

        # With the branch itself, so that no other can get its number.
        return self._routes.of((id(branch), read), follow)[1]


@dataclass(frozen=True, slots=True)
class _Decoding:
    """What is selected and asked of raw rows, one after the other."""

    decode: list[Column]
    this_layout: Column | None
    take_apart: list[Column]


def _is_other(*parts: str) -> Column:
    asked = (F.coalesce(F.col(f"{part}.other"), F.lit(False)) for part in parts)
    return reduce(or_, asked)


def _completed(batch: SourceBatch) -> DataFrame:
    """The batch's frame with all columns of a record in flight."""
    present = set(batch.frame.columns)

    def column(name: str, kind: str) -> Column:
        return F.col(name).cast(kind) if name in present else F.lit(None).cast(kind)

    topic = F.col("topic") if batch.topic is None else F.lit(batch.topic)
    key = F.col("key") if "key" in present else F.lit(None).cast("variant")
    return batch.frame.select(
        topic.alias("topic"),
        column("partition", "int").alias("partition"),
        F.lit(None).cast("long").alias("offset"),
        column("timestamp", "long").alias("timestamp"),
        column("headers", HEADERS_TYPE).alias("headers"),
        F.lit(None).cast(FAULT_TYPE).alias("fault"),
        key.alias("key"),
        "value",
    )


def _taken_apart(converters: Converters, *also: str) -> list[Column]:
    """Data and error of the converted columns, apart; the first fault of a row stays."""
    key, value = converters.key, converters.value
    fault = F.coalesce(
        F.col("fault"),
        fault_of("KEY_CONVERTER", key.class_name(), F.col("key.error")),
        fault_of("VALUE_CONVERTER", value.class_name(), F.col("value.error")),
    )
    return [
        *map(F.col, (*_ENVELOPE, *also)),
        fault.alias("fault"),
        F.col("key.data").alias("key"),
        F.col("value.data").alias("value"),
    ]
