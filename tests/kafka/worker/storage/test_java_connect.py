"""The same topics and the same file, by the real Kafka Connect and by us, in turn."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from penstock.kafka.clients import Admin, LogRecord
from penstock.kafka.compacted_log import CompactedLog, LogEvents
from penstock.kernel.data.record import TaskId
from penstock.testing.oracle import ConnectMode, JavaConnect, distributed_properties
from penstock.testing.waiting import eventually, patient, soon
from penstock.worker.storage.config_records import dump, parse
from penstock.worker.storage.java_json import decode, encode
from penstock.worker.storage.java_objects import load_map
from penstock.worker.storage.source_offsets import FileOffsetStore
from penstock.worker.storage.status_records import dump_value, parse_key, parse_value
from penstock.worker.storage.stores import Stores
from tests.kafka.worker.storage.support import close, stores_of

SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
LINES = 20


@dataclass(frozen=True)
class Left:
    """What the real Connect said last, before it was stopped."""

    connect: JavaConnect
    properties: dict[str, str]
    files: dict[str, Path]
    status: dict[str, Any]
    tasks: dict[str, Any]
    configs: dict[str, Any]
    offsets: dict[str, Any]
    topics: dict[str, Any]


def get(connect: JavaConnect, path: str) -> Any:
    return httpx.get(connect.url + path, timeout=patient()).raise_for_status().json()


def state(connect: JavaConnect, name: str) -> str:
    answer = httpx.get(f"{connect.url}/connectors/{name}/status", timeout=patient())
    return str(answer.json().get("connector", {}).get("state"))


def position(connect: JavaConnect, name: str) -> int:
    offsets = get(connect, f"/connectors/{name}/offsets")["offsets"]
    return int(offsets[0]["offset"]["position"]) if offsets else -1


def await_state(connect: JavaConnect, name: str, wanted: str) -> None:
    eventually(lambda: state(connect, name), lambda now: now == wanted)


def await_position(connect: JavaConnect, name: str, wanted: int) -> None:
    eventually(lambda: position(connect, name), lambda now: now == wanted)


NAMES = ("running-1", "paused-ü🚀", "stopped")


@pytest.fixture(scope="module")
def left(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Left]:
    """Three connectors made by the real Connect: running, paused, stopped; a fourth deleted."""
    directory = tmp_path_factory.mktemp("java")
    properties = distributed_properties(kafka, f"java-{uuid.uuid4().hex[:8]}")
    files = {name: directory / f"{name}\u20ac.txt" for name in NAMES}
    connect = JavaConnect(directory / "worker", properties)
    connect.start()
    try:
        _use(connect, files)
        yield _describe(connect, properties, files)
    finally:
        connect.stop()


def _use(connect: JavaConnect, files: dict[str, Path]) -> None:
    for name, path in files.items():
        path.write_text(("x" * 9 + "\n") * LINES, encoding="utf-8")
        config = {"connector.class": SOURCE, "file": str(path), "topic": f"t-{uuid.uuid4().hex}"}
        _post(connect, "/connectors", {"name": name, "config": config})
    for name in files:
        await_position(connect, name, 10 * LINES)
    httpx.put(f"{connect.url}/connectors/{NAMES[1]}/pause", timeout=patient()).raise_for_status()
    httpx.put(f"{connect.url}/connectors/{NAMES[2]}/stop", timeout=patient()).raise_for_status()
    _post(
        connect,
        "/connectors",
        {
            "name": "gone",
            "config": {"connector.class": SOURCE, "file": "/nowhere", "topic": "gone"},
            "initial_state": "PAUSED",
        },
    )
    await_state(connect, "gone", "PAUSED")
    httpx.delete(f"{connect.url}/connectors/gone", timeout=patient()).raise_for_status()
    restart = f"{connect.url}/connectors/{NAMES[0]}/restart?includeTasks=true"
    httpx.post(restart, timeout=patient()).raise_for_status()
    level = f"{connect.url}/admin/loggers/org.x?scope=cluster"
    httpx.put(level, json={"level": "WARN"}, timeout=patient()).raise_for_status()
    for name, wanted in zip(NAMES, ("RUNNING", "PAUSED", "STOPPED"), strict=True):
        await_state(connect, name, wanted)


def _post(connect: JavaConnect, path: str, body: dict[str, Any]) -> None:
    eventually(
        lambda: httpx.post(connect.url + path, json=body, timeout=patient()),
        lambda answer: answer.status_code == httpx.codes.CREATED,
    )


def _describe(connect: JavaConnect, properties: dict[str, str], files: dict[str, Path]) -> Left:
    everything = get(connect, "/connectors?expand=status&expand=info")
    tasks = {name: get(connect, f"/connectors/{name}/tasks") for name in NAMES}
    offsets = {name: get(connect, f"/connectors/{name}/offsets")["offsets"] for name in NAMES}
    topics = {name: get(connect, f"/connectors/{name}/topics")[name]["topics"] for name in NAMES}
    connect.stop()
    return Left(
        connect,
        properties,
        files,
        {name: everything[name]["status"] for name in NAMES},
        tasks,
        {name: everything[name]["info"]["config"] for name in NAMES},
        offsets,
        topics,
    )


@pytest.fixture
def stores(left: Left) -> Iterator[Stores]:
    stores = stores_of(left.properties)
    yield stores
    close(stores)


def raw_records(left: Left, kind: str) -> list[LogRecord]:
    properties = {"bootstrap.servers": left.properties["bootstrap.servers"]}
    admin, records = Admin(properties), list[LogRecord]()
    topic = left.properties[f"{kind}.storage.topic"]
    log = CompactedLog(topic, properties, admin, LogEvents(records.append))
    log.start(soon())
    log.close()
    admin.close()
    assert records
    return records


def test_every_config_record_is_understood_and_written_the_same(left: Left) -> None:
    kinds = set()
    for stored in raw_records(left, "config"):
        assert stored.key is not None
        record = parse(stored.key, stored.value)
        assert record is not None, stored
        assert dump(record) == (stored.key, stored.value)
        kinds.add(type(record).__name__)
    assert kinds == {
        "CommitRecord", "ConnectorRecord", "LoggerRecord", "RestartRecord", "SessionKeyRecord",
        "TargetRecord", "TaskRecord",
    }  # fmt: skip


def test_every_status_record_is_understood_and_written_the_same(left: Left) -> None:
    kinds = set()
    for stored in raw_records(left, "status"):
        key = parse_key(stored.key or b"")
        assert key is not None, stored
        assert str(key).encode() == stored.key
        if stored.value is not None:
            assert dump_value(parse_value(key, stored.value)) == stored.value
        kinds.add(type(key).__name__)
    assert kinds == {"ConnectorKey", "TaskKey", "TopicKey"}


def test_every_offset_record_is_written_the_same(left: Left) -> None:
    for stored in raw_records(left, "offset"):
        assert stored.key is not None
        assert encode(decode(stored.key)) == stored.key
        if stored.value is not None:
            assert encode(decode(stored.value)) == stored.value


def test_our_stores_say_what_connect_s_rest_api_said(left: Left, stores: Stores) -> None:
    snapshot = stores.configs.snapshot()
    assert set(snapshot.connectors) == set(NAMES)
    for name, target in zip(NAMES, ("STARTED", "PAUSED", "STOPPED"), strict=True):
        entry = snapshot.connectors[name]
        assert (entry.config, entry.target, entry.consistent) == (left.configs[name], target, True)
        assert list(entry.tasks) == [task["config"] for task in left.tasks[name]]
        found = [{"partition": p, "offset": o} for p, o in stores.offsets.all(name)]
        assert found == left.offsets[name]
        used = [status.topic for status in stores.statuses.topics(name)]
        assert used == sorted(left.topics[name])
    status = stores.statuses.connector(NAMES[2])
    assert status is not None
    assert status.state == "UNASSIGNED", "its farewell"
    # Java asks a connector for its version that it may have let go already.
    assert status.version in ("4.1.1", None)
    assert stores.statuses.task(TaskId(NAMES[0], 0)) is not None
    assert stores.statuses.task(TaskId(NAMES[2], 0)) is None


def test_connect_goes_on_from_what_we_wrote(left: Left, stores: Stores) -> None:
    running, paused, stopped = NAMES
    partition = {"filename": str(left.files[stopped])}
    stores.offsets.put(stopped, [(partition, {"position": 10 * (LINES - 2)})], soon())
    stores.configs.put_target(running, "PAUSED", soon())
    stores.configs.remove_connector(paused, soon())
    ours = {"connector.class": SOURCE, "file": "/nowhere", "topic": "ours", "name": "ours"}
    stores.configs.put_connector("ours", ours, soon(), target="STOPPED")
    stores.configs.put_tasks("ours", [], soon())
    close(stores)
    connect = left.connect
    connect.start()
    expected = {running, stopped, "ours"}
    eventually(lambda: set(get(connect, "/connectors")), lambda found: found == expected)
    await_state(connect, running, "PAUSED")
    await_state(connect, "ours", "STOPPED")
    assert get(connect, "/connectors/ours/config") == ours
    # Java looks up partitions before it reads its topic to the end: its first answer may be empty.
    await_position(connect, stopped, 10 * (LINES - 2))
    httpx.put(f"{connect.url}/connectors/{stopped}/resume", timeout=patient()).raise_for_status()
    await_position(connect, stopped, 10 * LINES)
    connect.stop()
    again = stores_of(left.properties)
    assert again.offsets.all(stopped) == [(partition, {"position": 10 * LINES})]
    close(again)
    # The same key bytes: compaction will leave one record of this partition, not two.
    keys = {r.key for r in raw_records(left, "offset") if decode(r.key or b"")[0] == stopped}
    assert len(keys) == 1


def test_the_standalone_file_in_turn(
    kafka: str, tmp_path: Path, unique: Callable[[str], str]
) -> None:
    source, offsets = tmp_path / "in\u20ac.txt", tmp_path / "connect.offsets"
    source.write_text("123456789\n" * LINES)
    connector = tmp_path / "source.properties"
    # Java reads .properties as ISO 8859-1.
    connector.write_text(
        f"name=file-source\nconnector.class={SOURCE}\ntopic={unique('lines')}\n"
        f"file={str(source).replace('€', chr(92) + 'u20ac')}\n"
    )
    properties = {
        "bootstrap.servers": kafka,
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        "offset.storage.file.filename": str(offsets),
        "offset.flush.interval.ms": "500",
    }
    worker = JavaConnect(
        tmp_path / "worker", properties, mode=ConnectMode.STANDALONE, connectors=[connector]
    )
    partition = {"filename": str(source)}
    with worker:
        await_position(worker, "file-source", 10 * LINES)
    written_by_java = load_map(offsets.read_bytes())
    store = FileOffsetStore(offsets)
    store.start(soon())
    assert store.all("file-source") == [(partition, {"position": 10 * LINES})]
    store.put("file-source", [(partition, {"position": 10 * LINES - 30})], soon())
    store.put("other", [({"z": 1, "a": "🚀"}, {"x": 1.5})], soon())
    assert set(load_map(offsets.read_bytes())) - set(written_by_java) == {
        rb'["other",{"z":1,"a":"\uD83D\uDE80"}]'
    }
    with source.open("a") as file:
        file.write("1234\n")
    with worker:
        await_position(worker, "file-source", 10 * LINES + 5)
    store = FileOffsetStore(offsets)
    store.start(soon())
    assert store.all("file-source") == [(partition, {"position": 10 * LINES + 5})]
    assert store.all("other") == [({"z": 1, "a": "🚀"}, {"x": 1.5})]
