from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from penstock.kernel.data.record import TaskId
from penstock.testing.waiting import eventually, patient, soon
from penstock.worker.storage.configs import ConfigEvents, KafkaConfigStore
from penstock.worker.storage.interfaces import ConnectorEntry, RestartRequest, Status, TopicStatus
from penstock.worker.storage.stores import Stores
from tests.kafka.worker.storage.support import close, stores_of, worker_properties

Unique = Callable[[str], str]


@pytest.fixture
def open_stores(kafka: str, unique: Unique) -> Iterator[Callable[..., Stores]]:
    worker = worker_properties(kafka, unique("w"))
    opened: list[Stores] = []

    def make(events: ConfigEvents | None = None) -> Stores:
        stores = stores_of(worker, events)
        opened.append(stores)
        return stores

    yield make
    for stores in opened:
        close(stores)


def test_offsets_survive_the_worker(open_stores: Callable[..., Stores]) -> None:
    first = open_stores()
    many = [({"file": f"f{n}"}, {"position": n}) for n in range(40)]
    first.offsets.put("c", many, soon())
    first.offsets.put("c", [({"file": "f0"}, None), ({"file": "f1"}, {"position": 99})], soon())
    assert first.offsets.get("c", {"file": "f1"}) == {"position": 99}
    second = open_stores()
    assert second.offsets.all("c") == first.offsets.all("c")
    assert len(second.offsets.all("c")) == 39
    assert second.offsets.get("c", {"file": "f0"}) is None
    second.offsets.put("c", [({"file": "f2"}, {"position": 100})], soon())
    first.offsets.refresh(soon())
    assert first.offsets.get("c", {"file": "f2"}) == {"position": 100}


def test_configs_survive_the_worker(open_stores: Callable[..., Stores]) -> None:
    first = open_stores()
    assert first.configs.snapshot().offset == -1
    first.configs.put_connector("a", {"name": "a"}, soon())
    first.configs.put_tasks("a", [{"t": "0"}, {"t": "1"}], soon())
    first.configs.put_target("a", "STOPPED", soon())
    first.configs.put_connector("b", {"name": "b"}, soon(), target="PAUSED")
    first.configs.put_connector("gone", {"name": "gone"}, soon())
    first.configs.remove_connector("gone", soon())
    expected = {
        "a": ConnectorEntry({"name": "a"}, "STOPPED", ({"t": "0"}, {"t": "1"})),
        "b": ConnectorEntry({"name": "b"}, "PAUSED"),
    }
    assert first.configs.snapshot().connectors == expected
    second = open_stores()
    assert second.configs.snapshot() == first.configs.snapshot()
    assert second.configs.snapshot().offset == 10
    first.configs.put_tasks("b", [], soon())
    second.configs.refresh(soon())
    assert second.configs.snapshot().offset == 11


def test_requests_reach_other_workers_but_not_later_ones(
    open_stores: Callable[..., Stores],
) -> None:
    restarts: list[RestartRequest] = []
    loggers: list[tuple[str, str]] = []
    told: list[int] = []
    events = ConfigEvents(restarts.append, lambda *pair: loggers.append(pair))
    first, second = open_stores(), open_stores(events)
    second.configs.subscribe(lambda: told.append(1))
    request = RestartRequest("a", include_tasks=True, only_failed=False)
    first.configs.put_restart(request, soon())
    first.configs.put_logger("org.x", "DEBUG", soon())
    eventually(lambda: loggers, lambda now: now == [("org.x", "DEBUG")])
    assert restarts == [request]
    assert told
    open_stores(events)
    assert (restarts, loggers) == ([request], [("org.x", "DEBUG")])


def test_statuses_survive_the_worker(open_stores: Callable[..., Stores]) -> None:
    first = open_stores()
    running = Status("RUNNING", "w:1", 1, None, "1.0")
    tasks = [TaskId("a-b", number) for number in range(3)]
    first.statuses.put_connector("a-b", running)
    for task in tasks:
        first.statuses.put_task(task, running)
    first.statuses.put_task(tasks[1], Status("FAILED", "w:1", 1, "trace\n", "1.0"))
    first.statuses.put_task(tasks[2], None)
    first.statuses.put_topic(TopicStatus("t", "a-b", 0, 123))
    assert first.statuses.tasks("a-b").keys() == {tasks[0], tasks[1]}
    first.statuses.flush(soon())
    second = open_stores()
    assert second.statuses.connector("a-b") == running
    assert second.statuses.tasks("a-b") == first.statuses.tasks("a-b")
    assert second.statuses.topics("a-b") == [TopicStatus("t", "a-b", 0, 123)]
    first.statuses.remove_topics("a-b")
    eventually(lambda: second.statuses.topics("a-b"), lambda now: now == [])


def test_a_worker_of_an_earlier_generation_is_not_believed(
    open_stores: Callable[..., Stores],
) -> None:
    first, second = open_stores(), open_stores()
    task = TaskId("c", 0)
    first.statuses.put_task(task, Status("RUNNING", "new:1", 5))
    first.statuses.flush(soon())
    eventually(lambda: second.statuses.task(task))
    second.statuses.put_task(task, Status("UNASSIGNED", "old:1", 4))
    second.statuses.flush(soon())
    assert second.statuses.task(task) == Status("RUNNING", "new:1", 5)


def test_many_states_in_a_row_are_seen_at_once_and_end_right(
    open_stores: Callable[..., Stores],
) -> None:
    first = open_stores()
    task = TaskId("c", 0)
    for generation in range(300):
        status = Status("RUNNING", "w:1", generation)
        first.statuses.put_task(task, status)
        assert first.statuses.task(task) == status
    first.statuses.flush(soon())
    second = open_stores()
    assert second.statuses.task(task) == Status("RUNNING", "w:1", 299)


def test_a_thousand_connectors_are_read_quickly(open_stores: Callable[..., Stores]) -> None:
    first = open_stores()
    configs = first.configs
    assert isinstance(configs, KafkaConfigStore)
    for n in range(200):
        configs.put_connector(f"c{n}", {"name": f"c{n}"}, soon())
    begun = time.monotonic()
    second = open_stores()
    assert len(second.configs.snapshot().connectors) == 200
    assert time.monotonic() - begun < patient(5)
