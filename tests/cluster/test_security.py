"""A worker whose broker insists on a login: all its clients, in Python and in Spark's JVM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from penstock.testing.connect import distributed_properties
from penstock.testing.worker import PenstockWorker
from tests.secured_broker import PASSWORD, Secured, logged_in

# So many waiting records are read by Spark, not by the task's consumer.
LINES = 25_000


@pytest.fixture(scope="module")
def worker(secured: Secured, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PenstockWorker]:
    """A worker that logs in with a password."""
    keys = logged_in(secured, "SCRAM-SHA-512")
    # Connect's own clients and those of its connectors are told apart, so files say it four times.
    everywhere = keys | prefixed(keys, "producer.", "consumer.", "admin.")
    properties = everywhere | distributed_properties(keys["bootstrap.servers"], "logged-in")
    with PenstockWorker(tmp_path_factory.mktemp("worker"), properties) as found:
        yield found


def prefixed(keys: Mapping[str, str], *prefixes: str) -> dict[str, str]:
    return {f"{prefix}{key}": value for prefix in prefixes for key, value in keys.items()}


@pytest.mark.parametrize("login", ["worker's", "certificate"])
def test_records_pass(worker: PenstockWorker, secured: Secured, tmp_path: Path, login: str) -> None:
    """With the worker's login, and with one that connectors have instead of it."""
    own: dict[str, str] = {}
    if login == "certificate":
        keys = logged_in(secured, login)
        own = prefixed(keys, "producer.override.", "consumer.override.", "admin.override.")
    inbound, outbound, topic = tmp_path / "in.txt", tmp_path / "out.txt", f"lines-{login[:6]}"
    text = "".join(f"line {number}\n" for number in range(LINES))
    inbound.write_text(text)
    source = {"connector.class": "FileStreamSource", "file": str(inbound), "topic": topic}
    worker.rest.create_running(f"source-{login[:6]}", source | own)
    size = inbound.stat().st_size
    worker.rest.await_offsets(
        f"source-{login[:6]}",
        lambda found: [each["offset"]["position"] for each in found] == [size],
    )
    sink = {"connector.class": "FileStreamSink", "file": str(outbound), "topics": topic}
    worker.rest.create_running(f"sink-{login[:6]}", sink | own)
    worker.rest.eventually(
        lambda: outbound.stat().st_size if outbound.exists() else 0, lambda at: at >= size
    )
    assert outbound.read_text() == text
    assert PASSWORD not in worker.log_text
