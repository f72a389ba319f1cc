"""The herder of one worker, in either mode: with topics behind its stores, or a file and memory.

A worker group plugs in at three places: Identity.generation, who may write (here: always we), and
forwarding to who may (here: nobody else).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import (
    DeadlineExceededError,
    ForbiddenError,
)
from penstock.kernel.wire.models import (
    ActiveTopics,
    ConnectorInfo,
    ConnectorOffsets,
    ConnectorStatus,
    Created,
    Health,
    LoggerLevel,
    LogPage,
    ServerInfo,
    StateInfo,
    TaskInfo,
)
from penstock.plugins import KAFKA_VERSION
from penstock.worker.herder.command_thread import CommandThread
from penstock.worker.herder.conductor import Conductor
from penstock.worker.herder.dependencies import HerderOptions, HerderParts
from penstock.worker.herder.health import HealthCheck
from penstock.worker.herder.interface import ConfigMap
from penstock.worker.herder.lanes import Lanes
from penstock.worker.herder.loggers import ROOT, Loggers
from penstock.worker.herder.offset_requests import OffsetRequests
from penstock.worker.herder.plugin_requests import PluginRequests
from penstock.worker.herder.secrets import Secrets
from penstock.worker.herder.start_up import READING_STORES, StartUp
from penstock.worker.herder.status_writer import Records
from penstock.worker.herder.views import Views
from penstock.worker.herder.writes import Writes
from penstock.worker.interface import TargetState
from penstock.worker.storage.interfaces import RestartRequest

log = logging.getLogger(__name__)

_GIVE_UP_SECONDS: Final = 1.0
#: For the last states, even if the tasks took all the time there was.
_STORE_SECONDS: Final = 5.0


class LocalHerder:
    """See Herder for the verbs. start() returns at once; close() takes everything down."""

    def __init__(
        self,
        parts: HerderParts,
        options: HerderOptions = HerderOptions(),  # noqa: B008 - frozen
        on_fatal: Callable[[Exception], None] = lambda error: None,  # noqa: ARG005
    ) -> None:
        worker, stores, clock = parts.worker, parts.stores, parts.clock
        self._parts, self._options, self._on_fatal = parts, options, on_fatal
        self._worker, self._stores, self._clock = worker, stores, clock
        self._cluster_id: str | None = None
        self._ready, self._stopping = threading.Event(), threading.Event()
        self._loggers = Loggers(clock)
        self._secrets = secrets = Secrets(parts.plugins, clock)
        self._thread = thread = CommandThread(clock)
        lanes = Lanes()
        self._start_up = StartUp(thread, lanes, clock, self._stopping)
        self._health = HealthCheck(thread, parts.cluster_id, worker.obstacle, clock)
        self._views = views = Views(
            stores.configs, stores.statuses, parts.plugins, secrets, parts.validation.unknown_keys
        )
        records = Records(stores.statuses, parts.identity, clock, worker.connector_version)
        self._conductor = Conductor(
            thread=thread,
            lanes=lanes,
            worker=worker,
            configs=stores.configs,
            records=records,
            clock=clock,
            stop_seconds=options.graceful_stop_seconds,
            track_topics=options.track_topics,
        )
        self._writes = Writes(
            thread=thread,
            conductor=self._conductor,
            configs=stores.configs,
            statuses=stores.statuses,
            records=records,
            views=views,
            secrets=secrets,
            validation=parts.validation,
        )
        self._offsets = OffsetRequests(thread=thread, lanes=lanes, views=views, worker=worker)
        self._plugin_requests = PluginRequests(
            parts.plugins, parts.validation, self._writes, secrets, worker
        )

    # ------------------------------------------------------------------------------ life cycle

    @property
    def ready(self) -> bool:
        """Whether the stores are read and requests are answered."""
        return self._ready.is_set()

    def start(self) -> None:
        """Begin reading the stores, in the background; requests wait until that is done."""
        self._thread.post(READING_STORES, self._start)
        self._thread.start()

    def close(self, deadline: Deadline, *, kafka_ended: bool = False) -> None:
        """Stop all tasks and connectors, say so in the statuses, close the stores.

        `kafka_ended`: it will not come back, so the last states can't be stored.
        """
        self._stopping.set()
        if self._ready.is_set():
            self._stop_all(deadline)
            self._thread.stop(deadline)
        else:
            # It waits for its broker, perhaps for long, and has nothing to bring to an end.
            self._thread.stop(Deadline.after(_GIVE_UP_SECONDS, self._clock))
        if self._ready.is_set():
            seconds = max(deadline.remaining(), _STORE_SECONDS)
            self._store_last_states(_GIVE_UP_SECONDS if kafka_ended else seconds)
        for store in (self._stores.configs, self._stores.statuses, self._stores.offsets):
            store.close()
        self._loggers.take_back(ROOT)

    def _start(self) -> None:
        stores = self._stores
        try:
            self._cluster_id = self._start_up.cluster_id(self._parts.cluster_id)
            self._start_up.start(stores)
        except Exception as error:  # noqa: BLE001 - handed to whoever runs the worker
            if not self._stopping.is_set():
                self._on_fatal(error)
            return
        if self._stopping.is_set():
            return
        self._parts.reports.deliver_to(self._conductor)
        stores.configs.subscribe(
            lambda: self._thread.post("applying config changes", self._conductor.reconcile)
        )
        self._conductor.reconcile()
        self._ready.set()
        log.info("The herder has started")

    def _stop_all(self, deadline: Deadline) -> None:
        self._thread.call("shutting down", self._conductor.close, deadline)
        graceful = Deadline.after(
            min(self._options.graceful_stop_seconds, deadline.remaining()), self._clock
        )
        tasks = self._conductor.running_tasks
        connectors = len({task.connector for task in tasks})
        log.info("Stopping %d tasks of %d connectors", len(tasks), connectors)
        self._worker.stop_tasks(tasks, graceful)
        self._worker.close(deadline)
        # Reports of what just stopped are in the queue before this, so they count.
        self._thread.call("shutting down", self._conductor.sign_off, deadline)

    def _store_last_states(self, seconds: float) -> None:
        log.info("Storing the last states")
        try:
            self._stores.statuses.flush(Deadline.after(seconds, self._clock))
        except DeadlineExceededError as error:
            log.warning("Last statuses are not stored: %s", error)

    def _await(self, deadline: Deadline) -> None:
        if not self._ready.wait(deadline.remaining()):
            raise self._thread.timed_out()

    # ------------------------------------------------------------------------------------ worker

    def server_info(self) -> ServerInfo:
        return ServerInfo(KAFKA_VERSION, self._options.commit, self._cluster_id)

    def health(self, deadline: Deadline) -> Health:
        if not self._ready.is_set():
            return self._health.starting(deadline, knows_kafka=self._cluster_id is not None)
        return self._health.started(deadline)

    # ------------------------------------------------------------------------------------- reads

    def connectors(self, deadline: Deadline) -> list[str]:
        self._await(deadline)
        return self._views.names()

    def expanded(
        self, expansions: Collection[str], deadline: Deadline, *, clear: bool = False
    ) -> bytes:
        self._await(deadline)
        return self._views.expanded(expansions, clear=clear)

    def connector_info(
        self, name: str, deadline: Deadline, *, clear: bool = False
    ) -> ConnectorInfo:
        self._await(deadline)
        return self._views.info(name, clear=clear)

    def connector_config(
        self, name: str, deadline: Deadline, *, clear: bool = False
    ) -> Mapping[str, str]:
        self._await(deadline)
        return self._views.config(name, clear=clear)

    def secrets_salt(self) -> str:
        return self._secrets.salt

    def same_secrets(
        self, salt: str, digests: Mapping[str, Mapping[str, str]], deadline: Deadline
    ) -> dict[str, dict[str, bool]]:
        self._await(deadline)
        stored = {name: self._views.stored_config(name) or {} for name in digests}
        return {
            name: self._secrets.same(name, salt, given, stored[name])
            for name, given in digests.items()
        }

    def connector_status(self, name: str, deadline: Deadline) -> ConnectorStatus:
        self._await(deadline)
        return self._views.status(name)

    def tasks(self, name: str, deadline: Deadline, *, clear: bool = False) -> list[TaskInfo]:
        self._await(deadline)
        return self._views.tasks(name, clear=clear)

    def task_status(self, name: str, task: int, deadline: Deadline) -> StateInfo:
        self._await(deadline)
        return self._views.task_status(TaskId(name, task))

    # ------------------------------------------------------------------------------------ writes

    def create_connector(
        self,
        name: str,
        config: ConfigMap,
        target: str | None,
        deadline: Deadline,
        *,
        clear: bool = False,
        like: str | None = None,
    ) -> ConnectorInfo:
        self._await(deadline)
        return self._writes.create(name, config, target, deadline, clear=clear, like=like)

    def put_connector_config(
        self, name: str, config: ConfigMap, deadline: Deadline, *, clear: bool = False
    ) -> Created:
        self._await(deadline)
        return self._writes.put(name, config, deadline, clear=clear)

    def patch_connector_config(
        self, name: str, patch: ConfigMap, deadline: Deadline, *, clear: bool = False
    ) -> ConnectorInfo:
        self._await(deadline)
        return self._writes.patch(name, patch, deadline, clear=clear)

    def delete_connector(self, name: str, deadline: Deadline) -> None:
        self._await(deadline)
        self._writes.delete(name, deadline)

    def pause_connector(self, name: str, deadline: Deadline) -> None:
        self._await(deadline)
        self._writes.set_target(name, TargetState.PAUSED, deadline)

    def resume_connector(self, name: str, deadline: Deadline) -> None:
        self._await(deadline)
        self._writes.set_target(name, TargetState.STARTED, deadline)

    def stop_connector(self, name: str, deadline: Deadline) -> None:
        self._await(deadline)
        self._writes.set_target(name, TargetState.STOPPED, deadline)

    def restart_connector(self, name: str, deadline: Deadline) -> None:
        self._await(deadline)
        self._writes.restart(name, deadline)

    def restart_connector_and_tasks(
        self, name: str, *, include_tasks: bool, only_failed: bool, deadline: Deadline
    ) -> ConnectorStatus:
        self._await(deadline)
        return self._writes.restart_all(RestartRequest(name, include_tasks, only_failed), deadline)

    def restart_task(self, name: str, task: int, deadline: Deadline) -> None:
        self._await(deadline)
        self._writes.restart_task(TaskId(name, task), deadline)

    # ------------------------------------------------------------------------ topics and offsets

    def active_topics(self, name: str, deadline: Deadline) -> ActiveTopics:
        self._must_track()
        self._await(deadline)
        return self._views.topics(name)

    def reset_active_topics(self, name: str, deadline: Deadline) -> None:
        self._must_track()
        if not self._options.allow_topic_reset:
            raise ForbiddenError("Topic tracking reset is disabled.")
        self._await(deadline)
        self._thread.call(
            f"resetting the topics of connector {name}",
            lambda: self._stores.statuses.remove_topics(name),
            deadline,
        )

    def offsets(self, name: str, deadline: Deadline) -> ConnectorOffsets:
        self._await(deadline)
        return self._offsets.get(name, deadline)

    def alter_offsets(self, name: str, offsets: ConnectorOffsets, deadline: Deadline) -> str:
        self._await(deadline)
        return self._offsets.alter(name, offsets, deadline)

    def reset_offsets(self, name: str, deadline: Deadline) -> str:
        self._await(deadline)
        return self._offsets.reset(name, deadline)

    def _must_track(self) -> None:
        if not self._options.track_topics:
            raise ForbiddenError("Topic tracking is disabled.")

    # ----------------------------------------------------------------------- plugins and loggers

    def plugins(self, *, connectors_only: bool) -> Sequence[Mapping[str, str]]:
        return self._plugin_requests.listed(connectors_only=connectors_only)

    def broken_plugins(self) -> Sequence[Mapping[str, str]]:
        return self._plugin_requests.broken()

    def plugin_config(
        self, name: str, version: str | None, deadline: Deadline
    ) -> list[dict[str, Any]]:
        return self._plugin_requests.keys(name, version, deadline)

    def validate(self, plugin: str, config: ConfigMap, deadline: Deadline) -> dict[str, Any]:
        return self._plugin_requests.validate(plugin, config, self._stored(config), deadline)

    def preview(
        self,
        plugin: str,
        config: ConfigMap,
        records: Sequence[Any] | None,
        limit: int,
        deadline: Deadline,
    ) -> list[dict[str, Any]]:
        stored = self._stored(config)
        return self._plugin_requests.preview(plugin, config, stored, records, limit, deadline)

    def _stored(self, config: ConfigMap) -> Mapping[str, str] | None:
        """What is stored of the connector that the config names, as far as that is known yet."""
        return self._views.stored_config(config.get("name") or "") if self.ready else None

    def logs(
        self,
        name: str,
        *,
        limit: int,
        after: str | None,
        since_ms: int,
        level: str,
        deadline: Deadline,
    ) -> LogPage:
        self._await(deadline)
        self._views.entry(name)
        return self._parts.logs.read(name, limit=limit, after=after, since_ms=since_ms, level=level)

    def loggers(self) -> Mapping[str, LoggerLevel]:
        return self._loggers.all()

    def logger(self, name: str) -> LoggerLevel:
        return self._loggers.one(name)

    def set_logger(self, name: str, level: str) -> list[str]:
        return self._loggers.set(name, level)

    def take_back_logger(self, name: str) -> list[str]:
        return self._loggers.take_back(name)

    def set_cluster_logger(self, name: str, level: str, deadline: Deadline) -> None:
        self._loggers.check(level)
        self._await(deadline)

        def store() -> None:
            self._stores.configs.put_logger(name, level.upper(), deadline)
            self._loggers.set(name, level)

        self._thread.call(f"writing the level of logger {name}", store, deadline)
