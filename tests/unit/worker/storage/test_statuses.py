from __future__ import annotations

import dataclasses

import pytest

from penstock.kernel.data.record import TaskId
from penstock.testing.waiting import soon
from penstock.worker.storage.interfaces import Status, TopicStatus
from penstock.worker.storage.status_records import (
    ConnectorKey,
    Key,
    TaskKey,
    TopicKey,
    Value,
    dump_value,
    parse_key,
    parse_value,
)
from penstock.worker.storage.statuses import MemoryStatusStore, is_stale, may_write

RUNNING = Status("RUNNING", "127.0.0.1:8083", 2, None, "4.1.1")

# As Apache Kafka Connect 4.1.1 wrote them.
GOLDEN: list[tuple[bytes, bytes, Key, Value]] = [
    (
        b"status-connector-a-b",
        b'{"state":"RUNNING","trace":null,"worker_id":"127.0.0.1:8083","generation":2,"version":"4.1.1"}',
        ConnectorKey("a-b"),
        RUNNING,
    ),
    (
        b"status-task-a-b-0",
        b'{"state":"FAILED","trace":"x\\n\\ty","worker_id":"h:1","generation":0,"version":null}',
        TaskKey(TaskId("a-b", 0)),
        Status("FAILED", "h:1", 0, "x\n\ty", None),
    ),
    (
        b"status-task-a-b-1",
        b'{"state":"RUNNING","trace":null,"worker_id":"127.0.0.1:8083","generation":2,"version":"4.1.1",'
        b'"figures":{"skipped_numbers":3}}',
        TaskKey(TaskId("a-b", 1)),
        dataclasses.replace(RUNNING, figures={"skipped_numbers": 3}),
    ),
    (
        b"status-topic-t.1:connector-a:b",
        b'{"topic":{"name":"t.1","connector":"a:b","task":0,"discoverTimestamp":1794771692768}}',
        TopicKey("t.1", "a:b"),
        TopicStatus("t.1", "a:b", 0, 1794771692768),
    ),
]


@pytest.mark.parametrize(("key", "data", "parsed", "value"), GOLDEN)
def test_records_both_ways(key: bytes, data: bytes, parsed: Key, value: Value) -> None:
    assert parse_key(key) == parsed
    assert str(parsed).encode() == key
    assert parse_value(parsed, data) == value
    assert dump_value(value) == data


@pytest.mark.parametrize("key", [b"", b"status-task-x", b"status-topic-x", b"other", b"\xff"])
def test_other_keys(key: bytes) -> None:
    assert parse_key(key) is None


@pytest.mark.parametrize(
    ("known", "status", "allowed"),
    [
        (None, RUNNING, True),
        (RUNNING, dataclasses.replace(RUNNING, generation=1), True),
        (RUNNING, Status("RUNNING", "other:1", 1), False),
        (RUNNING, Status("RUNNING", "other:1", 2), True),
    ],
)
def test_who_may_write(known: Status | None, status: Status, allowed: bool) -> None:
    assert may_write(known, status) is allowed


@pytest.mark.parametrize(
    ("known", "status", "stale"),
    [
        (RUNNING, Status("UNASSIGNED", "other:1", 2), True),
        (RUNNING, Status("UNASSIGNED", "other:1", 3), False),
        (RUNNING, Status("FAILED", "other:1", 1), False),
        (RUNNING, dataclasses.replace(RUNNING, state="UNASSIGNED"), False),
        (None, Status("UNASSIGNED", "other:1", 2), False),
    ],
)
def test_late_farewells(known: Status | None, status: Status, stale: bool) -> None:
    assert is_stale(known, status) is stale


def test_memory_store() -> None:
    store, later = MemoryStatusStore(), soon()
    store.start(later)
    first, second = TaskId("a", 10), TaskId("a", 9)
    store.put_connector("a", RUNNING)
    store.put_task(first, RUNNING)
    store.put_task(second, RUNNING)
    store.put_task(second, Status("FAILED", "other:1", 1))
    assert store.connector("a") == store.task(second) == RUNNING
    assert list(store.tasks("a")) == [second, first]
    store.put_topic(TopicStatus("t2", "a", 0, 1))
    store.put_topic(TopicStatus("t1", "a", 0, 1))
    assert [status.topic for status in store.topics("a")] == ["t1", "t2"]
    store.remove_topics("a")
    store.put_task(first, None)
    store.put_connector("a", None)
    store.flush(later)
    assert (store.topics("a"), store.connector("a"), list(store.tasks("a"))) == ([], None, [second])
