"""The life of one connector: a thread of its own, so that one that hangs blocks no other."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from penstock.api.connector import Connector
from penstock.kernel.clock import Deadline
from penstock.kernel.errors import ConfigError, RetriableError
from penstock.kernel.logs import Scope, logged_as, reason_of, trace_of
from penstock.worker.interface import State, TargetState, WorkerEvents

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

BACK_OFF_SECONDS: Final = 5.0


class ConnectorHost:
    """Runs one connector. Its methods return at once; the results are reported as events.

    Args:
        make: builds the connector; called on the host's thread, may raise.
        configs: the connector's task configurations, completed for the tasks.
        session: the worker's Spark session, for connectors that ask for it.
        guard: raises SessionLostError for whatever fails because Spark's JVM died.
    """

    def __init__(
        self,
        name: str,
        config: Mapping[str, str],
        *,
        make: Callable[[], Connector],
        configs: Callable[[Connector], list[dict[str, str]]],
        session: Callable[[], SparkSession],
        guard: Callable[[], AbstractContextManager[None]],
        events: WorkerEvents,
    ) -> None:
        self.name = name
        self.config = config
        self._make = make
        self._configs = configs
        self._session = session
        self._guard = guard
        self._events = events
        self._connector: Connector | None = None
        self._without_tasks: str | None = None
        self._commands: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._muted = False
        self._stopping = False
        self._target = TargetState.STARTED
        self._changed = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"connector-{name}", daemon=True)

    def start(self, target: TargetState) -> None:
        self._thread.start()
        self.set_target(target)

    def set_target(self, target: TargetState) -> None:
        self._target = target
        self._commands.put(lambda: self._go_to(target))
        self._changed.set()

    def make_task_configs(self) -> None:
        self._commands.put(self._send_task_configs)

    def stop(self, deadline: Deadline) -> None:
        """Stop the connector; one that does not stop in time is abandoned and reports no more."""
        self._stopping = True
        self._commands.put(None)
        self._changed.set()
        self._thread.join(deadline.remaining())
        if self._thread.is_alive():
            self._muted = True
            with logged_as(Scope(self.name)):
                log.error("Connector %s did not stop in time and was abandoned", self.name)

    # Called by the connector, from any thread (api.ConnectorContext).

    @property
    def spark(self) -> SparkSession:
        return self._session()

    @property
    def stopping(self) -> bool:
        return self._stopping

    def request_task_reconfiguration(self) -> None:
        self.make_task_configs()

    def raise_error(self, error: Exception) -> None:
        self._commands.put(lambda: self._fail(error))

    def _run(self) -> None:
        with logged_as(Scope(self.name)):
            self._live()

    def _live(self) -> None:
        while True:
            command = self._commands.get()
            if command is None:
                break
            try:
                self._insist(command)
            except Exception as error:
                if self._stopping:
                    log.debug("Connector %s was interrupted by its stop", self.name, exc_info=True)
                else:
                    self._fail(error)
        self._suspend()

    def _insist(self, command: Callable[[], None]) -> None:
        """Run it; repeat it while Spark or a server is away."""
        reported = False
        while True:
            self._changed.clear()
            try:
                command()
            except RetriableError as error:
                if self._stopping:
                    raise
                log.warning("Connector %s waits: %s", self.name, error)
                if not reported:
                    self._report(State.UNASSIGNED, str(error))
                    reported = True
                self._changed.wait(BACK_OFF_SECONDS)
            else:
                return

    def _go_to(self, target: TargetState) -> None:
        if target is TargetState.STARTED:
            if self._target is not target:
                return  # A later command pauses or stops it.
            if self._connector is None:
                self._start()
            self._without_tasks = None
            self._report(State.RUNNING)
            self._send_task_configs()
        else:
            self._suspend()
            self._report(State.PAUSED if target is TargetState.PAUSED else State.STOPPED)

    def _start(self) -> None:
        try:
            with self._guard():
                self._connector = self._make()
                self._connector.start(self.config, self)
        except RetriableError:
            self._suspend()
            raise

    def _suspend(self) -> None:
        connector, self._connector = self._connector, None
        if connector is None:
            return
        try:
            connector.stop()
        except Exception as error:
            log.warning("Connector %s did not stop cleanly: %s", self.name, reason_of(error))
            log.debug("The traceback", exc_info=True)

    def _send_task_configs(self) -> None:
        if self._connector is None or self._muted:
            return
        configs = self._configs(self._connector)
        self._events.task_configs(self.name, configs)
        why = None if configs else f"0 tasks: {self._connector.without_tasks()}"
        if why != self._without_tasks:
            self._without_tasks = why
            self._report(State.RUNNING, why)

    def _fail(self, error: Exception) -> None:
        self._suspend()
        trace = trace_of(error)
        log.error("Connector %s failed\n%s", self.name, trace)
        self._report(State.FAILED, trace)

    def _report(self, state: State, trace: str | None = None) -> None:
        if not self._muted:
            log.info("Connector %s is %s", self.name, state.value)
            self._events.connector_state(self.name, state, trace)


def completed_task_configs(
    connector: Connector, config: Mapping[str, str], task_class: str
) -> list[dict[str, str]]:
    """The connector's task configs with what the framework adds to each.

    Raises:
        ConfigError: the connector made more tasks than `tasks.max` allows.
    """
    most = int(config.get("tasks.max", "1"))
    configs = connector.task_configs(most)
    if len(configs) > most and config.get("tasks.max.enforce", "true").lower() == "true":
        message = (
            f"The connector {config.get('name')} has generated {len(configs)} tasks, which is"
            f" greater than {most}, the maximum number of tasks it is configured to create"
        )
        raise ConfigError(message)
    added = {"task.class": task_class}
    added |= {key: config[key] for key in ("topics", "topics.regex") if config.get(key)}
    return [{**each, **added} for each in configs]
