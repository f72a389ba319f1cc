"""Waits until connectors reach their new states, or have failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from penstock.kernel.clock import Clock
from penstock.kernel.config.redaction import without_passwords
from penstock.kernel.wire.states import Wanted
from penstock.tools.client import Client
from penstock.tools.client.arrival import GOALS, arrivals, lasting
from penstock.tools.manager.applying import Report, Result
from penstock.tools.manager.changes import Action, Change


@dataclass(frozen=True, slots=True)
class Failure:
    """A connector that failed, with its trace, or that was too late."""

    name: str
    message: str
    trace: str = ""


@dataclass(slots=True)
class Arrivals:
    """Those that arrived, and those that did not."""

    arrived: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


def targets(report: Report) -> dict[str, Wanted]:
    """The states that connectors will have after the changes."""
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
    on_each: Callable[[str], None] = lambda _: None,
    clock: Clock | None = None,
) -> Arrivals:
    """Wait until all are in their states or have failed, at most for `seconds`.

    `on_each` gets the name of each that has arrived or failed.
    """
    found = Arrivals()
    # A worker carries out a change a moment after it has answered: until then it shows old states.
    goals = {name: lasting(GOALS[state.upper()]) for name, state in wanted.items()}
    for name, verdict in arrivals(client, goals, seconds, clock):
        if verdict.error:
            found.failures.append(Failure(name, verdict.error, without_passwords(verdict.trace)))
        else:
            found.arrived.append(name)
        on_each(name)
    return found
