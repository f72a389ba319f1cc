"""The composition root: builds every object of a worker, runs it, takes it down in reverse."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.clock import Deadline, SystemClock
from penstock.config.properties import load_connector_file
from penstock.config.providers import Resolver, resolver
from penstock.errors import PenstockError
from penstock.herder.local import HerderOptions, LocalHerder
from penstock.herder.records import Identity
from penstock.herder.reports import WorkerReports
from penstock.herder.validation import Validation
from penstock.jars import driver_jars
from penstock.kafka.clients import Admin
from penstock.kafka.options import Role
from penstock.logs import ConnectorLogs, RedactingFormatter, ScopeFilter
from penstock.plugins import Plugins
from penstock.rest.listeners import Listeners, bind
from penstock.rest.server import RestServer
from penstock.runtime.clients import ConnectorClients
from penstock.runtime.warm_up import WarmUp
from penstock.runtime.worker import LocalWorker
from penstock.settings import (
    SECRETS_SHOWN,
    Mode,
    StandaloneSettings,
    plugin_paths,
    worker_settings,
)
from penstock.storage.stores import Stores, distributed_stores, standalone_stores

if TYPE_CHECKING:
    from penstock.plan.session import SparkEngine
    from penstock.runtime.tasks import TaskFactory

log = logging.getLogger(__name__)

REST_START_SECONDS = 10.0
CREATE_SECONDS = 90.0
OBSTACLE_SECONDS = 3.0


def run_standalone(properties: Mapping[str, str], connector_files: Sequence[Path]) -> int:
    """Run a standalone worker with the connectors of the files until a signal; the exit code."""
    return _run(properties, Mode.STANDALONE, connector_files)


def run_distributed(
    properties: Mapping[str, str], await_broker: Callable[[], None] = lambda: None
) -> int:
    """Run a distributed worker until a signal; the exit code.

    `await_broker` is for callers that start the broker at the same time: it is called on a thread
    of its own, and a PenstockError of it ends the worker.
    """
    return _run(properties, Mode.DISTRIBUTED, (), await_broker)


def _run(
    properties: Mapping[str, str],
    mode: Mode,
    connector_files: Sequence[Path],
    await_broker: Callable[[], None] = lambda: None,
) -> int:
    set_up_logging()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    failures: list[Exception] = []

    def fail(error: Exception) -> None:
        failures.append(error)
        stop.set()

    def watch_broker() -> None:
        try:
            await_broker()
        except PenstockError as error:
            fail(error)

    threading.Thread(target=watch_broker, name="await-broker", daemon=True).start()
    try:
        with ExitStack() as stack:
            WorkerProcess(properties, mode, on_fatal=fail).start(stack, connector_files)
            stop.wait()
            log.info("Stopping")
    except PenstockError as error:
        failures.append(error)
    for failure in failures:
        # Once: the log goes to the same place.
        log.debug("Where it failed", exc_info=failure)
        sys.stderr.write(f"penstock: {failure}\n")
    return 1 if failures else 0


class WorkerProcess:
    """All objects of one worker. What start() builds, the ExitStack takes down in reverse."""

    def __init__(
        self,
        properties: Mapping[str, str],
        mode: Mode,
        *,
        on_fatal: Callable[[Exception], None],
    ) -> None:
        self._clock = SystemClock()
        self._resolver: Resolver = resolver(properties, os.environ)
        resolved = self._resolver.resolve(properties)
        self._plugins = Plugins.discover(plugin_paths(resolved))
        self._settings = worker_settings(resolved, mode, self._plugins.class_name)
        self._on_fatal = on_fatal
        self._logs = ConnectorLogs(
            self._settings.penstock_connector_log_lines,
            self._settings.penstock_connector_log_bytes,
        )

    def start(self, stack: ExitStack, connector_files: Sequence[Path] = ()) -> Listeners:
        """Answer REST first, then read the stores and start Spark in the background."""
        settings = self._settings
        logging.getLogger().addHandler(self._logs)
        stack.callback(logging.getLogger().removeHandler, self._logs)
        for warning in settings.warnings:
            log.warning("%s", warning)
        connectors = [load_connector_file(path) for path in connector_files]
        listeners = bind(settings)
        stack.callback(listeners.close)
        engine = self._engine(stack)
        admin = Admin(settings.client_properties("admin"))
        stack.callback(admin.close)
        stores = self._stores(admin)
        reports = WorkerReports()
        worker = self._worker(stores, reports, engine)
        herder = LocalHerder(
            worker=worker,
            reports=reports,
            stores=stores,
            plugins=self._plugins,
            validation=Validation(
                self._plugins,
                settings,
                self._resolver,
                worker.chain_problems,
                worker.outside_problems,
            ),
            identity=Identity(listeners.worker_id),
            cluster_id=admin.cluster_id,
            clock=self._clock,
            options=HerderOptions(
                graceful_stop_seconds=settings.task_shutdown_graceful_timeout_ms / 1000,
                track_topics=settings.topic_tracking_enable,
                allow_topic_reset=settings.topic_tracking_allow_reset,
            ),
            on_fatal=self._on_fatal,
            logs=self._logs,
        )
        stack.callback(lambda: herder.close(self._stop_deadline()))
        server = RestServer(listeners, herder, settings)
        server.start(Deadline.after(REST_START_SECONDS, self._clock))
        stack.callback(lambda: server.close(Deadline.after(5, self._clock)))
        log.info("REST API on %s", listeners.url)
        shown = settings.penstock_secrets_shown
        log.info("%s (penstock.secrets.shown=%s)", SECRETS_SHOWN[shown], shown)
        herder.start()
        self._warm_up(stack, worker, engine)
        self._show_obstacles(stack, worker)
        for each in connectors:
            deadline = Deadline.after(CREATE_SECONDS, self._clock)
            herder.create_connector(each.name, each.config, each.initial_state, deadline)
        return listeners

    def _stop_deadline(self) -> Deadline:
        graceful = self._settings.task_shutdown_graceful_timeout_ms / 1000
        return Deadline.after(graceful + 10, self._clock)

    def _stores(self, admin: Admin) -> Stores:
        settings = self._settings
        if isinstance(settings, StandaloneSettings):
            return standalone_stores(Path(settings.offset_storage_file_filename))
        client = settings.client_properties()
        return distributed_stores(settings.props, client, admin, clock=self._clock)

    def _engine(self, stack: ExitStack) -> SparkEngine:
        from penstock.plan.session import SparkEngine

        settings = self._settings.spark
        given = settings.get("spark.jars", "")
        drivers = driver_jars(map(Path, self._settings.plugin_path or ()))
        if drivers:
            settings["spark.jars"] = ",".join(filter(None, (given, *map(str, drivers))))
        engine = SparkEngine(settings, use_archive=self._settings.penstock_class_archive)
        stack.callback(engine.close)
        # The JVM takes longest of all to start, and needs nothing of what comes next.
        engine.launch()
        return engine

    def _warm_up(self, stack: ExitStack, worker: LocalWorker, engine: SparkEngine) -> None:
        # Importing Spark and connecting to its JVM take seconds: nobody waits for them here.
        archive = self._settings.penstock_class_archive
        warm_up = WarmUp(engine, worker.task_factory, archive=archive)
        stack.callback(warm_up.close)
        warm_up.start()

    def _show_obstacles(self, stack: ExitStack, worker: LocalWorker) -> None:
        done = threading.Event()
        stack.callback(done.set)

        def show() -> None:
            while not done.wait(OBSTACLE_SECONDS):
                worker.tell_obstacle()

        threading.Thread(target=show, name="obstacles", daemon=True).start()

    def _worker(self, stores: Stores, reports: WorkerReports, engine: SparkEngine) -> LocalWorker:
        settings = self._settings
        clients = ConnectorClients({role: settings.client_properties(role.value) for role in Role})

        def tasks() -> TaskFactory:
            from penstock.runtime.tasks import TaskFactory

            return TaskFactory(
                worker_properties=settings.props,
                plugins=self._plugins,
                engine=engine,
                offsets=stores.offsets,
                clients=clients,
                clock=self._clock,
                create_topics=settings.topic_creation_enable,
                shutdown_seconds=settings.task_shutdown_graceful_timeout_ms / 1000,
            )

        return LocalWorker(
            plugins=self._plugins,
            resolver=self._resolver,
            offsets=stores.offsets,
            clients=clients,
            tasks=tasks,
            guard=engine.guard,
            obstacle=lambda: engine.obstacle,
            events=reports,
        )


def set_up_logging() -> None:
    """Log to standard error, as Connect's console appender does."""
    line = "[%(asctime)s] %(levelname)s %(scope)s%(message)s (%(name)s)"
    console = logging.StreamHandler(sys.stderr)
    console.setFormatter(RedactingFormatter(line))
    console.addFilter(ScopeFilter())
    level = os.environ.get("PENSTOCK_LOG_LEVEL", "INFO").upper()
    logging.basicConfig(level=level, handlers=[console])
    # Libraries that tell every connection.
    for name in ("uvicorn.error", "httpx"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # A worker that ends says why by itself; traces of requests that it leaves open hide that.
    logging.getLogger("uvicorn.error").addFilter(_is_no_cancelled_request)
    # A JVM that dies is told once, by us; py4j tells it with a trace for each call, under its own
    # name or none.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(lambda record: "py4j" not in record.pathname)


def _is_no_cancelled_request(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, asyncio.CancelledError)
