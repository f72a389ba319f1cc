"""The herder of one worker, in either mode: with topics behind its stores, or a file and memory.

A worker group plugs in at three places: Identity.generation, who may write (here: always we), and
forwarding to who may (here: nobody else).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, wait
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from penstock.clock import Clock, Deadline
from penstock.data.record import TaskId
from penstock.errors import (
    BadRequestError,
    DeadlineExceededError,
    ForbiddenError,
    PenstockError,
    PluginError,
    RetriableError,
    StorageError,
)
from penstock.herder.commands import CommandThread
from penstock.herder.conductor import Conductor
from penstock.herder.herder import ConfigMap
from penstock.herder.lanes import Lanes, within
from penstock.herder.loggers import ROOT, Loggers
from penstock.herder.offsets import OffsetRequests
from penstock.herder.records import Identity, Records
from penstock.herder.reports import WorkerReports
from penstock.herder.secrets import Secrets
from penstock.herder.validation import check_request
from penstock.herder.views import Views
from penstock.herder.writes import Validation, Writes
from penstock.logs import ConnectorLogs
from penstock.plugins import CONNECTORS, KAFKA_VERSION, Plugins, rest_list
from penstock.storage.ports import RestartRequest
from penstock.storage.stores import Stores
from penstock.wire.models import (
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
from penstock.worker_port import TargetState, Worker

log = logging.getLogger(__name__)

_ATTEMPT_SECONDS: Final = 30.0
_BETWEEN_ATTEMPTS_SECONDS: Final = 1.0
_GIVE_UP_SECONDS: Final = 1.0
_BROKER_SECONDS: Final = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HerderOptions:
    """What the worker's settings say to the herder."""

    graceful_stop_seconds: float = 5.0
    track_topics: bool = True
    allow_topic_reset: bool = True
    commit: str = "penstock"


