"""Makes tasks: the right work for a connector's task class, with everything it needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from penstock.api.connector import Connector, SinkConnector, SourceConnector
from penstock.api.plugin import Plugin, PluginKind
from penstock.api.sink import FrameSinkTask
from penstock.api.source import FrameSourceTask
from penstock.clock import Clock, Deadline
from penstock.config.values import Type, parse_value
from penstock.data.record import TaskId
from penstock.errors import PluginError, StorageError
from penstock.kafka.clients import Admin, TopicSpec
from penstock.kafka.patterns import java_pattern
from penstock.kafka.topics import TopicCreator, topic_rules
from penstock.plan import kafka_io
from penstock.plan.chain import Chain
from penstock.plan.pipeline import Converters, SinkPipeline, SourcePipeline
from penstock.plan.session import SparkEngine
from penstock.plan.shipping import ship_by_value
from penstock.plugins import Plugins
from penstock.runtime.clients import ConnectorClients
from penstock.runtime.conversion import JSON, converters_of, letter_form, with_header_converter
from penstock.runtime.conversion_retry import ConversionRetry
from penstock.runtime.progress import TaskProgress
from penstock.runtime.sink_batches import SinkBatches
from penstock.runtime.sink_work import SinkWork
from penstock.runtime.source_work import SourceWork
from penstock.runtime.task_host import TaskControl, TaskHost, TaskWork
from penstock.runtime.tolerance import ErrorSettings, FaultReports
from penstock.storage.ports import OffsetStore
from penstock.worker_port import TargetState, WorkerEvents

if TYPE_CHECKING:
    import re

    from pyspark.sql import DataFrame


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
        form = letter_form(self.plugins) if errors.shows_records else None
        return SourceWork(
            task,
            task_config,
            make_task=task_class,
            make_pipeline=lambda: SourcePipeline(self.chain(config), self.converters(config), form),
            engine=self.engine,
            offsets=self.offsets,
            topics=topics,
            producer=self.clients.producer(task, config),
            errors=errors,
            reports=FaultReports(errors, task, letters),
            control=control,
            events=events,
            progress=TaskProgress(),
            release=admin.close,
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
        errors = ErrorSettings.parse(config)
        admin = self.clients.admin(task.connector, config)
        task_class = _of_shape(connector.task_class, FrameSinkTask)

        def topic_ids(topics: Collection[str], deadline: Deadline) -> dict[str, str]:
            found = admin.topics(topics, deadline)
            return {name: view.id for name, view in found.items() if view.id is not None}

        def pipeline(converters: Converters) -> SinkPipeline:
            return SinkPipeline(self.chain(config), converters, opened=task_class.takes_opened)

        return SinkWork(
            task,
            task_config,
            make_task=task_class,
            make_consumer=lambda: self.clients.consumer(task, config),
            make_batches=partial(
                SinkBatches,
                task,
                connector.class_name(),
                make_converters=lambda: self.converters(config),
                make_pipeline=pipeline,
                reader=self.clients.reader(task, config),
                errors=errors,
                reports=FaultReports(errors, task, self._dead_letters(task, config, errors, admin)),
                conversions=ConversionRetry(errors, control),
                stopping=lambda: control.stopping,
            ),
            subscription=_subscription(config),
            topic_ids=topic_ids,
            engine=self.engine,
            control=control,
            events=events,
            progress=TaskProgress(),
            release=admin.close,
        )

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
        """The worker's, or JSON's where those would register the schema of a rehearsal."""
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
