from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.kernel.errors import StorageError
from penstock.testing.waiting import patient, soon
from penstock.worker.storage.java_objects import dump_map, load_map
from penstock.worker.storage.source_offsets import FileOffsetStore, OffsetIndex


@pytest.fixture
def store(tmp_path: Path) -> FileOffsetStore:
    return FileOffsetStore(tmp_path / "connect.offsets")


def test_put_get_and_forget(store: FileOffsetStore) -> None:
    store.start(soon())
    assert store.get("c", {"f": "1"}) is None
    store.put("c", [({"f": "2"}, {"position": 5}), ({"f": "1"}, {"position": 3})], soon())
    store.put("other", [({"f": "1"}, {"position": 9})], soon())
    store.refresh(soon())
    assert store.get("c", {"f": "1"}) == {"position": 3}
    assert store.all("c") == [({"f": "1"}, {"position": 3}), ({"f": "2"}, {"position": 5})]
    store.put("c", [({"f": "1"}, None), ({"f": "never"}, None)], soon())
    assert store.get("c", {"f": "1"}) is None
    assert store.all("c") == [({"f": "2"}, {"position": 5})]
    store.close()


def test_the_order_of_fields_does_not_matter(store: FileOffsetStore) -> None:
    store.put("c", [({"a": 1, "b": 2}, {"p": 1})], soon())
    store.put("c", [({"b": 2, "a": 1}, {"p": 2})], soon())
    assert store.all("c") == [({"a": 1, "b": 2}, {"p": 2})]


def test_a_file_is_found_again_and_java_s_keys_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "connect.offsets"
    path.write_bytes(dump_map({b'["c",{"b":2,"a":1}]': b'{"position":5}', b'["c",{"x":1}]': None}))
    store = FileOffsetStore(path)
    store.start(soon())
    assert store.all("c") == [({"b": 2, "a": 1}, {"position": 5})]
    store.put("c", [({"a": 1, "b": 2}, {"position": 6})], soon())
    assert load_map(path.read_bytes()) == {b'["c",{"b":2,"a":1}]': b'{"position":6}'}
    again = FileOffsetStore(path)
    again.start(soon())
    assert again.get("c", {"a": 1, "b": 2}) == {"position": 6}


def test_missing_and_empty_files_have_no_offsets(tmp_path: Path) -> None:
    for name in ("missing", "empty"):
        if name == "empty":
            (tmp_path / name).touch()
        store = FileOffsetStore(tmp_path / name)
        store.start(soon())
        assert store.all("c") == []


def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "connect.offsets"
    path.write_text("mine")
    with pytest.raises(StorageError, match=r"connect\.offsets.*Move the file away"):
        FileOffsetStore(path).start(soon())
    assert path.read_text() == "mine"


def test_a_directory_that_is_missing_is_named(tmp_path: Path) -> None:
    store = FileOffsetStore(tmp_path / "no" / "offsets")
    with pytest.raises(StorageError, match="can't write"):
        store.put("c", [({"f": "1"}, {"p": 1})], soon())
    assert store.get("c", {"f": "1"}) is None


WRITER = """
import sys, pathlib
from penstock.kernel.clock import Deadline
from penstock.worker.storage.source_offsets import FileOffsetStore
store = FileOffsetStore(pathlib.Path(sys.argv[1]))
later = Deadline.after(600)
store.start(later)
for n in range(100000):
    store.put("c", [({"f": str(n % 50)}, {"position": n, "pad": "x" * 2000})], later)
    print(n, flush=True)
"""


def test_kill_9_while_writing_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "connect.offsets"
    for acknowledged in (5, 60, 140):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        last = -1
        while last < acknowledged:
            last = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        last = int(([str(last), *process.stdout.read().split()])[-1])
        process.wait(patient())
        store = FileOffsetStore(path)
        store.start(soon())
        found = store.get("c", {"f": str(last % 50)})
        assert found is not None
        assert found["position"] >= last


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"not json", b"{}"),
        (b'{"a":1}', b"{}"),
        (b'["c"]', b"{}"),
        (b'["c",[]]', b"{}"),
        (b'[1,{"a":1}]', b"{}"),
        (b'["c",{"a":1}]', b"5"),
    ],
)
def test_records_that_are_no_offsets_are_skipped(key: bytes, value: bytes) -> None:
    index = OffsetIndex()
    index.apply(key, value)
    assert index.stored() == {}


def test_of_two_spellings_the_newer_counts() -> None:
    index = OffsetIndex()
    index.apply(b'["c",{"a":1,"b":2}]', b'{"p":2}', timestamp=20)
    index.apply(b'["c",{"b":2,"a":1}]', b'{"p":1}', timestamp=10)
    assert index.get("c", {"a": 1, "b": 2}) == {"p": 2}
    assert index.key_for("c", {"b": 2, "a": 1}) == b'["c",{"a":1,"b":2}]'
