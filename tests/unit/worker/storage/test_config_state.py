from __future__ import annotations

import pytest

from penstock.testing.waiting import soon
from penstock.worker.storage.config_records import (
    CommitRecord,
    ConnectorRecord,
    FencingRecord,
    LoggerRecord,
    Record,
    RestartRecord,
    SessionKeyRecord,
    TargetRecord,
    TaskRecord,
    dump,
    parse,
)
from penstock.worker.storage.configs import ConfigEvents, ConfigState, MemoryConfigStore
from penstock.worker.storage.interfaces import ConnectorEntry, RestartRequest

# As Apache Kafka Connect 4.1.1 wrote them.
GOLDEN: list[tuple[bytes, bytes | None, Record]] = [
    (
        b"connector-a-b",
        b'{"properties":{"connector.class":"X","name":"a-b"}}',
        ConnectorRecord("a-b", {"connector.class": "X", "name": "a-b"}),
    ),
    (b"connector-a-b", None, ConnectorRecord("a-b", None)),
    (
        b"target-state-x",
        b'{"state":"PAUSED","state.v2":"STOPPED"}',
        TargetRecord("x", "STOPPED"),
    ),
    (b"target-state-x", b'{"state":"STARTED","state.v2":"STARTED"}', TargetRecord("x", "STARTED")),
    (b"target-state-x", None, TargetRecord("x", None)),
    (
        b"task-a-7-12",
        b'{"properties":{"task.class":"T"}}',
        TaskRecord("a-7", 12, {"task.class": "T"}),
    ),
    (b"commit-a-7", b'{"tasks":2}', CommitRecord("a-7", 2)),
    (b"tasks-fencing-a", b'{"task-count":3}', FencingRecord("a", 3)),
    (
        b"restart-connector-a",
        b'{"include-tasks":true,"only-failed":false}',
        RestartRecord("a", include_tasks=True, only_failed=False),
    ),
    (b"logger-cluster-org.x", b'{"level":"WARN"}', LoggerRecord("org.x", "WARN")),
    (
        b"session-key",
        b'{"key":"AAEC","algorithm":"HmacSHA256","creation-timestamp":1794771692768}',
        SessionKeyRecord("HmacSHA256", 1794771692768, b"\x00\x01\x02"),
    ),
]


@pytest.mark.parametrize(("key", "value", "record"), GOLDEN)
def test_records_both_ways(key: bytes, value: bytes | None, record: Record) -> None:
    assert parse(key, value) == record
    assert dump(record) == (key, value)


def test_a_target_state_of_an_old_worker() -> None:
    assert parse(b"target-state-x", b'{"state":"PAUSED"}') == TargetRecord("x", "PAUSED")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"connector-a", b"{}"),
        (b"connector-a", b"[]"),
        (b"connector-a", b"not json"),
        (b"task-a", b'{"properties":{}}'),
        (b"commit-a", b'{"tasks":"2"}'),
        (b"target-state-a", b'{"state":"RUNNING"}'),
    ],
)
def test_records_that_are_not_connect_s(key: bytes, value: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any text will do
        parse(key, value)


def test_the_session_key_is_not_shown() -> None:
    assert "secret" not in repr(SessionKeyRecord("HmacSHA256", 1, b"secret"))


def state_of(*records: Record) -> dict[str, ConnectorEntry]:
    state = ConfigState()
    for record in records:
        state.apply(record)
    return dict(state.snapshot().connectors)


A = ConnectorRecord("a", {"k": "v"})


def test_tasks_count_only_from_their_commit_on() -> None:
    tasks = [TaskRecord("a", number, {"n": str(number)}) for number in (0, 1)]
    assert state_of(A, *tasks)["a"].tasks == ()
    assert state_of(A, *tasks, CommitRecord("a", 2))["a"] == ConnectorEntry(
        {"k": "v"}, "STARTED", ({"n": "0"}, {"n": "1"})
    )


def test_fewer_tasks_later() -> None:
    first = [TaskRecord("a", number, {"n": "1"}) for number in (0, 1)]
    second = TaskRecord("a", 0, {"n": "2"})
    entry = state_of(A, *first, CommitRecord("a", 2), second, CommitRecord("a", 1))["a"]
    assert entry.tasks == ({"n": "2"},)
    assert state_of(A, *first, CommitRecord("a", 2), CommitRecord("a", 0))["a"].tasks == ()


def test_a_commit_whose_tasks_were_compacted_away_is_inconsistent() -> None:
    entry = state_of(A, TaskRecord("a", 1, {}), CommitRecord("a", 2))["a"]
    assert (entry.tasks, entry.consistent) == ((), False)
    again = state_of(A, CommitRecord("a", 1), TaskRecord("a", 0, {"n": "0"}), CommitRecord("a", 1))[
        "a"
    ]
    assert (again.tasks, again.consistent) == (({"n": "0"},), True)


def test_leftovers_of_a_deleted_connector_do_not_come_back() -> None:
    old = (TaskRecord("a", 0, {"old": "1"}), CommitRecord("a", 1))
    assert state_of(*old, A)["a"] == ConnectorEntry({"k": "v"})
    deleted = (ConnectorRecord("a", None), TargetRecord("a", None))
    assert state_of(A, *old, *deleted) == {}
    assert state_of(A, TaskRecord("a", 0, {}), *deleted, A, CommitRecord("a", 1))["a"].tasks == ()


def test_a_target_state_before_its_connector() -> None:
    stopped = TargetRecord("a", "STOPPED")
    assert state_of(stopped) == {"a": ConnectorEntry(None, "STOPPED")}
    assert state_of(stopped, A)["a"].target == "STOPPED"
    assert state_of(A, stopped, TargetRecord("a", None))["a"].target == "STARTED"


def test_memory_store_tells_its_listeners() -> None:
    restarts: list[RestartRequest] = []
    loggers: list[tuple[str, str]] = []
    told: list[int] = []
    store = MemoryConfigStore(ConfigEvents(restarts.append, lambda *pair: loggers.append(pair)))
    store.subscribe(lambda: told.append(store.snapshot().offset))
    assert store.snapshot().offset == -1
    store.put_connector("a", {"k": "v"}, soon(), target="PAUSED")
    store.put_tasks("a", [{"t": "0"}, {"t": "1"}], soon())
    assert store.snapshot().connectors == {
        "a": ConnectorEntry({"k": "v"}, "PAUSED", ({"t": "0"}, {"t": "1"}))
    }
    request = RestartRequest("a", include_tasks=True, only_failed=True)
    store.put_restart(request, soon())
    store.put_logger("org", "DEBUG", soon())
    store.remove_connector("a", soon())
    assert store.snapshot().connectors == {}
    assert (restarts, loggers) == ([request], [("org", "DEBUG")])
    assert told == [2, 5, 6, 7, 9]
