"""Waiting until connectors are as they should be: Connect answers before they are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from penstock.client.transport import may_pass
from penstock.clock import Clock, Deadline, SystemClock
from penstock.config.redaction import without_passwords
from penstock.errors import NotFoundError, PenstockError
from penstock.wire.models import ConnectorStatus, StateInfo
from penstock.wire.states import STARTING

if TYPE_CHECKING:
    from penstock.client.client import Client

#: A status may be that of a moment ago: what may be old counts once it has stayed so for this long.
SETTLE_SECONDS: Final = 2.0
#: A task that runs tells a moment later that it still waits for its first poll or batch.
RUNNING_SECONDS: Final = 0.25
#: The first tasks of a connector come a little later than itself; some never have any.
WITHOUT_TASKS_SECONDS: Final = 10.0

_BETWEEN_LOOKS: Final = 0.25
_FEW: Final = 3
_SHOWN_LINES: Final = 3


@dataclass(frozen=True, slots=True)
class Seen:
    """A connector at a look; `tasks` is how many it has by its configs."""

    status: ConnectorStatus
    tasks: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where a connector has arrived: at its goal, or at an error, with its trace if it has one.

    It counts once it has stayed so for `lasting` seconds.
    """

    error: str = ""
    trace: str = ""
    lasting: float = 0.0
    late: bool = False
    without_tasks: bool = False

    @property
    def told(self) -> str:
        """The error and its reason in a line, without passwords; empty if there is none."""
        lines = reason(without_passwords(self.trace))
        return f"{self.error}: {lines[0][:300]}" if lines else self.error


Goal = Callable[[Seen], Verdict | None]
"""What a look means for a connector; None: it is not there yet."""


def runs(seen: Seen) -> Verdict | None:
    """The connector and all its tasks run."""
    failed = failure(seen.status)
    if failed is not None:
        return failed
    if seen.status.connector.state != "RUNNING" or len(seen.status.tasks) < seen.tasks:
        return None
    if any(task.state != "RUNNING" or _is_starting(task) for task in seen.status.tasks):
        return None
    if not seen.status.tasks:
        return Verdict(lasting=WITHOUT_TASKS_SECONDS, without_tasks=True)
    return Verdict(lasting=RUNNING_SECONDS)


def is_paused(seen: Seen) -> Verdict | None:
    """The connector and its tasks are paused; a task that failed stays so."""
    connector, tasks = seen.status.connector, seen.status.tasks
    if connector.state == "FAILED":
        return failure(seen.status)
    done = all(task.state in ("PAUSED", "FAILED") for task in tasks)
    return Verdict() if connector.state == "PAUSED" and done else None


def is_stopped(seen: Seen) -> Verdict | None:
    """The connector is stopped and has no tasks."""
    done = seen.status.connector.state == "STOPPED" and not seen.status.tasks
    return Verdict() if done else None


def lasting(goal: Goal) -> Goal:
    """The same where a connector may have been at its goal before: after a restart, say."""

    def settled(seen: Seen) -> Verdict | None:
        found = goal(seen)
        return found and replace(found, lasting=max(found.lasting, SETTLE_SECONDS))

    return settled


GOALS: Final[Mapping[str, Goal]] = {"RUNNING": runs, "PAUSED": is_paused, "STOPPED": is_stopped}


def failure(status: ConnectorStatus) -> Verdict | None:
    """Which part has failed; None if none has."""
    if status.connector.state == "FAILED":
        return _failed("the connector has failed", status.connector)
    failed = [task for task in status.tasks if task.state == "FAILED"]
    if not failed:
        return None
    numbers = ", ".join(str(task.id) for task in failed)
    many = len(failed) > 1
    return _failed(f"task{'s' * many} {numbers} {'have' if many else 'has'} failed", failed[0])


def arrivals(
    client: Client, goals: Mapping[str, Goal], seconds: float, clock: Clock | None = None
) -> Iterator[tuple[str, Verdict]]:
    """Each connector once it has arrived; in the end those that have not, with an error.

    Args:
        client: whom to ask.
        goals: what is waited for, by connector.
        seconds: the longest time for all of them.
        clock: another clock than the machine's.
    """
    deadline = Deadline.after(seconds, clock or SystemClock())
    waiting = {name: _Waiting(goal, deadline.clock) for name, goal in goals.items()}
    client = client.until(deadline)
    while waiting:
        for name, seen in _look(client, list(waiting)).items():
            verdict = waiting[name].judge(seen)
            if verdict is not None:
                del waiting[name]
                yield name, verdict
        if deadline.expired:
            yield from ((name, each.late(seconds)) for name, each in waiting.items())
            return
        if waiting:
            deadline.clock.wait(threading.Event(), min(_BETWEEN_LOOKS, deadline.remaining()))


def reason(trace: str | None) -> list[str]:
    """The few lines of a trace that tell the reason.

    Penstock and Java have them first, Python last.
    """
    lines = (trace or "").rstrip().splitlines()
    if not lines or not lines[0].startswith("Traceback"):
        above = next((at for at, line in enumerate(lines) if not line.strip()), len(lines))
        return lines[: min(above, _SHOWN_LINES)]
    # The last frame is indented, what was raised is not.
    at = max(place for place, line in enumerate(lines) if line.startswith((" ", "Traceback")))
    return lines[at + 1 :][:_SHOWN_LINES] or lines[-1:]


class _Waiting:
    """One connector that is waited for: its last state, and since when it seems to have arrived."""

    def __init__(self, goal: Goal, clock: Clock) -> None:
        self._goal = goal
        self._clock = clock
        self._last = "it has no status yet"
        self._tentative: Verdict | None = None
        self._since = 0.0

    def judge(self, seen: Seen) -> Verdict | None:
        self._last = _states(seen.status)
        verdict = self._goal(seen)
        if verdict is None or verdict != self._tentative:
            self._tentative, self._since = verdict, self._clock.now()
        lasted = self._clock.now() - self._since
        return verdict if verdict is not None and lasted >= verdict.lasting else None

    def late(self, seconds: float) -> Verdict:
        """What is to be said when time is out: a failure, or that it is not there for sure."""
        if self._tentative is not None and self._tentative.error:
            return self._tentative
        return Verdict(f"not within {seconds:g} s: {self._last}", late=True)


def _look(client: Client, names: list[str]) -> dict[str, Seen]:
    """What there is to see; nothing while nobody answers, as a worker may just start again."""
    try:
        return _seen(client, names)
    except PenstockError as error:
        if not may_pass(error):
            raise
        return {}


def _seen(client: Client, names: list[str]) -> dict[str, Seen]:
    if len(names) > _FEW:
        found = client.expanded()
        both = {name: found[name] for name in names if name in found}
        return {
            name: Seen(each.status, len(each.info.tasks))
            for name, each in both.items()
            if each.status is not None
        }
    seen: dict[str, Seen] = {}
    for name in names:
        try:
            seen[name] = Seen(client.status(name), len(client.connector(name).tasks))
        except NotFoundError:
            continue
    return seen


def _failed(error: str, part: StateInfo) -> Verdict:
    return Verdict(error, part.trace or "", SETTLE_SECONDS)


def _is_starting(task: StateInfo) -> bool:
    return bool((task.figures or {}).get(STARTING))


def _state(task: StateInfo) -> str:
    first = ", in its first poll or batch" if _is_starting(task) else ""
    return f"task {task.id} {task.state}{first}"


def _states(status: ConnectorStatus) -> str:
    tasks = ", ".join(map(_state, status.tasks))
    return f"the connector is {status.connector.state}" + (f", {tasks}" if tasks else "")
