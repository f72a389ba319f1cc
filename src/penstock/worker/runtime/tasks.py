"""Makes tasks: the right work for a connector's task class, with everything it needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from penstock.api.connector import Connector, SinkConnector, SourceConnector
from penstock.api.plugin import Plugin, PluginKind
from penstock.api.sink import FrameSinkTask
from penstock.api.source import FrameSourceTask
from penstock.kafka.clients import Admin, TopicSpec
from penstock.kafka.topic_patterns import java_pattern
from penstock.kafka.topics import TopicCreator, topic_rules
from penstock.kernel.clock import Clock, Deadline
from penstock.kernel.config.values import Type, parse_value
from penstock.kernel.data.record import TaskId, TopicPartition
from penstock.kernel.errors import PluginError, StorageError
from penstock.plugins import Plugins
from penstock.worker.engine.session import SparkEngine
from penstock.worker.engine.shipping import ship_by_value
from penstock.worker.interface import TargetState, WorkerEvents
from penstock.worker.pipeline import kafka_io
from penstock.worker.pipeline.chain import Chain
from penstock.worker.pipeline.pipeline import Converters, SinkPipeline, SourcePipeline
from penstock.worker.runtime.clients import ConnectorClients
from penstock.worker.runtime.conversion import (
    JSON,
    converters_of,
    json_form,
    with_header_converter,
)
from penstock.worker.runtime.conversion_retry import ConversionRetry
from penstock.worker.runtime.sink.batches import SinkBatches
from penstock.worker.runtime.sink.decode import Decoder
from penstock.worker.runtime.sink.dependencies import MakeBatches, SinkParts
from penstock.worker.runtime.sink.loop import SinkWork
from penstock.worker.runtime.sink.write import Writer
from penstock.worker.runtime.source.loop import SourceParts, SourceWork
from penstock.worker.runtime.task_host import TaskControl, TaskHost, TaskWork
from penstock.worker.runtime.tolerance import ErrorSettings, FaultReports
from penstock.worker.storage.interfaces import OffsetStore

if TYPE_CHECKING:
    import re

    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFactory:
    """Builds the hosts of tasks."""

    worker_properties: Mapping[str, str]
    plugins: Plugins
    engine: SparkEngine
    offsets: OffsetStore
    clients: ConnectorClients
    clock: Clock
    create_topics: bool
    shutdown_seconds: float

    def host(
        self,
        task: TaskId,
        connector: type[Connector],
        config: Mapping[str, str],
        task_config: Mapping[str, str],
        target: TargetState,
        events: WorkerEvents,
    ) -> TaskHost:
        ship_by_value(self.plugins.local_modules)
        control = TaskControl(target, self.clock)
        if issubclass(connector, SourceConnector):
            work: TaskWork = self._source(task, connector, config, task_config, control, events)
        else:
            sink = cast("type[SinkConnector]", connector)
            work = self._sink(task, sink, config, task_config, control, events)
        return TaskHost(
            task,
            work,
            control,
            events,
            shutdown_seconds=self.shutdown_seconds,
            guard=self.engine.guard,
        )

    def _source(
        self,
        task: TaskId,
        connector: type[SourceConnector],
        config: Mapping[str, str],
        task_config: Mapping[str, str],
        control: TaskControl,
        events: WorkerEvents,
    ) -> SourceWork:
        task_class = _of_shape(connector.task_class, FrameSourceTask)
        rules = topic_rules(config) if self.create_topics else None
        admin = self.clients.admin(task.connector, config)
        topics = NoTopics() if rules is None else TopicCreator(admin, rules)
        errors = ErrorSettings.parse(config)
        letters = self._dead_letters(task, config, errors, admin)
        form = json_form(self.plugins) if errors.shows_records else None
        parts = SourceParts(
            make_task=task_class,
            make_pipeline=lambda: SourcePipeline(self.chain(config), self.converters(config), form),
            topics=topics,
            producer=self.clients.producer(task, config),
            errors=errors,
            reports=FaultReports(errors, task, letters),
            release=admin.close,
        )
        return SourceWork(
            task,
            task_config,
            parts,
            offsets=self.offsets,
            engine=self.engine,
            control=control,
            events=events,
        )

    def _sink(
        self,
        task: TaskId,
        connector: type[SinkConnector],
        config: Mapping[str, str],
        task_config: Mapping[str, str],
        control: TaskControl,
        events: WorkerEvents,
    ) -> SinkWork:
        admin = self.clients.admin(task.connector, config)

        def topic_ids(topics: Collection[str], deadline: Deadline) -> dict[str, str]:
            found = admin.topics(topics, deadline)
            return {name: view.id for name, view in found.items() if view.id is not None}

        parts = SinkParts(
            make_task=_of_shape(connector.task_class, FrameSinkTask),
            make_consumer=lambda: self.clients.consumer(task, config),
            make_batches=self._batches(task, connector.class_name(), config, control, admin),
            subscription=_subscription(config),
            topic_ids=topic_ids,
            release=admin.close,
        )
        return SinkWork(
            task, task_config, parts, engine=self.engine, control=control, events=events
        )

    def _batches(
        self,
        task_id: TaskId,
        connector: str,
        config: Mapping[str, str],
        control: TaskControl,
        admin: Admin,
    ) -> MakeBatches:
        """Makes the stages that a sink's records go through."""
        errors = ErrorSettings.parse(config)
        reports = FaultReports(errors, task_id, self._dead_letters(task_id, config, errors, admin))

        def make(
            task: FrameSinkTask,
            spark: Callable[[], SparkSession],
            ends: Callable[[Collection[TopicPartition]], Mapping[TopicPartition, int]],
        ) -> SinkBatches:
            traits = task.traits
            decoder = Decoder(
                spark,
                make_converters=lambda: self.converters(config),
                make_pipeline=lambda converters: SinkPipeline(
                    self.chain(config), converters, opened=traits.opened_maps
                ),
                reader=self.clients.reader(task_id, config),
                conversions=ConversionRetry(errors, control),
                pieces=traits.pieces_per_core,
            )
            writer = Writer(
                connector, task, decoder, errors, reports, stopping=lambda: control.stopping
            )
            return SinkBatches(task_id, decoder, writer, ends, one_topic=traits.one_topic)

        return make

    def _dead_letters(
        self, task: TaskId, config: Mapping[str, str], errors: ErrorSettings, admin: Admin
    ) -> KafkaDeadLetters | None:
        keys = errors.letters
        if not keys.dlq_topic:
            return None
        spec = TopicSpec(keys.dlq_topic, 1, keys.dlq_replication_factor)
        return KafkaDeadLetters(spec, admin, self.clients.producer(task, config))

    def chain(self, config: Mapping[str, str]) -> Chain:
        def load(name: str, kind: PluginKind) -> type[Plugin]:
            found = self.plugins.load_named(name, kind)
            ship_by_value(self.plugins.local_modules)
            return found

        return Chain.of(with_header_converter(config, self.worker_properties), load)

    def converters(self, config: Mapping[str, str]) -> Converters:
        return converters_of(config, self.worker_properties, self.plugins)

    def typical_converters(self) -> Converters:
        """The worker's converters, or JSON's if those would register a rehearsal's schema."""
        own = self.converters({})
        json = {"key.converter": JSON, "value.converter": JSON}
        return self.converters(json) if own.by_topic else own

    def topics(self, config: Mapping[str, str], existing: Collection[str]) -> list[str]:
        """Those of a sink's topics that exist."""
        wanted = _subscription(config)
        if isinstance(wanted, list):
            return [name for name in wanted if name in existing]
        return [name for name in sorted(existing) if wanted.fullmatch(name)]


