"""A connector's converters and transforms over a few records, with nothing written anywhere."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from penstock.api.connector import Connector, SourceConnector
from penstock.api.sink import OffsetRange
from penstock.api.source import FrameSourceTask, SourceBatch
from penstock.columns.catalyst import words_of
from penstock.kafka.clients.admin import Edge
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TaskId, TopicPartition
from penstock.kernel.errors import BadRequestError, DataError, PenstockError
from penstock.worker.pipeline import inline_records, kafka_io
from penstock.worker.pipeline.faults import translated
from penstock.worker.pipeline.pipeline import Converters, SourcePipeline, Typed
from penstock.worker.pipeline.preview import PLACE, SteppedChain
from penstock.worker.runtime.connector_host import completed_task_configs
from penstock.worker.runtime.conversion import json_form
from penstock.worker.runtime.given_records import GivenRecord

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.kernel.data.schema import Schema
    from penstock.worker.pipeline.preview import Step
    from penstock.worker.runtime.tasks import TaskFactory

log = logging.getLogger(__name__)

MOST_RECORDS: Final = 100
#: The chain is checked with the last record that has a value, among so many last ones.
_MOST_CHECKED: Final = 20


class Previews:
    """Makes previews with the factory of the worker's tasks."""

    def __init__(self, factory: TaskFactory) -> None:
        self._factory = factory

    def preview(
        self,
        connector: type[Connector],
        config: Mapping[str, str],
        records: Sequence[Any] | None,
        limit: int,
        deadline: Deadline,
    ) -> list[dict[str, Any]]:
        """Each record with its steps. Without `records`, the connector's own: at most `limit`.

        Raises:
            BadRequestError: the records can't be parsed, or are too many.
        """
        if not 0 < limit <= MOST_RECORDS or (records and len(records) > MOST_RECORDS):
            raise BadRequestError(f"a preview shows 1 to {MOST_RECORDS} records")
        given = None
        if records is not None:
            given = [GivenRecord.of(each, place) for place, each in enumerate(records)]
        with self._session(config, deadline) as spark:
            if issubclass(connector, SourceConnector):
                return self._source(spark, connector, config, given, limit)
            return self._sink(spark, config, given, limit, deadline)

    def problems(
        self, connector: type[Connector], config: Mapping[str, str], deadline: Deadline
    ) -> Mapping[str, str]:
        """The chain's errors for records that exist now, by the key to change."""
        with self._session(config, deadline) as spark:
            chain = self._factory.chain(config)
            return chain.problems(lambda: self._schemas(spark, connector, config, deadline))

    def _schemas(
        self,
        spark: SparkSession,
        connector: type[Connector],
        config: Mapping[str, str],
        deadline: Deadline,
    ) -> list[tuple[Schema | None, Schema | None]]:
        """Of a source's first batch, or of the last records of a sink's topics."""
        try:
            if issubclass(connector, SourceConnector):
                with self._batches(spark, connector, config) as batches:
                    return [(batch.key_schema, batch.value_schema) for batch in batches]
            found = self._last_records(spark, config, _MOST_CHECKED, deadline)
        except Exception:
            # Other checks report servers that are away, at the latest when the task starts.
            log.debug("No record to check the transforms with", exc_info=True)
            return []
        # A tombstone has no schema.
        records = [record for record in found if record.value is not None][-1:]
        converters = self._factory.converters(config)
        decoded = inline_records.decoded_frames(spark, records, converters)
        return [(typed.key_schema, typed.value_schema) for typed in decoded]

    @contextmanager
    def _session(self, config: Mapping[str, str], deadline: Deadline) -> Iterator[SparkSession]:
        """A session whose jobs end with the deadline."""
        group = f"penstock-preview-{threading.get_ident()}"
        engine = self._factory.engine
        timer = threading.Timer(deadline.remaining(), lambda: engine.cancel(group))
        timer.daemon = True
        timer.start()
        try:
            with engine.guard():
                yield engine.session_for(group, config.get("name", "preview"))
        except PySparkException as error:
            found = translated(error)
            raise (
                found if isinstance(found, PenstockError) else DataError(words_of(error))
            ) from error
        finally:
            timer.cancel()

    # ---------------------------------------------------------------------------------- sources

    def _source(
        self,
        spark: SparkSession,
        connector: type[SourceConnector],
        config: Mapping[str, str],
        given: Sequence[GivenRecord] | None,
        limit: int,
    ) -> list[dict[str, Any]]:
        if given is not None:
            json = json_form(self._factory.plugins).with_schema
            records = [each.in_envelopes() for each in given]
            found = inline_records.decoded_frames(spark, records, Converters(json, json))
            return self._shown([_of_source(typed) for typed in found], config, encode=True)
        with self._batches(spark, connector, config) as batches:
            parts = [
                Typed(
                    SourcePipeline.in_flight(batch).limit(limit),
                    batch.key_schema,
                    batch.value_schema,
                )
                for batch in batches
            ]
            return self._shown(parts, config, encode=True)

    @contextmanager
    def _batches(
        self, spark: SparkSession, connector: type[SourceConnector], config: Mapping[str, str]
    ) -> Iterator[list[SourceBatch]]:
        """The first batch of the connector's first task, read without stored offsets."""
        made = connector()
        context = _Context(spark)
        task = cast("FrameSourceTask", connector.task_class())
        try:
            made.start(config, context)
            configs = completed_task_configs(made, config, "")
            if not configs:
                yield []
                return
            task.start(configs[0], context)
            batch = task.read()
            yield [] if batch is None else [batch]
        finally:
            task.stop()
            made.stop()

    # ------------------------------------------------------------------------------------ sinks

    def _sink(
        self,
        spark: SparkSession,
        config: Mapping[str, str],
        given: Sequence[GivenRecord] | None,
        limit: int,
        deadline: Deadline,
    ) -> list[dict[str, Any]]:
        records = given
        if records is None:
            records = self._last_records(spark, config, limit, deadline)
        converters = self._factory.converters(config)
        parts = inline_records.decoded_frames(spark, records, converters)
        return self._shown(list(parts), config, encode=False)

    def _last_records(
        self, spark: SparkSession, config: Mapping[str, str], limit: int, deadline: Deadline
    ) -> list[GivenRecord]:
        name = config.get("name", "preview")
        admin = self._factory.clients.admin(name, config)
        try:
            topics = self._factory.topics(config, admin.topic_names(deadline))
            partitions = [
                TopicPartition(view.name, number)
                for view in admin.topics(topics, deadline).values()
                for number in range(view.partitions)
            ]
            starts = admin.offsets(partitions, Edge.EARLIEST, deadline)
            ends = admin.offsets(partitions, Edge.LATEST, deadline)
        finally:
            admin.close()
        ranges = _last_ranges(starts, ends, limit)
        if not ranges:
            return []
        reader = self._factory.clients.reader(TaskId(name, 0), config)
        frame = kafka_io.read_ranges(spark, ranges, reader)
        rows = frame.orderBy(F.desc("timestamp"), F.desc("offset")).limit(limit).collect()
        return [GivenRecord.of_row(row) for row in reversed(rows)]

    # ------------------------------------------------------------------------------------- both

    def _shown(
        self, parts: Sequence[Typed], config: Mapping[str, str], *, encode: bool
    ) -> list[dict[str, Any]]:
        chain = self._factory.chain(config)
        stepped = SteppedChain(chain, json_form(self._factory.plugins))
        converters = self._factory.converters(config)
        # Encoding that depends on the topic would register a schema.
        written = encode and not converters.by_topic
        target = SourcePipeline(chain, converters) if written else None
        shown: list[dict[str, Any]] = []
        for part in parts:
            frame = part.frame.coalesce(1).withColumn(PLACE, F.monotonically_increasing_id())
            frame = frame.persist()
            try:
                typed = Typed(frame, part.key_schema, part.value_schema)
                shown += _by_record(list(stepped.steps(typed, target)))
            finally:
                frame.unpersist()
        return shown


