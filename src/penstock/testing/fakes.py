"""Stand-ins for tests of the control plane: a manual clock, a worker without Spark."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.api.plugin import PluginKind
from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import BadRequestError, PluginError
from penstock.worker.interface import PartitionOffset, State, TargetState, WorkerEvents


class ManualClock:
    """A clock that only advance() moves. Waiting advances it too, so nothing ever sleeps."""

    def __init__(self, wall_ms: int = 1_700_000_000_000) -> None:
        self._seconds = 0.0
        self._wall_ms = wall_ms

    def advance(self, seconds: float) -> None:
        """Move the clock forward."""
        self._seconds += seconds

    def now(self) -> float:
        """Seconds since the clock was made."""
        return self._seconds

    def wall_ms(self) -> int:
        """Milliseconds since the epoch."""
        return self._wall_ms + int(self._seconds * 1000)

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Advance the clock at once, unless the event is already set."""
        if not event.is_set():
            self.advance(seconds)
        return event.is_set()


_HANG_SECONDS = 30.0
_STATES = {
    TargetState.STARTED: State.RUNNING,
    TargetState.PAUSED: State.PAUSED,
    TargetState.STOPPED: State.STOPPED,
}


class ScriptedWorker:
    """A worker whose connectors act like the file connectors and move no records.

    `calls` has the calls it got, in order. A name in `failing` fails to start; a name in `hanging`
    blocks stop and offset calls until its event is set. A connector in `without_tasks` has none and
    says why; a task in `waiting` says what it waits for.
    """

    version = "4.1.1"

    def __init__(self, events: WorkerEvents) -> None:
        self.events = events
        self.calls: list[tuple[str, str]] = []
        self.failing: dict[str, str] = {}
        self.without_tasks: dict[str, str] = {}
        self.waiting: dict[str, str] = {}
        self.in_the_way: str | None = None
        self.hanging: dict[str, threading.Event] = {}
        self.stored_offsets: dict[str, list[PartitionOffset]] = {}
        self._lock = threading.Lock()
        self._connectors: dict[str, Mapping[str, str]] = {}
        self._tasks: dict[TaskId, Mapping[str, str]] = {}

    def connector_version(self, config: Mapping[str, str]) -> str | None:
        """Always the same."""
        del config
        return self.version

    def start_connector(self, name: str, config: Mapping[str, str], target: TargetState) -> None:
        """Report a state and, if started, task configs."""
        self._note("start", name)
        if name in self.failing:
            self.events.connector_state(name, State.FAILED, self.failing[name])
            return
        with self._lock:
            self._connectors[name] = dict(config)
        self.set_target_state(name, target, noted=True)

    def stop_connector(self, name: str, deadline: Deadline) -> None:
        """Forget it and report UNASSIGNED."""
        del deadline
        self._note("stop", name)
        self._maybe_hang(name)
        with self._lock:
            known = self._connectors.pop(name, None)
        if known is not None:
            self.events.connector_state(name, State.UNASSIGNED, None)

    def start_task(
        self,
        task: TaskId,
        connector_config: Mapping[str, str],
        task_config: Mapping[str, str],
        target: TargetState,
    ) -> None:
        """Report a state and, if started, the topics of the config."""
        self._note("start", str(task))
        if str(task) in self.failing:
            self.events.task_state(task, State.FAILED, self.failing[str(task)])
            return
        with self._lock:
            self._tasks[task] = {**connector_config, **task_config}
        self.events.task_state(task, _STATES[target], self.waiting.get(str(task)))
        topics = task_config.get("topics", task_config.get("topic", ""))
        for topic in filter(None, topics.split(",")) if target is TargetState.STARTED else ():
            self.events.topic_used(task, topic)

    def stop_tasks(self, tasks: Sequence[TaskId], deadline: Deadline) -> None:
        """Forget them and report UNASSIGNED."""
        del deadline
        for task in tasks:
            self._note("stop", str(task))
            self._maybe_hang(task.connector)
            with self._lock:
                known = self._tasks.pop(task, None)
            if known is not None:
                self.events.task_state(task, State.UNASSIGNED, None)

    def preview(
        self,
        config: Mapping[str, str],
        records: Sequence[Any] | None,
        limit: int,
        deadline: Deadline,
    ) -> list[dict[str, Any]]:
        """The records as given, without any steps."""
        del deadline
        self._note("preview", config["name"])
        read = [{"step": "read", "class": None, "records": [each]} for each in records or ()]
        return [{"steps": [step]} for step in read[:limit]]

    def chain_problems(self, config: Mapping[str, str]) -> Mapping[str, str]:
        """None."""
        del config
        return {}

    def outside_problems(self, config: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
        """None."""
        del config
        return {}

    def set_target_state(self, name: str, target: TargetState, *, noted: bool = False) -> None:
        """Report the new states; a started connector makes its task configs again."""
        if not noted:
            self._note(target.value, name)
        with self._lock:
            known = name in self._connectors
            tasks = [task for task in self._tasks if task.connector == name]
        if not known:
            return
        self.events.connector_state(name, _STATES[target], None)
        for task in tasks:
            self.events.task_state(task, _STATES[target], None)
        if target is TargetState.STARTED:
            self.request_task_configs(name)

    def request_task_configs(self, name: str) -> None:
        """Sources have one task, sinks as many as allowed; all get the connector's config."""
        if name in self.without_tasks:
            self.events.task_configs(name, [])
            self.events.connector_state(name, State.RUNNING, f"0 tasks: {self.without_tasks[name]}")
            return
        with self._lock:
            config = self._connectors[name]
        sink = "Sink" in config["connector.class"]
        kind = "Sink" if sink else "Source"
        made = dict(config) | {"task.class": f"org.apache.kafka.connect.file.FileStream{kind}Task"}
        count = int(config.get("tasks.max", "1")) if sink else 1
        self.events.task_configs(name, [dict(made) for _ in range(count)])

    def running_connectors(self) -> frozenset[str]:
        """Those started and not stopped."""
        with self._lock:
            return frozenset(self._connectors)

    def running_tasks(self) -> frozenset[TaskId]:
        """Those started and not stopped."""
        with self._lock:
            return frozenset(self._tasks)

    def offsets(
        self, name: str, config: Mapping[str, str], kind: PluginKind, deadline: Deadline
    ) -> list[PartitionOffset]:
        """What alter_offsets left, or what a test put into `stored_offsets`."""
        del config, kind, deadline
        self._maybe_hang(name)
        return list(self.stored_offsets.get(name, ()))

    def alter_offsets(
        self,
        name: str,
        config: Mapping[str, str],
        kind: PluginKind,
        offsets: Sequence[PartitionOffset] | None,
        deadline: Deadline,
    ) -> str:
        """Check them as the file connectors and Connect's sinks do, and store them."""
        del config, deadline
        self._note("offsets", name)
        self._maybe_hang(name)
        if offsets is None:
            self.stored_offsets.pop(name, None)
            return "The offsets for this connector have been reset successfully"
        check = _check_source if kind is PluginKind.SOURCE else _check_sink
        kept = {str(item.partition): item for item in self.stored_offsets.get(name, ())}
        for item in offsets:
            found = check(item)
            kept.pop(str(found.partition), None)
            if found.offset is not None:
                kept[str(found.partition)] = found
        self.stored_offsets[name] = list(kept.values())
        return "The offsets for this connector have been altered successfully"

    def obstacle(self) -> str | None:
        """The text that the test set."""
        return self.in_the_way

    def close(self, deadline: Deadline) -> None:
        """Stop everything."""
        self.stop_tasks(sorted(self.running_tasks(), key=str), deadline)
        for name in sorted(self.running_connectors()):
            self.stop_connector(name, deadline)

    def _note(self, verb: str, what: str) -> None:
        with self._lock:
            self.calls.append((verb, what))

    def _maybe_hang(self, name: str) -> None:
        # Longer than any deadline of a test: plugins that hang do not look at deadlines.
        if name in self.hanging:
            self.hanging[name].wait(_HANG_SECONDS)


def _check_source(item: PartitionOffset) -> PartitionOffset:
    if item.offset is None:
        return item
    if "position" not in item.offset:
        raise PluginError("Offset objects should either be null or contain the key 'position'")
    position = item.offset["position"]
    where = "The value for the 'position' key in the offset"
    if not isinstance(position, int):
        raise PluginError(f"{where} is expected to be a Long value")
    if position < 0:
        raise PluginError(f"{where} should be a non-negative value")
    if item.partition is None:
        raise PluginError("Partition objects cannot be null")
    if "filename" not in item.partition:
        raise PluginError("Partition objects should contain the key 'filename'")
    return item


def _check_sink(item: PartitionOffset) -> PartitionOffset:
    where = "for a sink connector offset"
    if item.partition is None:
        raise BadRequestError(f"The partition {where} cannot be null or missing")
    if not {"kafka_topic", "kafka_partition"} <= item.partition.keys():
        raise BadRequestError(
            f"The partition {where} must contain the keys 'kafka_topic' and 'kafka_partition'"
        )
    if item.partition["kafka_topic"] is None:
        raise BadRequestError("Kafka topic names must be valid strings and may not be null")
    if item.partition["kafka_partition"] is None:
        raise BadRequestError("Kafka partitions must be valid numbers and may not be null")
    partition = _whole(item.partition["kafka_partition"], "partition")
    kept = {"kafka_partition": partition, "kafka_topic": str(item.partition["kafka_topic"])}
    if item.offset is None:
        return PartitionOffset(kept, None)
    if "kafka_offset" not in item.offset:
        raise BadRequestError(
            "The offset for a sink connector should either be null or contain the key "
            "'kafka_offset'"
        )
    return PartitionOffset(kept, {"kafka_offset": _whole(item.offset["kafka_offset"], "offset")})


def _whole(value: Any, what: str) -> int:
    try:
        return int(str(value))
    except ValueError as error:
        shown = "null" if value is None else value
        raise BadRequestError(
            f"Failed to parse the following Kafka {what} value in the provided offsets: "
            f"'{shown}'. {what.capitalize()} values for sink connectors need to be integers."
        ) from error
