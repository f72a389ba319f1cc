"""Waits until connectors reach a state: Connect answers requests before they do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from penstock.kernel.clock import Clock, Deadline, SystemClock
from penstock.kernel.config.redaction import without_passwords
from penstock.kernel.errors import NotFoundError, PenstockError
from penstock.kernel.wire.models import ConnectorStatus, StateInfo
from penstock.kernel.wire.states import STARTING
from penstock.tools.client.transport import may_pass

if TYPE_CHECKING:
    from penstock.tools.client.client import Client

#: A status may be outdated: it counts once it has stayed the same for this long.
SETTLE_SECONDS: Final = 2.0
#: A running task reports a moment later that it is still in its first poll or batch.
RUNNING_SECONDS: Final = 0.25
#: The first tasks of a connector start a little later than itself; some never have any.
WITHOUT_TASKS_SECONDS: Final = 10.0

_BETWEEN_LOOKS: Final = 0.25
_FEW: Final = 3
_SHOWN_LINES: Final = 3
_NO_TASKS: Final = "0 tasks: "


@dataclass(frozen=True, slots=True)
class Seen:
    """A connector's status; `tasks` is how many it has by its configs."""

    status: ConnectorStatus
    tasks: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """A connector has reached its goal, or an error, with its trace if it has one.

    It counts once it has stayed the same for `lasting` seconds. `waits_for` is what a running
    connector or task says that it waits for.
    """

    error: str = ""
    trace: str = ""
    lasting: float = 0.0
    late: bool = False
    without_tasks: bool = False
    waits_for: str = field(default="", compare=False)

    @property
    def summary(self) -> str:
        """The error and its reason in a line, without passwords; empty if there is none."""
        lines = reason(without_passwords(self.trace))
        return f"{self.error}: {lines[0][:300]}" if lines else self.error


Goal = Callable[[Seen], Verdict | None]
"""Judges a status; None: the goal is not reached yet."""


def runs(seen: Seen) -> Verdict | None:
    """The connector and all its tasks run."""
    failed = failure(seen.status)
    if failed is not None:
        return failed
    if seen.status.connector.state != "RUNNING" or len(seen.status.tasks) < seen.tasks:
        return None
    if any(task.state != "RUNNING" or _is_starting(task) for task in seen.status.tasks):
        return None
    awaited = waits_for(seen.status)
    if seen.status.tasks:
        return Verdict(lasting=RUNNING_SECONDS, waits_for=awaited)
    # A connector that says why it has no tasks has been asked for them already.
    seconds = SETTLE_SECONDS if awaited.startswith(_NO_TASKS) else WITHOUT_TASKS_SECONDS
    return Verdict(lasting=seconds, without_tasks=True, waits_for=awaited.removeprefix(_NO_TASKS))


def is_paused(seen: Seen) -> Verdict | None:
    """The connector and its tasks are paused; failed tasks stay failed."""
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
    """The same goal for a connector that may have been there before, as after a restart."""

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


def waits_for(status: ConnectorStatus) -> str:
    """What the connector or one of its tasks waits for, in a line without passwords."""
    parts = (status.connector, *status.tasks)
    lines = reason(next((each.trace for each in parts if each.trace), None))
    return without_passwords(lines[0]) if lines else ""


def arrivals(
    client: Client, goals: Mapping[str, Goal], seconds: float, clock: Clock | None = None
) -> Iterator[tuple[str, Verdict]]:
    """Each connector once it has arrived; at the end those that have not, with an error.

    Args:
        client: the worker to ask.
        goals: the goal of each connector.
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
    """The few lines of a trace that have the reason.

    Penstock and Java have them first, Python last.
    """
    lines = (trace or "").rstrip().splitlines()
    if not lines or not lines[0].startswith("Traceback"):
        above = next((at for at, line in enumerate(lines) if not line.strip()), len(lines))
        return lines[: min(above, _SHOWN_LINES)]
    # The last frame is indented, the exception is not.
    at = max(place for place, line in enumerate(lines) if line.startswith((" ", "Traceback")))
    return lines[at + 1 :][:_SHOWN_LINES] or lines[-1:]


class _Waiting:
    """One connector to wait for: its last state, and since when it seems to have arrived."""

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
        """The verdict when time has run out: a failure, or the last state."""
        if self._tentative is not None and self._tentative.error:
            return self._tentative
        return Verdict(f"not within {seconds:g} s: {self._last}", late=True)


def _look(client: Client, names: list[str]) -> dict[str, Seen]:
    """The statuses; empty while the worker does not answer, as it may be restarting."""
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
