"""A cluster that is kept equal to its files."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from penstock.client import Client
from penstock.machine.free_ports import free_port
from penstock.manager import Plan, Report, Watch
from penstock.testing.waiting import eventually, patient
from penstock.tools.manager.watching import fingerprint
from tests.unit.tools.manager.served import Served
from tests.unit.worker.herder.harness import SOURCE

ONE = "connectors:\n  a: {connector.class: FileStreamSource, file: /in, topic: %s}\n"


@dataclass
class Heard:
    """What a watch has told."""

    plans: list[Plan] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    recoveries: int = 0

    def recovered(self) -> None:
        self.recoveries += 1


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def watch(worker: Served, tmp_path: Path, heard: Heard) -> Watch:
    return Watch(
        client=worker.client,
        paths=[tmp_path],
        prune=True,
        planned=heard.plans.append,
        applied=heard.reports.append,
        complained=heard.complaints.append,
        recovered=heard.recovered,
    )


def look(watch: Watch) -> None:
    """Files that have just changed count at the second look."""
    if not watch.look():
        assert watch.look()


def test_files_that_are_just_being_changed_are_left_alone(
    worker: Served, watch: Watch, tmp_path: Path
) -> None:
    for number in range(3):
        (tmp_path / f"{number}.yaml").write_text("connectors: {}" if number else ONE % "one")
        assert not watch.look()
    assert worker.client.connectors() == []
    assert watch.look()
    assert worker.client.connectors() == ["a"]


def test_changes_of_files_and_cluster(
    worker: Served, watch: Watch, heard: Heard, tmp_path: Path
) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(ONE % "one")
    look(watch)
    look(watch)
    assert worker.stored("a")["topic"] == "one"
    assert len(heard.plans) == len(heard.reports) == 1
    file.write_text(ONE % "two")
    look(watch)
    assert worker.stored("a")["topic"] == "two"
    worker.client.patch_config("a", {"topic": "drifted"})
    look(watch)
    assert worker.stored("a")["topic"] == "two"
    file.write_text("connectors: {}")
    look(watch)
    assert worker.client.connectors() == []
    assert heard.complaints == []


def test_a_broken_file_changes_nothing_and_is_told_once(
    worker: Served, watch: Watch, heard: Heard, tmp_path: Path
) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(ONE % "one")
    look(watch)
    file.write_text("connectors: [")
    worker.client.patch_config("a", {"topic": "drifted"})
    for _ in range(3):
        look(watch)
    assert worker.stored("a")["topic"] == "drifted"
    [complaint] = heard.complaints
    assert complaint.startswith(f"{file}:1: not valid YAML")
    file.write_text(ONE % "two")
    look(watch)
    assert worker.stored("a")["topic"] == "two"
    assert heard.recoveries == 1


def test_what_is_not_valid_and_what_fails_is_told_once(
    worker: Served, watch: Watch, heard: Heard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "c.yaml").write_text(ONE % "one")
    worker.bench.validation.errors = ("is wrong",)
    look(watch)
    look(watch)
    assert heard.complaints == [f"{tmp_path}/c.yaml:2: a: any: is wrong"]
    assert len(heard.plans) == 1
    worker.bench.validation.errors = ()
    look(watch)
    assert (heard.recoveries, worker.client.connectors()) == (1, ["a"])


def test_a_server_that_is_away_is_waited_for(
    worker: Served, heard: Heard, watch: Watch, tmp_path: Path
) -> None:
    (tmp_path / "c.yaml").write_text(ONE % "one")
    with Client(f"http://127.0.0.1:{free_port()}") as nobody:
        watch.client = nobody
        look(watch)
        look(watch)
    assert len(heard.complaints) == 1
    watch.client = worker.client
    look(watch)
    assert (heard.recoveries, worker.client.connectors()) == (1, ["a"])


def test_it_runs_until_it_is_stopped(worker: Served, watch: Watch, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(ONE % "one")
    stopped = threading.Event()
    thread = threading.Thread(target=watch.run, args=(stopped, 0.05))
    thread.start()
    eventually(lambda: worker.client.connectors() == ["a"])
    worker.client.delete("a")
    eventually(lambda: worker.client.connectors() == ["a"])
    stopped.set()
    thread.join(patient())
    assert not thread.is_alive()


def test_modules_that_others_import_count_as_files(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from _b import connectors")
    (tmp_path / "_b.py").write_text(f"connectors = [{ {'name': 'a', **SOURCE} }]")
    for paths in ([tmp_path], [tmp_path / "a.py"]):
        before = fingerprint(paths)
        assert fingerprint(paths) == before
        with (tmp_path / "_b.py").open("a") as file:
            file.write("\n")
        assert fingerprint(paths) != before
