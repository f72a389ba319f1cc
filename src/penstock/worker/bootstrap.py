"""The composition root: builds every object of a worker, runs it, closes all in reverse order."""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.kafka.client_keys import Role
from penstock.kafka.clients import Admin
from penstock.kernel.clock import Deadline, SystemClock
from penstock.kernel.config.properties import load_connector_file
from penstock.kernel.config.providers import Resolver, resolver
from penstock.kernel.errors import PenstockError
from penstock.kernel.logs import ConnectorLogs, RedactingFormatter, ScopeFilter
from penstock.machine.jars import driver_jars
from penstock.machine.signals import EndRequest
from penstock.plugins import Plugins
from penstock.worker.herder.dependencies import HerderOptions, HerderParts
from penstock.worker.herder.local_herder import LocalHerder
from penstock.worker.herder.reports import WorkerReports
from penstock.worker.herder.status_writer import Identity
from penstock.worker.herder.validation import Validation
from penstock.worker.rest.listeners import Listeners, bind
from penstock.worker.rest.server import RestServer
from penstock.worker.runtime.clients import ConnectorClients
from penstock.worker.runtime.warm_up import WarmUp
from penstock.worker.runtime.worker import LocalWorker
from penstock.worker.settings import (
    SECRETS_SHOWN,
    Mode,
    StandaloneSettings,
    plugin_paths,
    worker_settings,
)
from penstock.worker.storage.stores import Stores, distributed_stores, standalone_stores

if TYPE_CHECKING:
    from penstock.worker.engine.session import SparkEngine
    from penstock.worker.runtime.tasks import TaskFactory

log = logging.getLogger(__name__)

REST_START_SECONDS = 10.0
CREATE_SECONDS = 90.0
OBSTACLE_SECONDS = 3.0


def run_standalone(properties: Mapping[str, str], connector_files: Sequence[Path]) -> int:
    """Run a standalone worker with the files' connectors until a signal; return the exit code."""
    return _run(properties, Mode.STANDALONE, connector_files)


def run_distributed(
    properties: Mapping[str, str], await_broker: Callable[[], None] = lambda: None
) -> int:
    """Run a distributed worker until a signal; return the exit code.

    `await_broker` is for callers that start the broker at the same time: it runs on a thread of
    its own, and ends the worker if it raises PenstockError.
    """
    return _run(properties, Mode.DISTRIBUTED, (), await_broker)


def _run(
    properties: Mapping[str, str],
    mode: Mode,
    connector_files: Sequence[Path],
    await_broker: Callable[[], None] = lambda: None,
) -> int:
    set_up_logging()
    # `kill -3` writes the stacks of all threads to standard error, as Java's does.
    faulthandler.register(signal.SIGQUIT)
    end = EndRequest()
    failures: list[Exception] = []
    kafka_ended = threading.Event()

    def fail(error: Exception) -> None:
        # At once: closing the worker may take long and log much.
        log.debug("The traceback", exc_info=error)
        sys.stderr.write(f"penstock: {error}\n")
        failures.append(error)
        end.make()

    def watch_broker() -> None:
        try:
            await_broker()
        except PenstockError as error:
            kafka_ended.set()
            fail(error)

    threading.Thread(target=watch_broker, name="await-broker", daemon=True).start()
    try:
        with ExitStack() as stack:
            process = WorkerProcess(properties, mode, on_fatal=fail, kafka_ended=kafka_ended)
            process.start(stack, connector_files)
            end.wait()
            log.info("Stopping")
        log.info("Stopped")
    except PenstockError as error:
        fail(error)
    return 1 if failures else 0


class WorkerProcess:
    """All objects of one worker. The ExitStack closes what start() builds, in reverse order.

    `kafka_ended` is set when the worker ends because its Kafka did.
    """

    def __init__(
        self,
        properties: Mapping[str, str],
        mode: Mode,
        *,
        on_fatal: Callable[[Exception], None],
        kafka_ended: threading.Event,
    ) -> None:
        self._clock = SystemClock()
        self._resolver: Resolver = resolver(properties, os.environ)
        resolved = self._resolver.resolve(properties)
        self._plugins = Plugins.discover(plugin_paths(resolved))
        self._settings = worker_settings(resolved, mode, self._plugins.class_name)
        self._on_fatal = on_fatal
        self._kafka_ended = kafka_ended
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
        parts = HerderParts(
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
            logs=self._logs,
        )
        options = HerderOptions(
            graceful_stop_seconds=settings.task_shutdown_graceful_timeout_ms / 1000,
            track_topics=settings.topic_tracking_enable,
            allow_topic_reset=settings.topic_tracking_allow_reset,
        )
        herder = LocalHerder(parts, options, self._on_fatal)
        stack.callback(self._close, herder)
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

    def _close(self, herder: LocalHerder) -> None:
        graceful = self._settings.task_shutdown_graceful_timeout_ms / 1000
        deadline = Deadline.after(graceful + 10, self._clock)
        herder.close(deadline, kafka_ended=self._kafka_ended.is_set())

    def _stores(self, admin: Admin) -> Stores:
        settings = self._settings
        if isinstance(settings, StandaloneSettings):
            return standalone_stores(Path(settings.offset_storage_file_filename))
        client = settings.client_properties()
        return distributed_stores(settings.props, client, admin, clock=self._clock)

    def _engine(self, stack: ExitStack) -> SparkEngine:
        from penstock.worker.engine.session import SparkEngine

        settings = self._settings.spark
        given = settings.get("spark.jars", "")
        drivers = driver_jars(map(Path, self._settings.plugin_path or ()))
        if drivers:
            settings["spark.jars"] = ",".join(filter(None, (given, *map(str, drivers))))
        engine = SparkEngine(settings, use_archive=self._settings.penstock_class_archive)
        stack.callback(engine.close)
        # The JVM takes longest to start, and does not depend on what follows.
        engine.launch()
        return engine

    def _warm_up(self, stack: ExitStack, worker: LocalWorker, engine: SparkEngine) -> None:
        # Importing Spark and connecting to its JVM take seconds, so they run in the background.
        archive = self._settings.penstock_class_archive
        warm_up = WarmUp(engine, worker.task_factory, archive=archive)
        stack.callback(warm_up.close)
        warm_up.start()

    def _show_obstacles(self, stack: ExitStack, worker: LocalWorker) -> None:
        done = threading.Event()
        stack.callback(done.set)

        def show() -> None:
            while not done.wait(OBSTACLE_SECONDS):
                worker.show_obstacle()

        threading.Thread(target=show, name="obstacles", daemon=True).start()

    def _worker(self, stores: Stores, reports: WorkerReports, engine: SparkEngine) -> LocalWorker:
        settings = self._settings
        clients = ConnectorClients({role: settings.client_properties(role.value) for role in Role})

        def tasks() -> TaskFactory:
            from penstock.worker.runtime.tasks import TaskFactory

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
    # Libraries that log every connection.
    for name in ("uvicorn.error", "httpx"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # A worker logs why it ends; traces of requests still open would hide that.
    logging.getLogger("uvicorn.error").addFilter(_is_no_cancelled_request)
    # We log once that the JVM died; py4j logs a trace for each call, under its own name or none.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(lambda record: "py4j" not in record.pathname)


def _is_no_cancelled_request(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, asyncio.CancelledError)
