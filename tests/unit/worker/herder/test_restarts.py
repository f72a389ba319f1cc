from __future__ import annotations

import pytest

from penstock.kernel.data.record import TaskId
from penstock.worker.herder.restarts import restart_plan
from penstock.worker.storage.interfaces import RestartRequest, Status


def status(state: str) -> Status:
    return Status(state, "w:1", 3, trace="boom" if state == "FAILED" else None)


@pytest.mark.parametrize(
    ("include_tasks", "only_failed", "connector", "wants_connector", "wants_tasks"),
    [
        (False, False, "RUNNING", True, []),
        (True, False, "RUNNING", True, [0, 1, 2]),
        (True, True, "RUNNING", False, [1]),
        (True, True, "FAILED", True, [1]),
        (False, True, "RUNNING", False, []),
        (False, True, "FAILED", True, []),
        (True, False, "PAUSED", True, [0, 1, 2]),
    ],
)
def test_the_flags_decide_what_is_restarted(
    include_tasks: bool,
    only_failed: bool,
    connector: str,
    wants_connector: bool,
    wants_tasks: list[int],
) -> None:
    tasks = {TaskId("c", n): status(s) for n, s in enumerate(["RUNNING", "FAILED", "PAUSED"])}
    request = RestartRequest("c", include_tasks, only_failed)
    plan = restart_plan(request, status(connector), tasks)

    assert plan.restart_connector is wants_connector
    assert [task.number for task in plan.restart_tasks] == wants_tasks
    assert (plan.connector.state == "RESTARTING") is wants_connector
    for task, found in plan.tasks.items():
        expected = "RESTARTING" if task.number in wants_tasks else tasks[task].state
        assert found.state == expected


def test_the_trace_of_a_failure_stays_until_the_restart_is_done() -> None:
    plan = restart_plan(RestartRequest("c", True, True), status("FAILED"), {})
    assert plan.connector == Status("RESTARTING", "w:1", 3, trace="boom")


def test_tasks_come_in_order_of_their_numbers() -> None:
    tasks = {TaskId("c", n): status("RUNNING") for n in (10, 2, 1)}
    plan = restart_plan(RestartRequest("c", True, False), status("RUNNING"), tasks)
    assert [task.number for task in plan.restart_tasks] == [1, 2, 10]
