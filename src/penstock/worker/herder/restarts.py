"""Which parts of a connector a restart request means; a pure function of the statuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from penstock.kernel.data.record import TaskId
from penstock.worker.interface import State
from penstock.worker.storage.interfaces import RestartRequest, Status


@dataclass(frozen=True, slots=True)
class RestartPlan:
    """What will be restarted, and the statuses to show and store meanwhile."""

    connector: Status
    tasks: Mapping[TaskId, Status]
    restart_connector: bool
    restart_tasks: tuple[TaskId, ...]


def restart_plan(
    request: RestartRequest, connector: Status, tasks: Mapping[TaskId, Status]
) -> RestartPlan:
    """The plan for a request. A task that is not included keeps its state."""
    restart_connector = _means(request, connector)
    restart_tasks = tuple(
        task
        for task, status in sorted(tasks.items(), key=lambda item: item[0].number)
        if request.include_tasks and _means(request, status)
    )
    return RestartPlan(
        connector=_restarting(connector) if restart_connector else connector,
        tasks={
            task: _restarting(status) if task in restart_tasks else status
            for task, status in tasks.items()
        },
        restart_connector=restart_connector,
        restart_tasks=restart_tasks,
    )


def _means(request: RestartRequest, status: Status) -> bool:
    return not request.only_failed or status.state == State.FAILED


def _restarting(status: Status) -> Status:
    return replace(status, state=State.RESTARTING.value)
