"""The worker: starts and stops connectors and tasks on this machine for the herder."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, cast

from penstock.api.connector import Connector, SinkConnector, SourceConnector
from penstock.api.plugin import PluginKind
from penstock.kernel.clock import Deadline
from penstock.kernel.config.providers import Resolver
from penstock.kernel.config.unknown import in_plain_words
from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import NotFoundError
from penstock.machine.pyspark_import import import_pyspark
from penstock.plugins import CONNECTORS, Plugins
from penstock.worker.interface import PartitionOffset, TargetState, WorkerEvents
from penstock.worker.runtime.connector_host import ConnectorHost, completed_task_configs
from penstock.worker.runtime.offset_changes import SinkOffsets, SourceOffsets
from penstock.worker.runtime.task_host import TaskHost, stop_all
from penstock.worker.storage.interfaces import OffsetStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.worker.runtime.clients import ConnectorClients
    from penstock.worker.runtime.preview import Previews
    from penstock.worker.runtime.tasks import TaskFactory

log = logging.getLogger(__name__)

CHECK_SECONDS: Final = 60.0


class LocalWorker:
    """Satisfies interface.Worker. Every method may be called from any thread.

    Args:
        tasks: makes the task factory when the first task needs it: that imports Spark, which
            would delay the REST API.
        guard: raises SessionLostError for whatever fails because Spark's JVM died.
        obstacle: what all Spark jobs wait for; None if nothing.
    """

    def __init__(
        self,
        *,
        plugins: Plugins,
        resolver: Resolver,
        offsets: OffsetStore,
        clients: ConnectorClients,
        tasks: Callable[[], TaskFactory],
        guard: Callable[[], AbstractContextManager[None]],
        obstacle: Callable[[], str | None],
        events: WorkerEvents,
    ) -> None:
        self._plugins = plugins
        self._resolver = resolver
        self._offsets = offsets
        self._clients = clients
        self._make_factory = tasks
        self._factory: TaskFactory | None = None
        self._guard = guard
        self._obstacle = obstacle
        self._factory_lock = threading.Lock()
        self._events = events
        self._lock = threading.Lock()
        self._connectors: dict[str, ConnectorHost] = {}
        self._tasks: dict[TaskId, TaskHost] = {}

    # ------------------------------------------------------------------------------ connectors

    def connector_version(self, config: Mapping[str, str]) -> str | None:
        return self._connector_class(config).version

    def start_connector(self, name: str, config: Mapping[str, str], target: TargetState) -> None:
        resolved = self._resolver.resolve(config)
        host = ConnectorHost(
            name,
            resolved,
            make=lambda: self._connector_class(resolved)(),
            configs=lambda connector: self._task_configs(connector, config, resolved),
            session=lambda: self._session(name),
            guard=self._guard,
            events=self._events,
        )
        with self._lock:
            self._connectors[name] = host
        host.start(target)

    def stop_connector(self, name: str, deadline: Deadline) -> None:
        with self._lock:
            host = self._connectors.pop(name, None)
        if host is not None:
            host.stop(deadline)

    def set_target_state(self, name: str, target: TargetState) -> None:
        with self._lock:
            host = self._connectors.get(name)
            tasks = [task for task in self._tasks.values() if task.task.connector == name]
        if host is not None:
            host.set_target(target)
        for task in tasks:
            task.set_target(target)

    def request_task_configs(self, name: str) -> None:
        with self._lock:
            host = self._connectors.get(name)
        if host is not None:
            host.make_task_configs()

    def running_connectors(self) -> frozenset[str]:
        with self._lock:
            return frozenset(self._connectors)

    # ----------------------------------------------------------------------------------- tasks

    def start_task(
        self,
        task: TaskId,
        connector_config: Mapping[str, str],
        task_config: Mapping[str, str],
        target: TargetState,
    ) -> None:
        host = self.task_factory().host(
            task,
            self._connector_class(connector_config),
            self._resolver.resolve(connector_config),
            self._resolver.resolve(task_config),
            target,
            self._events,
        )
        with self._lock:
            self._tasks[task] = host
        host.start()

    def stop_tasks(self, tasks: Sequence[TaskId], deadline: Deadline) -> None:
        with self._lock:
            hosts = [self._tasks.pop(task) for task in tasks if task in self._tasks]
        stop_all(hosts, deadline)

    def running_tasks(self) -> frozenset[TaskId]:
        with self._lock:
            return frozenset(self._tasks)

    # --------------------------------------------------------------------------------- offsets

    def offsets(
        self, name: str, config: Mapping[str, str], kind: PluginKind, deadline: Deadline
    ) -> list[PartitionOffset]:
        resolved = self._resolver.resolve(config)
        if kind is PluginKind.SOURCE:
            return SourceOffsets(name, resolved, self._offsets).all(deadline)
        return self._sink_offsets(name, resolved).all(deadline)

    def alter_offsets(
        self,
        name: str,
        config: Mapping[str, str],
        kind: PluginKind,
        offsets: Sequence[PartitionOffset] | None,
        deadline: Deadline,
    ) -> str:
        resolved = self._resolver.resolve(config)
        connector = self._connector_class(resolved)()
        if kind is PluginKind.SOURCE:
            source = SourceOffsets(name, resolved, self._offsets)
            source_connector = cast("SourceConnector", connector)
            if offsets is None:
                return source.reset(source_connector, deadline)
            return source.alter(source_connector, offsets, deadline)
        sink = self._sink_offsets(name, resolved)
        sink_connector = cast("SinkConnector", connector)
        if offsets is None:
            return sink.reset(sink_connector, deadline)
        return sink.alter(sink_connector, offsets, deadline)

    # -------------------------------------------------------------------------------- previews

    def preview(
        self,
        config: Mapping[str, str],
        records: Sequence[Any] | None,
        limit: int,
        deadline: Deadline,
    ) -> list[dict[str, Any]]:
        resolved = self._resolver.resolve(config)
        connector = self._connector_class(resolved)
        return self._previews().preview(connector, resolved, records, limit, deadline)

    def chain_problems(self, config: Mapping[str, str]) -> Mapping[str, str]:
        resolved = self._resolver.resolve(config)
        deadline = Deadline.after(CHECK_SECONDS)
        return self._previews().problems(self._connector_class(resolved), resolved, deadline)

    def outside_problems(self, resolved: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
        connector = self._connector_class(resolved)
        if connector.examine is Connector.examine:
            return {}
        return connector().examine(resolved, self._session(resolved.get("name", "")))

    def _previews(self) -> Previews:
        from penstock.worker.runtime.preview import Previews

        return Previews(self.task_factory())

    def obstacle(self) -> str | None:
        return self._obstacle()

    def show_obstacle(self) -> None:
        """Show in the statuses of all tasks what they wait for, if anything."""
        obstacle = self._obstacle()
        with self._lock:
            hosts = list(self._tasks.values())
        for host in hosts:
            host.show_wait(obstacle)

    def close(self, deadline: Deadline) -> None:
        self.stop_tasks(list(self.running_tasks()), deadline)
        for name in self.running_connectors():
            self.stop_connector(name, deadline)

    def _sink_offsets(self, name: str, config: Mapping[str, str]) -> SinkOffsets:
        group = self._clients.group_id(name, config)
        return SinkOffsets(config, group, lambda: self._clients.admin(name, config))

    def _session(self, connector: str) -> SparkSession:
        return self.task_factory().engine.session_for(f"penstock-{connector}", connector)

    def task_factory(self) -> TaskFactory:
        """The task factory, made on the first call: that imports Spark."""
        with self._factory_lock:
            if self._factory is None:
                import_pyspark()
                self._factory = self._make_factory()
            return self._factory

    def _connector_class(self, config: Mapping[str, str]) -> type[Connector]:
        try:
            info = self._plugins.connector(config.get("connector.class", ""))
        except NotFoundError as error:
            raise NotFoundError(in_plain_words(str(error))) from None
        return cast("type[Connector]", self._plugins.load_named(info.name, *CONNECTORS))

    def _task_configs(
        self, connector: Connector, config: Mapping[str, str], resolved: Mapping[str, str]
    ) -> list[dict[str, str]]:
        """Task configs with the connector's references to secrets put back in.

        They are stored and shown, so they must have the references, never the secrets.
        """
        task_class = cast("SourceConnector | SinkConnector", connector).task_class
        name = getattr(task_class, "java_name", None) or (
            f"{task_class.__module__}.{task_class.__qualname__}"
        )
        made = completed_task_configs(connector, resolved, name)
        return [_with_references(each, config, resolved) for each in made]


def _with_references(
    task: Mapping[str, str], config: Mapping[str, str], resolved: Mapping[str, str]
) -> dict[str, str]:
    return {
        key: config[key]
        if key in config and resolved.get(key) == value and config[key] != value
        else value
        for key, value in task.items()
    }