class NoTopics:
    """Leaves the creation of topics to the broker."""

    def ensure(self, topics: set[str], deadline: Deadline) -> None:
        del topics, deadline


class KafkaDeadLetters:
    """A dead letter topic in Kafka, created when its task starts, as Connect does."""

    def __init__(self, spec: TopicSpec, admin: Admin, producer: Mapping[str, str]) -> None:
        self._spec = spec
        self._admin = admin
        self._producer = producer

    def prepare(self) -> None:
        spec, deadline = self._spec, Deadline.after(60)
        if spec.name in self._admin.topics([spec.name], deadline):
            return
        try:
            self._admin.create_topic(spec, deadline)
        except StorageError as error:
            raise StorageError(
                f"The dead letter topic can't be created with {spec.replication_factor} copies"
                f" (errors.deadletterqueue.topic.replication.factor): {error}"
            ) from error

    def write(self, frame: DataFrame) -> int:
        return kafka_io.write(frame, self._producer)


def _of_shape(task_class: type[Any], shape: type[Any]) -> type[Any]:
    if not issubclass(task_class, shape):
        raise PluginError(f"{task_class.__qualname__} must be a {shape.__name__}")
    return task_class


def _subscription(config: Mapping[str, str]) -> list[str] | re.Pattern[str]:
    pattern = config.get("topics.regex")
    if pattern:
        return java_pattern(pattern, "topics.regex")
    topics: list[str] = parse_value("topics", config.get("topics", ""), Type.LIST)
    return topics
