"""A worker whose broker insists on a login: all its clients, in Python and in Spark's JVM."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.testing.connect import distributed_properties
from penstock.testing.worker import PenstockWorker
from tests.secured_broker import PASSWORD, Secured, logged_in

# So many waiting records are read by Spark, not by the task's consumer.
LINES = 25_000


@pytest.mark.parametrize("login", ["SCRAM-SHA-512", "certificate"])
def test_records_pass(secured: Secured, tmp_path: Path, login: str) -> None:
    keys = logged_in(secured, login)
    # Connect's own clients and those of its connectors are told apart, so files say it four times.
    prefixes = ("", "producer.", "consumer.", "admin.")
    everywhere = {f"{prefix}{key}": value for prefix in prefixes for key, value in keys.items()}
    properties = everywhere | distributed_properties(keys["bootstrap.servers"], f"g-{login}")
    inbound, outbound, topic = tmp_path / "in.txt", tmp_path / "out.txt", f"lines-{login}"
    text = "".join(f"line {number}\n" for number in range(LINES))
    inbound.write_text(text)
    with PenstockWorker(tmp_path / "worker", properties) as worker:
        config = {"connector.class": "FileStreamSource", "file": str(inbound), "topic": topic}
        worker.rest.create_running("source", config)
        size = inbound.stat().st_size
        worker.rest.await_offsets(
            "source", lambda found: [each["offset"]["position"] for each in found] == [size]
        )
        sink = {"connector.class": "FileStreamSink", "file": str(outbound), "topics": topic}
        worker.rest.create_running("sink", sink)
        worker.rest.eventually(
            lambda: outbound.stat().st_size if outbound.exists() else 0, lambda at: at >= size
        )
        assert outbound.read_text() == text
        assert PASSWORD not in worker.log_text
