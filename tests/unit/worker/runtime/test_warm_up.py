"""What a worker does while idle ends with it."""

from __future__ import annotations

import sys
from typing import Any, cast

import pytest

from penstock.machine.process import Child
from penstock.testing.waiting import eventually
from penstock.worker.engine.session import SparkEngine
from penstock.worker.runtime import warm_up
from penstock.worker.runtime.warm_up import WarmUp


class Engine:
    """Has a session, and is in use at once, so that nothing is rehearsed."""

    used = True

    def __init__(self, *, has_archive: bool = False) -> None:
        self.has_archive = has_archive

    def session(self) -> None:
        return None


@pytest.fixture
def makers(monkeypatch: pytest.MonkeyPatch) -> list[Child]:
    """The processes that were started to make archives; these only wait."""
    started: list[Child] = []

    def start(name: str, command: list[str], **more: Any) -> Child:
        assert command[1:] == ["-m", "penstock", "prepare", "--background"]
        waits = [sys.executable, "-c", "import time; time.sleep(600)"]
        started.append(Child(name, waits, **more))
        return started[-1]

    monkeypatch.setattr(warm_up, "Child", start)
    monkeypatch.setattr(warm_up, "ARCHIVE_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(WarmUp, "_rehearse", lambda _: None)
    return started


def run(engine: Engine, *, archive: bool = True) -> WarmUp:
    made = WarmUp(cast("SparkEngine", engine), cast("Any", None), archive=archive)
    made.start()
    return made


def test_an_archive_that_is_missing_is_made_and_given_up_when_the_worker_ends(
    makers: list[Child],
) -> None:
    running = run(Engine())
    maker = eventually(lambda: makers and makers[0])
    assert maker
    assert maker.running
    running.close()
    eventually(lambda: not maker.running)


def test_nothing_is_made_when_it_is_there_or_not_wanted(makers: list[Child]) -> None:
    both = run(Engine(has_archive=True)), run(Engine(), archive=False)
    eventually(lambda: not any(each.running for each in both))
    assert not makers
