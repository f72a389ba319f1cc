"""A worker that moves no records, behind the real REST API, and the commands for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.client import Client
from penstock.kernel.data.record import TaskId
from penstock.testing.waiting import eventually
from penstock.worker.interface import State
from tests.unit.cli.run import Done, penstock
from tests.unit.worker.herder.harness import SOURCE, Bench, running
from tests.unit.worker.rest.served import Served


class Cluster:
    """Commands, and what they find."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.url = str(served.http.base_url).rstrip("/")
        self.client = Client(self.url)

    @property
    def bench(self) -> Bench:
        return self.served.bench

    def run(self, *arguments: str, stdin: str = "") -> Done:
        return penstock(*arguments, "--connect", self.url, stdin=stdin)

    def ok(self, *arguments: str, stdin: str = "") -> str:
        done = self.run(*arguments, stdin=stdin)
        assert done.status == 0, done
        return done.out

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "-o", "json").out)

    def create(self, *names: str, **config: str) -> None:
        for name in names:
            self.client.create(name, {**SOURCE, **config})
            self.bench.runs(name)

    def fail_task(self, name: str, trace: str) -> None:
        task = TaskId(name, 0)
        self.bench.events.task_state(task, State.FAILED, trace)
        eventually(lambda: self.bench.status_of(task) == "FAILED")

    def states(self, name: str) -> list[str]:
        status = self.client.status(name)
        return [status.connector.state, *(task.state for task in status.tasks)]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Cluster]:
    monkeypatch.setenv("PENSTOCK_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setattr("penstock.tools.client.arrival.SETTLE_SECONDS", 0.2)
    with running() as bench:
        served = Served(bench)
        found = Cluster(served)
        yield found
        found.client.close()
        served.close()
