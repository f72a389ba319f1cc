"""A task's converters and chain as frames: source rows to bytes, bytes to sink rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from penstock.api.converter import Topics
from penstock.columns.remembered import Remembered
from penstock.worker.pipeline.faults import FAULT_TYPE, ORIGINAL, fault_of, no_fault, of_this_layout
from penstock.worker.pipeline.output_topics import output_topics

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from penstock.api.converter import Converter, Layout
    from penstock.api.source import SourceBatch
    from penstock.kernel.data.schema import Schema
    from penstock.worker.pipeline.chain import Branch, Chain

HEADERS_TYPE: Final = "array<struct<key:string,value:binary>>"
_OTHER: Final = "other_layout"
_ENVELOPE: Final = ("topic", "partition", "offset", "timestamp", "headers")
_LETTER: Final = tuple(ORIGINAL[name] for name in ("key", "value", "headers"))


@dataclass(frozen=True, slots=True)
class Typed:
    """Rows of one key schema and one value schema, faults included.

    `clean`: none of them has a fault. `branch`: the branch of the chain that made them.
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

    @property
    def by_topic(self) -> bool:
        """Whether the bytes of a record depend on its topic."""
        return self.key.by_topic or self.value.by_topic


@dataclass(frozen=True, slots=True)
class JsonForm:
    """Data as JSON, with the schema if there is one, whatever the connector's own converters are.

    For the dead letters of a source, whose own converters may be what failed, and for people.
    """

    with_schema: Converter
    without_schema: Converter

    def encode(self, schema: Schema | None, column: Column) -> Column:
        """As Converter.encode()."""
        converter = self.without_schema if schema is None else self.with_schema
        return converter.encode(schema, column)


class SourcePipeline:
    """From the rows that a source task read to the rows that Kafka's writer takes.

    With a form for dead letters, each row also has its original columns (ORIGINAL). Spark computes
    them only in jobs that select them.
    """

    def __init__(
        self, chain: Chain, converters: Converters, letters: JsonForm | None = None
    ) -> None:
        self._chain = chain
        self._converters = converters
        self._letters = letters
        self._topics: dict[object, frozenset[str] | None] = {}
        self._columns: Remembered[list[Column]] = Remembered()
        self._originals: Remembered[dict[str, Column]] = Remembered()

    def topics(self, batch: SourceBatch) -> frozenset[str]:
        """The topics the batch goes to; runs a Spark job only if they depend on its records."""
        known = self._known_topics(batch)
        if known is not None:
            return known
        frame = _completed(batch)
        rows = [
            row
            for branch in self._branches(batch)
            for row in branch.apply(frame).select("topic").distinct().collect()
        ]
        return frozenset(row.topic for row in rows)

    def reads_again(self, batch: SourceBatch) -> bool:
        """Whether several jobs read the batch, so that changing rows could get lost.

        Each branch reads it, and so does the job that finds the topics; a converter has no schema
        for a topic that this job did not find.
        """
        if len(self._branches(batch)) > 1:
            return True
        return self._converters.by_topic and self._known_topics(batch) is None

    def _branches(self, batch: SourceBatch) -> tuple[Branch, ...]:
        return self._chain.compile(batch.key_schema, batch.value_schema)

    def _known_topics(self, batch: SourceBatch) -> frozenset[str] | None:
        """The topics the batch goes to; None if they depend on its records."""
        if batch.topic is None:
            return None
        place = (batch.topic, batch.key_schema, batch.value_schema)
        if place not in self._topics:
            spark = batch.frame.sparkSession
            self._topics[place] = output_topics(spark, self._branches(batch), (batch.topic,))
        return self._topics[place]

    def place(self, topics: frozenset[str]) -> frozenset[str]:
        """The topics a plan depends on: batches of one place may share plans."""
        return topics if self._converters.by_topic else frozenset()

    def encoded(self, batch: SourceBatch, topics: frozenset[str]) -> Iterator[DataFrame]:
        """Frames of bytes with a `fault` column, one for each branch of the chain.

        `topics`: the result of topics() for the batch.
        """
        frame = self._with_originals(_completed(batch), batch.key_schema, batch.value_schema)
        place = self.place(topics)
        kept = () if self._letters is None else _LETTER
        for branch in self._branches(batch):
            typed = Typed(branch.apply(frame), branch.key_schema, branch.value_schema)
            yield self.encode(typed, place, kept)

    def _with_originals(
        self, frame: DataFrame, key_schema: Schema | None, value_schema: Schema | None
    ) -> DataFrame:
        letters = self._letters
        if letters is None:
            return frame

        def columns() -> dict[str, Column]:
            return {
                ORIGINAL["key"]: letters.encode(key_schema, F.col("key")).getField("data"),
                ORIGINAL["value"]: letters.encode(value_schema, F.col("value")).getField("data"),
                ORIGINAL["headers"]: F.col("headers"),
            }

        return frame.withColumns(self._originals.of((key_schema, value_schema), columns))

    def encode(self, typed: Typed, topics: frozenset[str], also: tuple[str, ...] = ()) -> DataFrame:
        """Bytes of typed rows; `also`: other columns to keep."""
        place = (typed.key_schema, typed.value_schema, topics)
        columns = self._columns.of(place, partial(self._encoding, *place))
        return typed.frame.select(*columns, *also)

    @staticmethod
    def in_flight(batch: SourceBatch) -> DataFrame:
        """The batch's frame with all columns of a record."""
        return _completed(batch)

    def _encoding(
        self, key_schema: Schema | None, value_schema: Schema | None, names: frozenset[str]
    ) -> list[Column]:
        topics = Topics(F.col("topic"), names)
        key = self._converters.key.encode_for(topics, key_schema, F.col("key"))
        value = self._converters.value.encode_for(topics, value_schema, F.col("value"))
        return [*map(F.col, _ENVELOPE), *_taken_apart(self._converters, key, value)]