class LocalHerder:
    """See Herder for the verbs. start() returns at once; close() takes everything down."""

    def __init__(
        self,
        *,
        worker: Worker,
        reports: WorkerReports,
        stores: Stores,
        plugins: Plugins,
        validation: Validation,
        identity: Identity,
        cluster_id: Callable[[Deadline], str | None],
        clock: Clock,
        options: HerderOptions = HerderOptions(),  # noqa: B008 - frozen
        on_fatal: Callable[[Exception], None] = lambda error: None,  # noqa: ARG005
        logs: ConnectorLogs | None = None,
    ) -> None:
        self._worker, self._reports, self._stores = worker, reports, stores
        self._plugins, self._validation, self._clock = plugins, validation, clock
        self._options, self._on_fatal = options, on_fatal
        self._read_cluster_id, self._cluster_id = cluster_id, None
        self._ready, self._stopping = threading.Event(), threading.Event()
        self._loggers = Loggers(clock)
        self._logs = logs or ConnectorLogs()
        self._secrets = secrets = Secrets(plugins, clock)
        self._thread = CommandThread(clock)
        self._lanes = Lanes()
        self._views = Views(
            stores.configs, stores.statuses, plugins, secrets, validation.unknown_keys
        )
        records = Records(stores.statuses, identity, clock, worker.connector_version)
        self._conductor = Conductor(
            thread=self._thread,
            lanes=self._lanes,
            worker=worker,
            configs=stores.configs,
            records=records,
            clock=clock,
            stop_seconds=options.graceful_stop_seconds,
            track_topics=options.track_topics,
        )
        self._writes = Writes(
            thread=self._thread,
            conductor=self._conductor,
            configs=stores.configs,
            statuses=stores.statuses,
            records=records,
            views=self._views,
            secrets=secrets,
            validation=validation,
        )
        self._offsets = OffsetRequests(
            thread=self._thread, lanes=self._lanes, views=self._views, worker=worker
        )

    # ------------------------------------------------------------------------------ life cycle

    @property
    def ready(self) -> bool:
        """Whether the stores are read and requests are answered."""
        return self._ready.is_set()

    def start(self) -> None:
        """Begin reading the stores, in the background; requests wait until that is done."""
        self._thread.post("initializing and reading to the end of internal topics", self._start)
        self._thread.start()

    def close(self, deadline: Deadline) -> None:
        """Stop all tasks and connectors, say so in the statuses, close the stores."""
        self._stopping.set()
        if self._ready.is_set():
            self._stop_all(deadline)
            self._thread.stop(deadline)
        else:
            # It waits for its broker, perhaps for long, and has nothing to bring to an end.
            self._thread.stop(Deadline.after(_GIVE_UP_SECONDS, self._clock))
        if self._ready.is_set():
            try:
                self._stores.statuses.flush(deadline)
            except DeadlineExceededError as error:
                log.warning("Last statuses are not stored: %s", error)
        for store in (self._stores.configs, self._stores.statuses, self._stores.offsets):
            store.close()
        self._loggers.take_back(ROOT)

    def _start(self) -> None:
        stores = self._stores
        try:
            # First, so that while there is no broker only one says so.
            self._cluster_id = self._insist(self._read_cluster_id)
            self._start_stores()
        except Exception as error:  # noqa: BLE001 - handed to whoever runs the worker
            if not self._stopping.is_set():
                self._on_fatal(error)
            return
        if self._stopping.is_set():
            return
        self._reports.deliver_to(self._conductor)
        stores.configs.subscribe(
            lambda: self._thread.post("applying config changes", self._conductor.reconcile)
        )
        self._conductor.reconcile()
        self._ready.set()
        log.info("The herder has started")

    def _start_stores(self) -> None:
        """All at once: each waits for the broker most of the time. The first failure is enough."""
        stores = (self._stores.configs, self._stores.statuses, self._stores.offsets)
        begun = [
            self._lanes.submit(type(store).__name__, partial(self._insist, store.start))
            for store in stores
        ]
        for ended in wait(begun, return_when=FIRST_EXCEPTION).done:
            ended.result()

    def _insist(self, step: Callable[[Deadline], Any]) -> Any:
        """Try until it works, as long as what fails may get better by itself."""
        while True:
            if self._stopping.is_set():
                raise RetriableError("the worker is stopping")
            try:
                return step(Deadline.after(_ATTEMPT_SECONDS, self._clock))
            except (DeadlineExceededError, RetriableError, StorageError) as error:
                log.warning("Kafka can't be used yet, trying again: %s", error)
                self._clock.wait(self._stopping, _BETWEEN_ATTEMPTS_SECONDS)

    def _stop_all(self, deadline: Deadline) -> None:
        self._thread.call("shutting down", self._conductor.close, deadline)
        graceful = Deadline.after(
            min(self._options.graceful_stop_seconds, deadline.remaining()), self._clock
        )
        self._worker.stop_tasks(self._conductor.running_tasks, graceful)
        self._worker.close(deadline)
        # Reports of what just stopped are in the queue before this, so they count.
        self._thread.call("shutting down", self._conductor.sign_off, deadline)

    def _await(self, deadline: Deadline) -> None:
        if not self._ready.wait(deadline.remaining()):
            raise self._thread.timed_out()

    # ------------------------------------------------------------------------------------ worker

    def server_info(self) -> ServerInfo:
        return ServerInfo(KAFKA_VERSION, self._options.commit, self._cluster_id)

    def health(self, deadline: Deadline) -> Health:
        if not self._ready.is_set():
            now = f"The worker is currently {self._thread.stage}"
            return Health("starting", f"Worker is still starting up. {now}")
        try:
            self._thread.call("answering a health check", lambda: None, deadline)
        except DeadlineExceededError as error:
            text = "Worker was unable to handle this request and may be unable to handle other "
            return Health("unhealthy", f"{text}requests. {error}")
        if obstacle := self._worker.obstacle() or self._broker_away(deadline):
            return Health("unhealthy", f"Worker answers, but no record moves. {obstacle}")
        return Health("healthy", "Worker has completed startup and is ready to handle requests.")

    def _broker_away(self, deadline: Deadline) -> str | None:
        """Why Kafka does not answer; None if it does."""
        try:
            self._read_cluster_id(Deadline.after(min(_BROKER_SECONDS, deadline.remaining())))
        except PenstockError as error:
            return f"Kafka does not answer: {error}"
        return None

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
        self._plugins.look_again()
        return rest_list(self._plugins.infos(CONNECTORS if connectors_only else None))

    def broken_plugins(self) -> Sequence[Mapping[str, str]]:
        self._plugins.look_again()
        return [
            {"name": each.name, "path": each.path, "error": each.error}
            for each in self._plugins.broken
        ]

    def plugin_config(
        self, name: str, version: str | None, deadline: Deadline
    ) -> list[dict[str, Any]]:
        step = f"reading the keys of plugin {name}"
        return within(step, lambda: self._validation.definitions(name, version), deadline)

    def validate(self, plugin: str, config: ConfigMap, deadline: Deadline) -> dict[str, Any]:
        stored = self._views.stored_config(config.get("name") or "") if self.ready else None
        restored = self._secrets.restored(config, stored)
        check_request(plugin, restored)
        try:
            return self._writes.findings(restored, deadline, stored).to_json()
        except BadRequestError as error:
            # Connect answers 500 here and 400 to the same mistake when a connector is created.
            raise PluginError(str(error)) from error

    def preview(
        self,
        plugin: str,
        config: ConfigMap,
        records: Sequence[Any] | None,
        limit: int,
        deadline: Deadline,
    ) -> list[dict[str, Any]]:
        stored = self._views.stored_config(config.get("name") or "") if self.ready else None
        restored = self._secrets.restored({"name": "preview", **config}, stored)
        check_request(plugin, restored)
        self._secrets.require_class(restored)
        for problem in self._secrets.mask_problems(restored, stored).values():
            raise BadRequestError(problem)

        def look() -> list[dict[str, Any]]:
            self._validation.check(restored, outside=False)
            given = {name: text for name, text in restored.items() if text is not None}
            return self._worker.preview(given, records, limit, deadline)

        return within("making a preview", look, deadline)

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
        return self._logs.read(name, limit=limit, after=after, since_ms=since_ms, level=level)

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


__all__ = ["HerderOptions", "LocalHerder", "Stores"]
