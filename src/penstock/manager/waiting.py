"""Wait until connectors are in the state they were brought to, or have failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from penstock.client import Client
from penstock.client.waiting import GOALS, arrivals, lasting
from penstock.clock import Clock
from penstock.config.redaction import without_passwords
from penstock.manager.applying import Report, Result
from penstock.manager.changes import Action, Change
from penstock.wire.states import Wanted


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
    found = Arrivals()
    # A worker takes up a change a moment after it has answered: until then old states are shown.
    goals = {name: lasting(GOALS[state.upper()]) for name, state in wanted.items()}
    for name, verdict in arrivals(client, goals, seconds, clock):
        if verdict.error:
            found.failures.append(Failure(name, verdict.error, without_passwords(verdict.trace)))
        else:
            found.arrived.append(name)
        told(name)
    return found
