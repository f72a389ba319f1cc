"""Wait until connectors are in the state they were brought to, or have failed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from penstock.client import Client
from penstock.clock import Clock, Deadline, SystemClock
from penstock.manager.applying import Report, Result
from penstock.manager.changes import Action, Change
from penstock.manager.connector import Wanted
from penstock.manager.secrets import without_passwords
from penstock.wire.models import ConnectorStatus, StateInfo

_BETWEEN_LOOKS: Final = 0.5
# A worker takes up a change a moment after it has answered; until then old states are shown.
_SETTLE_SECONDS: Final = 2.0
# A connector that has no tasks yet is waited for; some never have any.
_WITHOUT_TASKS_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Failure:
    """A connector that is not as wanted: it failed, with its trace, or time ran out."""

    name: str
    message: str
    trace: str = ""


@dataclass(slots=True)
class Arrivals:
    """Those that arrived, and those that did not."""

    arrived: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


def targets(report: Report) -> dict[str, Wanted]:
    """The states that connectors will have after what was done."""
    done = (each.change for each in report.of(Result.DONE))
    return {each.name: _target(each) for each in done if each.action is not Action.DELETE}


def _target(change: Change) -> Wanted:
    if change.state is not None:
        return change.state
    before = "" if change.running is None else change.running.state.lower()
    return Wanted(before) if before in (Wanted.PAUSED, Wanted.STOPPED) else Wanted.RUNNING


def wait(
    client: Client,
    wanted: Mapping[str, Wanted],
    seconds: float,
    *,
    told: Callable[[str], None] = lambda _: None,
    clock: Clock | None = None,
) -> Arrivals:
    """Wait until all are in their states or have failed, at most that long.

    `told` gets the name of each that has arrived or failed.
    """
    clock = clock or SystemClock()
    begun, deadline = clock.now(), Deadline.after(seconds, clock)
    found = Arrivals()
    waiting = dict(wanted)
    last: Mapping[str, ConnectorStatus] = {}
    while waiting and not deadline.expired:
        clock.wait(threading.Event(), min(_BETWEEN_LOOKS, deadline.remaining()))
        passed = clock.now() - begun
        if passed < min(_SETTLE_SECONDS, seconds / 2):
            continue
        last = client.statuses()
        for name, target in list(waiting.items()):
            failure = _failure(name, last.get(name))
            if failure is not None:
                found.failures.append(failure)
            elif _has_arrived(last.get(name), target, passed):
                found.arrived.append(name)
            else:
                continue
            del waiting[name]
            told(name)
    found.failures += (_late(name, each, last.get(name)) for name, each in waiting.items())
    return found


def _failure(name: str, status: ConnectorStatus | None) -> Failure | None:
    if status is None:
        return None
    if status.connector.state == "FAILED":
        return Failure(name, "the connector has failed", _trace(status.connector))
    failed = [task for task in status.tasks if task.state == "FAILED"]
    if not failed:
        return None
    tasks = ", ".join(str(task.id) for task in failed)
    return Failure(name, f"of its tasks failed: {tasks}", _trace(failed[0]))


def _trace(state: StateInfo) -> str:
    return without_passwords(state.trace or "")


def _has_arrived(status: ConnectorStatus | None, target: Wanted, passed: float) -> bool:
    if status is None or status.connector.state != target.upper():
        return False
    if target is Wanted.STOPPED:
        return True
    if not status.tasks and target is Wanted.RUNNING:
        return passed > _WITHOUT_TASKS_SECONDS
    return all(task.state == target.upper() for task in status.tasks)


def _late(name: str, target: Wanted, status: ConnectorStatus | None) -> Failure:
    now = "it has no state yet" if status is None else _states(status.connector, *status.tasks)
    return Failure(name, f"is not {target} in time: {now}")


def _states(connector: StateInfo, *tasks: StateInfo) -> str:
    shown = [f"connector {connector.state}", *(f"task {each.id} {each.state}" for each in tasks)]
    return ", ".join(shown)