class SinkPipeline:
    """From raw records to the rows that a sink task takes; `opened`: values may be opened maps."""

    def __init__(self, chain: Chain, converters: Converters, *, opened: bool = False) -> None:
        self._chain = chain
        self._converters = converters
        self._opened = opened
        self._columns: Remembered[_Decoding] = Remembered()
        self._routes: Remembered[tuple[Branch, frozenset[str] | None]] = Remembered()

    def decoded(self, raw: DataFrame, key: Layout, value: Layout) -> Iterator[Typed]:
        """Typed rows of raw ones, all of these layouts; the job fails at one of another layout.

        They keep the original columns (ORIGINAL) for reports and dead letters.
        """
        plan = self._columns.of((key, value), lambda: self._decoding(key, value))
        frame = raw.select(*plan.decode)
        if plan.this_layout is not None:
            frame = frame.filter(plan.this_layout).drop(_OTHER)
        yield from self.transformed(Typed(frame, key.schema, value.schema))

    def _decoding(self, key: Layout, value: Layout) -> _Decoding:
        keys = self._converters.key.decode(key, F.col("key"))
        values = self._converters.value.decode(value, F.col("value"))
        decode = [
            *map(F.col, _ENVELOPE),
            *(F.col(name).alias(original) for name, original in ORIGINAL.items()),
            *_taken_apart(self._converters, keys, values, no_fault()),
        ]
        if self._converters.uniform:
            return _Decoding(decode)
        other = keys.getField("other") | values.getField("other")
        decode.append(F.coalesce(other, F.lit(False)).alias(_OTHER))
        return _Decoding(decode, of_this_layout(F.col(_OTHER)))

    def transformed(self, typed: Typed) -> Iterator[Typed]:
        """Typed rows after the chain, one frame for each of its branches."""
        schemas = typed.key_schema, typed.value_schema
        for branch in self._chain.compile(*schemas, opened=self._opened):
            yield Typed(
                branch.apply(typed.frame),
                branch.key_schema,
                branch.value_schema,
                clean=typed.clean and not branch.steps,
                branch=branch,
            )

    def topics(self, typed: Typed, read: frozenset[str]) -> frozenset[str] | None:
        """The topics that rows read from `read` may have; None if that depends on the rows."""
        if typed.branch is None or not typed.branch.steps:
            return read
        branch = typed.branch

        def follow() -> tuple[Branch, frozenset[str] | None]:
            return branch, output_topics(typed.frame.sparkSession, [branch], read)

        # The cache also holds the branch, so that no other branch can get its id.
        return self._routes.of((id(branch), read), follow)[1]


@dataclass(frozen=True, slots=True)
class _Decoding:
    """The columns selected from raw rows, and the condition that each row must meet."""

    decode: list[Column]
    this_layout: Column | None = None


def _completed(batch: SourceBatch) -> DataFrame:
    """The batch's frame with all columns of a record in flight."""
    place = (batch.topic, tuple(batch.frame.columns))
    return batch.frame.select(*_completing.of(place, lambda: _complete(*place)))


def _complete(given_topic: str | None, present: tuple[str, ...]) -> list[Column]:
    def column(name: str, kind: str) -> Column:
        return F.col(name).cast(kind) if name in present else F.lit(None).cast(kind)

    topic = F.col("topic") if given_topic is None else F.lit(given_topic)
    key = F.col("key") if "key" in present else F.lit(None).cast("variant")
    return [
        topic.alias("topic"),
        column("partition", "int").alias("partition"),
        F.lit(None).cast("long").alias("offset"),
        column("timestamp", "long").alias("timestamp"),
        column("headers", HEADERS_TYPE).alias("headers"),
        F.lit(None).cast(FAULT_TYPE).alias("fault"),
        key.alias("key"),
        F.col("value"),
    ]


_completing: Final[Remembered[list[Column]]] = Remembered()


def _taken_apart(
    converters: Converters, key: Column, value: Column, earlier: Column | None = None
) -> list[Column]:
    """The data and the error of converted columns as columns; a row keeps its first fault.

    In the same selection: Spark would build a struct for every row before a second one.
    """
    fault = F.coalesce(
        F.col("fault") if earlier is None else earlier,
        fault_of("KEY_CONVERTER", converters.key.class_name(), key.getField("error")),
        fault_of("VALUE_CONVERTER", converters.value.class_name(), value.getField("error")),
    )
    return [
        fault.alias("fault"),
        key.getField("data").alias("key"),
        value.getField("data").alias("value"),
    ]
