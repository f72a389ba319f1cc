"""Waiting until connectors are in the state that was asked for: Connect answers before they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer

from penstock.cli.connectors.traces import reason
from penstock.clock import Deadline
from penstock.errors import NotFoundError

if TYPE_CHECKING:
    from penstock.client import Client
    from penstock.wire.models import ConnectorStatus, StateInfo

Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it is so.")]
Timeout = Annotated[float, typer.Option(min=0, help="Seconds to wait at most.")]

_PAUSE: Final = 0.25
#: A status may be that of a moment ago: what may be old counts once it has stayed so for this long.
_SETTLE: Final = 2.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a status means for a goal: reached, or an error. Unless certain, it must last."""

    error: str = ""
    certain: bool = True


Goal = Callable[["ConnectorStatus"], Verdict | None]
"""None: not there yet."""


def runs(status: ConnectorStatus) -> Verdict | None:
    """The connector and all its tasks run."""
    failed = failure(status)
    if failed:
        return Verdict(failed, certain=False)
    states = [status.connector.state, *(task.state for task in status.tasks)]
    if any(state != "RUNNING" for state in states):
        return None
    # A connector may have nothing to do; usually its tasks come a moment later.
    return Verdict(certain=bool(status.tasks))


def runs_again(status: ConnectorStatus) -> Verdict | None:
    """The same after a restart, before which it may have run too."""
    found = runs(status)
    return found and Verdict(found.error, certain=False)


def is_paused(status: ConnectorStatus) -> Verdict | None:
    """The connector and its tasks are paused; a task that failed stays so."""
    if status.connector.state == "FAILED":
        return Verdict(failure(status), certain=False)
    done = status.connector.state == "PAUSED" and all(
        task.state in ("PAUSED", "FAILED") for task in status.tasks
    )
    return Verdict() if done else None


def is_stopped(status: ConnectorStatus) -> Verdict | None:
    """The connector is stopped and has no tasks."""
    return Verdict() if status.connector.state == "STOPPED" and not status.tasks else None


def failure(status: ConnectorStatus) -> str:
    """Which part has failed and why, in a line; empty if none has."""
    if status.connector.state == "FAILED":
        return f"the connector has failed{_reason(status.connector)}"
    for task in status.tasks:
        if task.state == "FAILED":
            return f"task {task.id} has failed{_reason(task)}"
    return ""


def await_goal(
    client: Client, names: Sequence[str], goal: Goal, seconds: float
) -> Iterable[tuple[str, str]]:
    """Each connector once it is settled, with what went wrong; an empty text if nothing did."""
    deadline = Deadline.after(seconds)
    waiting = dict.fromkeys(names, "it has no status yet")
    since: dict[tuple[str, str], float] = {}
    while waiting:
        for name, status in _statuses(client, list(waiting)).items():
            waiting[name] = _states(status)
            verdict = goal(status)
            if verdict is None:
                since = {key: at for key, at in since.items() if key[0] != name}
                continue
            first = since.setdefault((name, verdict.error), time.monotonic())
            if verdict.certain or time.monotonic() - first >= _SETTLE:
                del waiting[name]
                yield name, verdict.error
        if waiting and deadline.expired:
            yield from ((name, f"not within {seconds:g} s: {now}") for name, now in waiting.items())
            return
        time.sleep(_PAUSE if waiting else 0)


def _statuses(client: Client, names: Sequence[str]) -> dict[str, ConnectorStatus]:
    if len(names) > 1:
        found = client.statuses()
        return {name: found[name] for name in names if name in found}
    try:
        return {names[0]: client.status(names[0])}
    except NotFoundError:
        return {}


def _states(status: ConnectorStatus) -> str:
    tasks = ", ".join(f"task {task.id} {task.state}" for task in status.tasks)
    return f"the connector is {status.connector.state}" + (f", {tasks}" if tasks else "")


def _reason(part: StateInfo) -> str:
    lines = reason(part.trace)
    return f": {lines[0][:300]}" if lines else ""