def _by_record(steps: Sequence[Step]) -> list[dict[str, Any]]:
    places = sorted({*steps[0].records, *steps[0].errors})
    return [{"steps": list(_steps_of(place, steps))} for place in places]


def _steps_of(place: int, steps: Sequence[Step]) -> Iterator[dict[str, Any]]:
    for step in steps:
        shown: dict[str, Any] = {"step": step.name, "class": step.plugin}
        if place in step.errors:
            yield {**shown, "error": dict(step.errors[place])}
            return
        records = list(step.records.get(place, ()))
        yield {**shown, "records": records}
        if not records:
            return


class _Context:
    """The context of a connector and its task: no stored offsets, and nothing is reported."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.stopping = False
        self.stores_parts = False

    def offset(self, partition: Mapping[str, Any]) -> None:
        del partition

    def show(self, name: str, figure: int) -> None:
        del name, figure

    def request_task_reconfiguration(self) -> None:
        return

    def raise_error(self, error: Exception) -> None:
        raise error


def _of_source(typed: Typed) -> Typed:
    frame = typed.frame.withColumn("offset", F.lit(None).cast("long"))
    return Typed(frame, typed.key_schema, typed.value_schema)


def _last_ranges(
    starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int], limit: int
) -> list[OffsetRange]:
    ranges = [OffsetRange(each, max(starts[each], end - limit), end) for each, end in ends.items()]
    return [each for each in ranges if each.end > each.start]
