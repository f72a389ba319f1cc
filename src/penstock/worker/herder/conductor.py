"""Makes the worker run what the configs say, and stores what the worker reports."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from penstock.kernel.clock import Clock, Deadline
from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import PenstockError
from penstock.kernel.logs import Scope, logged_as, trace_of
from penstock.worker.herder.command_thread import CommandThread
from penstock.worker.herder.lanes import Lanes
from penstock.worker.herder.reconcile import Change, Started, changes
from penstock.worker.herder.status_writer import Records
from penstock.worker.interface import State, TargetState, Worker
from penstock.worker.storage.interfaces import ClusterSnapshot, ConfigStore, ConnectorEntry

log = logging.getLogger(__name__)

_WRITE_SECONDS: Final = 15.0
_FIRST_RETRY_SECONDS: Final = 0.25
_LAST_RETRY_SECONDS: Final = 60.0


class Conductor:
    """State of one worker. Methods run on the herder's thread, except those of WorkerEvents."""

    def __init__(
        self,
        *,
        thread: CommandThread,
        lanes: Lanes,
        worker: Worker,
        configs: ConfigStore,
        records: Records,
        clock: Clock,
        stop_seconds: float,
        track_topics: bool,
    ) -> None:
        self._thread = thread
        self._lanes = lanes
        self._worker = worker
        self._configs = configs
        self._records = records
        self._clock = clock
        self._stop_seconds = stop_seconds
        self._track_topics = track_topics
        self._started = Started()
        # Entries as last reconciled: with a thousand connectors most did not change.
        self._seen: dict[str, ConnectorEntry] = {}
        self._closing = False

    # ------------------------------------------------------- what the worker reports, any thread

    def connector_state(self, name: str, state: State, trace: str | None) -> None:
        self._thread.post(
            f"recording the state of connector {name}",
            lambda: self._records.connector(name, self._entry(name), state, trace),
        )

    def task_state(self, task: TaskId, state: State, trace: str | None) -> None:
        self._thread.post(
            f"recording the state of task {task}",
            lambda: self._records.task(task, self._entry(task.connector), state, trace),
        )

    def task_figures(self, task: TaskId, figures: Mapping[str, int]) -> None:
        self._thread.post(
            f"recording figures of task {task}", lambda: self._records.figures(task, figures)
        )

    def task_configs(self, connector: str, configs: Sequence[Mapping[str, str]]) -> None:
        made = tuple(dict(config) for config in configs)
        self._thread.post(
            f"taking over task configs for connector {connector}",
            partial(self._take_task_configs, connector, made, _FIRST_RETRY_SECONDS),
        )

    def topic_used(self, task: TaskId, topic: str) -> None:
        if self._track_topics:
            self._thread.post(
                f"recording a topic of connector {task.connector}",
                lambda: self._records.topic(task, self._entry(task.connector), topic),
            )

    # ------------------------------------------------------------------------- what is to happen

    def reconcile(self) -> None:
        """Start and stop until what runs is what the configs want."""
        now = self._configs.snapshot()
        names = {**self._seen, **now.connectors}
        self._bring_about(
            now, [name for name in names if self._seen.get(name) != now.connectors.get(name)]
        )

    def reconcile_one(self, name: str) -> None:
        """The same for one connector."""
        self._bring_about(self._configs.snapshot(), [name])

    def _bring_about(self, snapshot: ClusterSnapshot, names: Sequence[str]) -> None:
        if self._closing:
            return
        for change in list(changes(snapshot, self._started, names)):
            self._records.forget(change.connector, _existing(snapshot, change.connector))
            self._carry_out(change)
        for name in names:
            self._seen.pop(name, None)
            if name in snapshot.connectors:
                self._seen[name] = snapshot.connectors[name]

    def restart(self, name: str, *, connector: bool, tasks: Sequence[TaskId] = ()) -> None:
        """Stop and start the connector, some of its tasks, or both, as they are configured."""
        started = self._started.tasks_of(name)
        known = {task: started[task] for task in tasks if task in started}
        running = self._started.connectors.get(name)
        entry = self._configs.snapshot().connectors.get(name)
        self._carry_out(
            Change(
                name,
                stop_tasks=tuple(known),
                stop=connector and running is not None,
                start=running if connector else None,
                start_tasks=known,
                target=TargetState(entry.target) if entry else TargetState.STARTED,
            )
        )

    def close(self) -> None:
        """From now on start nothing more."""
        self._closing = True

    def sign_off(self) -> None:
        """Store that nothing runs here any more."""
        self._records.sign_off(self._started.connectors, self._started.all_tasks)

    @property
    def running_tasks(self) -> list[TaskId]:
        return self._started.all_tasks

    # ------------------------------------------------------------------------------ the worker

    def _carry_out(self, change: Change) -> None:
        self._started.note(change)
        self._lanes.submit(change.connector, partial(self._apply, change))

    def _apply(self, change: Change) -> None:
        """Runs in the connector's lane: may take as long as the worker takes to stop things."""
        name, worker = change.connector, self._worker
        deadline = Deadline.after(self._stop_seconds, self._clock)
        try:
            if change.stop_tasks:
                worker.stop_tasks(change.stop_tasks, deadline)
            if change.stop:
                worker.stop_connector(name, deadline)
            if change.start is not None:
                worker.start_connector(name, change.start.config, change.start.target)
            if change.retarget is not None:
                worker.set_target_state(name, change.retarget)
        except Exception as error:  # a broken connector is a state, not the herder's end
            with logged_as(Scope(name)):
                log.exception("Connector %s can't be changed", name)
            self.connector_state(name, State.FAILED, trace_of(error))
        self._start_tasks(change)

    def _start_tasks(self, change: Change) -> None:
        for task, found in change.start_tasks.items():
            try:
                self._worker.start_task(task, found.connector_config, found.config, change.target)
            except Exception as error:
                with logged_as(Scope.of(task)):
                    log.exception("Task %s can't be started", task)
                self.task_state(task, State.FAILED, trace_of(error))

    def _entry(self, name: str) -> ConnectorEntry | None:
        return _existing(self._configs.snapshot(), name)

    # ---------------------------------------------------------------------------- task configs

    def _take_task_configs(
        self, name: str, made: tuple[Mapping[str, str], ...], retry_seconds: float
    ) -> None:
        entry, running = self._entry(name), self._started.connectors.get(name)
        if entry is None or running is None or entry.target == TargetState.STOPPED:
            return
        if running.config != entry.config:
            return  # made from a config that was replaced meanwhile: the new one makes its own
        if made != tuple(entry.tasks) or not entry.consistent:
            try:
                self._configs.put_tasks(name, made, Deadline.after(_WRITE_SECONDS, self._clock))
            except PenstockError as error:
                with logged_as(Scope(name)):
                    log.warning("Task configs of %s can't be stored yet: %s", name, error)
                again = min(retry_seconds * 2, _LAST_RETRY_SECONDS)
                self._thread.post_later(
                    retry_seconds,
                    f"storing task configs for connector {name} again",
                    partial(self._take_task_configs, name, made, again),
                )
                return
        self._started.applied[name] = running.config
        self.reconcile_one(name)


def _existing(snapshot: ClusterSnapshot, name: str) -> ConnectorEntry | None:
    entry = snapshot.connectors.get(name)
    return entry if entry is not None and entry.config is not None else None
