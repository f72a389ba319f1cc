"""Runs plans over made-up rows and discards them: a JVM is much faster the second time.

Most is gained by what all plans share (Catalyst and its compiler, Arrow, Kafka's client), so
typical rows with the worker's converters are enough for every connector.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql import functions as F

from penstock.api.source import SourceBatch
from penstock.columns.types import arrow_type
from penstock.kernel.data.schema import (
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Field,
    Schema,
    SchemaType,
    struct_schema,
    timestamp_schema,
)
from penstock.worker.engine.session import REHEARSAL, SparkEngine
from penstock.worker.pipeline.chain import Chain
from penstock.worker.pipeline.inline_records import FetchedRecord, decoded_frames
from penstock.worker.pipeline.kafka_io import KafkaWrite
from penstock.worker.pipeline.pipeline import Converters, SinkPipeline, SourcePipeline

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


log = logging.getLogger(__name__)

_TOPIC: Final = "rehearsal"
#: The first loads and compiles; the second runs what was compiled.
_TIMES: Final = 2

_ROW: Final = struct_schema(
    Field("id", Schema(SchemaType.INT64)),
    Field("name", OPTIONAL_STRING_SCHEMA),
    Field("amount", Schema(SchemaType.FLOAT64, optional=True)),
    Field("changed", timestamp_schema(optional=True)),
)
_ROWS: Final = [{"id": n, "name": f"n{n}", "amount": n / 8, "changed": n} for n in range(10)]


def rehearse(
    engine: SparkEngine, converters: Converters, producer: Mapping[str, str] | None = None
) -> None:
    """Run typical plans until a task uses the engine.

    Args:
        converters: those of a typical connector. They must not write to a registry.
        producer: settings of a Java producer, which connects but gets no record.
    """
    session = engine.session()
    session.sparkContext.setJobGroup(REHEARSAL, REHEARSAL, interruptOnCancel=True)
    for step in _steps(session, converters, producer):
        if engine.used:
            return
        try:
            step()
        except Exception:
            # A task with real work gets the same error, and reports it.
            log.debug("A rehearsal failed", exc_info=True)
            return


def _steps(
    session: SparkSession, converters: Converters, producer: Mapping[str, str] | None
) -> Iterator[Callable[[], None]]:
    yield lambda: _into_nothing(session.range(1))
    names = [row["name"] for row in _ROWS]
    for _ in range(_TIMES):
        yield lambda: _source(session, converters, producer, _ROW, _ROWS)
        yield lambda: _source(session, converters, producer, STRING_SCHEMA, names)
        yield lambda: _sink(session, converters)


def _source(
    session: SparkSession,
    converters: Converters,
    producer: Mapping[str, str] | None,
    schema: Schema,
    values: Sequence[Any],
) -> None:
    rows = session.createDataFrame(pa.table({"value": pa.array(values, arrow_type(schema))}))
    batch = SourceBatch(rows.coalesce(1), _TOPIC, schema)
    encoded = next(SourcePipeline(Chain(), converters).encoded(batch, frozenset({_TOPIC})))
    if producer is None:
        _into_nothing(encoded)
    else:
        KafkaWrite(encoded.filter(F.length("value") < 0), producer).run()


def _sink(session: SparkSession, converters: Converters) -> None:
    text = json.dumps({"schema": {"type": "string", "optional": False}, "payload": "x"}).encode()
    records = [FetchedRecord(_TOPIC, 0, n, n, None, text, None) for n in range(10)]
    pipeline = SinkPipeline(Chain(), converters)
    for typed in decoded_frames(session, records, converters):
        for written in pipeline.transformed(typed):
            _into_nothing(written.frame)


def _into_nothing(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()
