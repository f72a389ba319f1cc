"""When connectors count as being where they should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from penstock.client import Client, Expanded, ServerError
from penstock.kernel.errors import NotFoundError, PenstockError, SetupError
from penstock.kernel.wire.models import ConnectorInfo, ConnectorStatus, StateInfo, TaskRef
from penstock.testing.fakes import ManualClock
from penstock.tools.client.arrival import (
    GOALS,
    RUNNING_SECONDS,
    SETTLE_SECONDS,
    WITHOUT_TASKS_SECONDS,
    arrivals,
    lasting,
)

States = Sequence[str]


class History(Client):
    """A cluster whose connectors have been through these states, one at each quarter of a second.

    A state is written RUNNING/RUNNING*,FAILED: that of the connector, then those of its tasks, with
    an asterisk for one that is starting.
    """

    def __init__(self, clock: ManualClock, states: Mapping[str, States], tasks: int = 1) -> None:
        super().__init__("http://nowhere")
        self._now = clock
        self._tasks = tasks
        self._states = states
        self.looks: list[float] = []

    def status(self, name: str) -> ConnectorStatus:
        at = round(self._now.now() / 0.25)
        text = self._states[name][min(at, len(self._states[name]) - 1)]
        if not text:
            raise NotFoundError(name)
        connector, _, tasks = text.partition("/")
        states = [
            StateInfo(
                state.rstrip("*"),
                "w",
                None,
                f"x.BadError: {number}",
                number,
                {"starting": 1} if state.endswith("*") else None,
            )
            for number, state in enumerate(filter(None, tasks.split(",")))
        ]
        return ConnectorStatus(name, StateInfo(connector, "w", None), states, "source")

    def connector(self, name: str) -> ConnectorInfo:
        tasks = [TaskRef(name, number) for number in range(self._tasks)]
        return ConnectorInfo(name, {}, tasks, "source")

    def expanded(self) -> dict[str, Expanded]:
        self.looks.append(self._now.now())
        return {name: Expanded(self.connector(name), self._known(name)) for name in self._states}

    def _known(self, name: str) -> ConnectorStatus | None:
        try:
            return self.status(name)
        except NotFoundError:
            return None


def waited(goal: str, *states: str, tasks: int = 1, again: bool = False) -> tuple[float, str]:
    clock = ManualClock()
    client = History(clock, {"c": states}, tasks)
    wanted = lasting(GOALS[goal]) if again else GOALS[goal]
    [(name, verdict)] = arrivals(client, {"c": wanted}, 60, clock)
    assert name == "c"
    return clock.now(), verdict.summary


def test_a_connector_runs_with_all_its_tasks() -> None:
    assert waited("RUNNING", "RUNNING/RUNNING") == (RUNNING_SECONDS, "")
    states = ["", "UNASSIGNED", "RUNNING/UNASSIGNED", "RUNNING/RUNNING"]
    assert waited("RUNNING", *states) == (0.75 + RUNNING_SECONDS, "")
    states = ["RUNNING/RUNNING", "RUNNING/RUNNING,RUNNING"]
    assert waited("RUNNING", *states, tasks=2) == (0.25 + RUNNING_SECONDS, "")


def test_a_task_runs_once_its_first_poll_or_batch_is_over() -> None:
    states = ["RUNNING/RUNNING", *["RUNNING/RUNNING*"] * 8, "RUNNING/RUNNING"]
    assert waited("RUNNING", *states) == (2.25 + RUNNING_SECONDS, "")
    failed = waited("RUNNING", *states[:-1], "RUNNING/FAILED")
    assert failed == (2.25 + SETTLE_SECONDS, "task 0 has failed: x.BadError: 0")
    _, late = waited("RUNNING", "RUNNING/RUNNING*")
    assert late.endswith("task 0 RUNNING, in its first poll or batch")


def test_a_connector_may_have_no_tasks_but_usually_they_come_later() -> None:
    assert waited("RUNNING", "RUNNING", tasks=0) == (WITHOUT_TASKS_SECONDS, "")
    assert waited("RUNNING", *["RUNNING"] * 8, "RUNNING/RUNNING", tasks=0) == (
        2.0 + RUNNING_SECONDS,
        "",
    )
    # Its configs say that there will be one.
    assert waited("RUNNING", *["RUNNING"] * 80, "RUNNING/RUNNING", tasks=1) == (
        20.0 + RUNNING_SECONDS,
        "",
    )


def test_a_failure_counts_if_it_is_no_old_one() -> None:
    failed = "task 0 has failed: x.BadError: 0"
    assert waited("RUNNING", "RUNNING/FAILED") == (SETTLE_SECONDS, failed)
    assert waited("RUNNING", *["RUNNING/FAILED"] * 4, "RUNNING/RUNNING") == (
        1.0 + RUNNING_SECONDS,
        "",
    )
    assert waited("RUNNING", "FAILED")[1] == "the connector has failed"
    two = waited("RUNNING", "RUNNING/FAILED,RUNNING,FAILED", tasks=3)
    assert two[1] == "tasks 0, 2 have failed: x.BadError: 0"


def test_after_a_restart_it_must_last() -> None:
    assert waited("RUNNING", "RUNNING/RUNNING", again=True) == (SETTLE_SECONDS, "")
    states = ["RUNNING/RUNNING"] * 3 + ["RUNNING/RESTARTING", "RUNNING/RUNNING"]
    assert waited("RUNNING", *states, again=True) == (1.0 + SETTLE_SECONDS, "")


def test_pauses_and_stops() -> None:
    assert waited("PAUSED", "RUNNING/RUNNING", "PAUSED/RUNNING", "PAUSED/PAUSED") == (0.5, "")
    assert waited("PAUSED", "PAUSED/FAILED") == (0, "")
    assert waited("PAUSED", "FAILED/PAUSED")[1] == "the connector has failed"
    assert waited("STOPPED", "STOPPED/UNASSIGNED", "STOPPED") == (0.25, "")


def test_time_runs_out() -> None:
    seconds, told = waited("PAUSED", "RUNNING/PAUSED,FAILED", tasks=2)
    assert seconds == 60
    assert told == "not within 60 s: the connector is RUNNING, task 0 PAUSED, task 1 FAILED"
    assert waited("RUNNING", "")[1] == "not within 60 s: it has no status yet"


def test_a_failure_that_is_seen_when_time_runs_out_is_told() -> None:
    clock = ManualClock()
    client = History(clock, {"c": ["RUNNING/FAILED"]})
    [(_, verdict)] = arrivals(client, {"c": GOALS["RUNNING"]}, 1, clock)
    assert clock.now() == 1
    assert verdict.summary.startswith("task 0 has failed")


def test_many_are_asked_for_at_once() -> None:
    clock = ManualClock()
    names = [f"c{number}" for number in range(50)]
    client = History(clock, {name: ["", "RUNNING/RUNNING"] for name in names})
    found = list(arrivals(client, dict.fromkeys(names, GOALS["RUNNING"]), 60, clock))
    assert [name for name, _ in found] == names
    assert client.looks == [0, 0.25, 0.5]


def test_what_is_not_there_for_sure_when_time_is_out_is_late() -> None:
    clock = ManualClock()
    client = History(clock, {"a": ["RUNNING/"]}, tasks=0)
    ((_, verdict),) = arrivals(client, {"a": GOALS["RUNNING"]}, 1.0, clock)
    assert verdict.late
    assert "not within 1 s" in verdict.error


@pytest.mark.parametrize(
    "error", [SetupError("no Connect worker answers"), ServerError("a gateway says 503", 503)]
)
def test_a_worker_that_is_away_for_a_moment_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, error: PenstockError
) -> None:
    clock = ManualClock()
    status = History.status

    def away_first(self: History, name: str) -> ConnectorStatus:
        if clock.now() < 1:
            raise error
        return status(self, name)

    monkeypatch.setattr(History, "status", away_first)
    client = History(clock, {"a": ["RUNNING/RUNNING"]})
    ((_, verdict),) = arrivals(client, {"a": GOALS["RUNNING"]}, 30.0, clock)
    assert not verdict.error
    assert clock.now() >= 1
