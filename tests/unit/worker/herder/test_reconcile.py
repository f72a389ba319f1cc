from __future__ import annotations

from penstock.kernel.data.record import TaskId
from penstock.worker.herder.reconcile import Change, Started, StartedConnector, StartedTask, changes
from penstock.worker.interface import TargetState
from penstock.worker.storage.interfaces import ClusterSnapshot, ConnectorEntry

OLD, NEW = {"name": "c", "v": "1"}, {"name": "c", "v": "2"}
T0, T1 = TaskId("c", 0), TaskId("c", 1)


def wanted(**entry: object) -> ClusterSnapshot:
    return ClusterSnapshot({"c": ConnectorEntry(**entry)})  # type: ignore[arg-type]


def told(*tasks: TaskId, target: TargetState = TargetState.STARTED) -> Started:
    return Started(
        {"c": StartedConnector(OLD, target)},
        {"c": {task: StartedTask(OLD, {"task": str(task.number)}) for task in tasks}},
        {"c": OLD},
    )


def only(snapshot: ClusterSnapshot, started: Started) -> Change:
    (change,) = changes(snapshot, started, ["c"])
    return change


def test_nothing_to_do_when_everything_is_as_wanted() -> None:
    snapshot = wanted(config=OLD, tasks=({"task": "0"},))
    assert list(changes(snapshot, told(T0), ["c"])) == []


def test_stored_tasks_start_with_their_connector() -> None:
    change = only(wanted(config=OLD, target="PAUSED", tasks=({"task": "0"},)), Started())
    assert change.start == StartedConnector(OLD, TargetState.PAUSED)
    assert change.start_tasks == {T0: StartedTask(OLD, {"task": "0"})}
    assert change.target is TargetState.PAUSED


def test_a_new_config_restarts_the_connector_and_leaves_its_tasks_until_they_are_made_anew() -> (
    None
):
    change = only(wanted(config=NEW, tasks=({"task": "0"},)), told(T0))
    assert change.stop
    assert change.start == StartedConnector(NEW, TargetState.STARTED)
    assert change.stop_tasks == ()
    assert change.start_tasks == {}


def test_tasks_restart_when_the_connector_config_they_were_made_from_changed() -> None:
    started = told(T0)
    started.connectors["c"] = StartedConnector(NEW, TargetState.STARTED)
    started.applied["c"] = NEW
    change = only(wanted(config=NEW, tasks=({"task": "0"},)), started)
    assert change.stop_tasks == (T0,)
    assert change.start_tasks == {T0: StartedTask(NEW, {"task": "0"})}
    assert not change.stop


def test_only_tasks_that_differ_restart() -> None:
    change = only(wanted(config=OLD, tasks=({"task": "0"}, {"task": "other"})), told(T0, T1))
    assert change.stop_tasks == (T1,)
    assert list(change.start_tasks) == [T1]


def test_stopping_takes_the_tasks_down() -> None:
    change = only(wanted(config=OLD, target="STOPPED"), told(T0, T1))
    assert change.stop_tasks == (T0, T1)
    assert change.retarget is TargetState.STOPPED
    assert not change.stop


def test_pausing_touches_no_task() -> None:
    change = only(wanted(config=OLD, target="PAUSED", tasks=({"task": "0"},)), told(T0))
    assert change.retarget is TargetState.PAUSED
    assert (change.stop_tasks, change.start_tasks) == ((), {})


def test_a_deleted_connector_goes_with_its_tasks() -> None:
    change = only(ClusterSnapshot(), told(T0))
    assert change.stop
    assert change.stop_tasks == (T0,)
    assert change.start is None


def test_torn_task_configs_start_nothing() -> None:
    change = only(wanted(config=OLD, tasks=({"task": "0"},), consistent=False), Started())
    assert change.start is not None
    assert change.start_tasks == {}
