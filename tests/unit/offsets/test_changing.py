"""A change that goes wrong: what was done is told, and the connector is as it was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from penstock.client import Client, ServerError
from penstock.errors import NotFoundError, SetupError
from penstock.offsets import (
    ChangeError,
    Journal,
    Offsets,
    Via,
    changing,
    reset,
    set_source,
)
from penstock.wire.models import (
    ConnectorInfo,
    ConnectorOffsets,
    ConnectorStatus,
    OffsetEntry,
    StateInfo,
)

PARTITION = {"query": "query"}


class Server:
    """A worker with one source, which fails where it is told to."""

    url = "http://connect:8083"

    def __init__(self, state: str = "RUNNING") -> None:
        self.state = state
        self.stored: dict[str, Any] | None = {"incrementing": 5}
        self.faults: dict[str, Exception] = {}
        self.said: list[str] = []
        self.there = True

    def _hear(self, verb: str) -> None:
        self.said.append(verb)
        if verb in self.faults:
            raise self.faults[verb]

    def connector(self, name: str) -> ConnectorInfo:
        if not self.there:
            raise NotFoundError(f"Connector {name} not found")
        return ConnectorInfo(name, {"connection.password": "tr0ub4dor"}, (), "source")

    def config(self, name: str) -> dict[str, str]:
        return dict(self.connector(name).config)

    def connectors(self) -> list[str]:
        return ["a"] if self.there else []

    def status(self, name: str) -> ConnectorStatus:
        return ConnectorStatus(name, StateInfo(self.state, "w:8083", None), (), "source")

    def stop(self, name: str) -> None:
        self._hear("stop")
        self.state = "STOPPED"

    def resume(self, name: str) -> None:
        self._hear("resume")
        self.state = "RUNNING"

    def pause(self, name: str) -> None:
        self._hear("pause")
        self.state = "PAUSED"

    def delete(self, name: str) -> None:
        self._hear("delete")
        self.there = False

    def put_config(self, name: str, config: dict[str, str]) -> None:
        self._hear("create")
        assert config == {"connection.password": "tr0ub4dor"}
        self.there = True

    def offsets(self, name: str) -> ConnectorOffsets:
        found = () if self.stored is None else (OffsetEntry(PARTITION, self.stored),)
        return ConnectorOffsets(found)

    def alter_offsets(self, name: str, entries: Sequence[OffsetEntry]) -> str:
        self._hear("alter")
        (entry,) = entries
        self.stored = None if entry.offset is None else dict(entry.offset)
        if "after" in self.faults:
            raise self.faults["after"]
        return "done"

    def reset_offsets(self, name: str) -> str:
        self.stored = None
        return "done"


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def offsets(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Offsets:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(changing, "_QUIET_SECONDS", 0.01)
    monkeypatch.setattr(changing, "_QUIET_AFTER_DELETE_SECONDS", 0.01)
    return Offsets(cast("Client", server), via=Via.REST, journal=Journal(tmp_path), seconds=1)


WISH = set_source(None, {"incrementing": 2})


def test_it_is_stopped_changed_and_started(server: Server, offsets: Offsets) -> None:
    outcome = offsets.apply("a", WISH)
    assert (server.stored, outcome.state) == ({"incrementing": 2}, "RUNNING")
    assert server.said == ["stop", "alter", "resume"]
    offsets.undo("a")
    assert server.stored == {"incrementing": 5}
    with pytest.raises(NotFoundError, match="no change"):
        offsets.undo("a")


@pytest.mark.parametrize("state", ["PAUSED", "STOPPED"])
def test_it_stays_what_it_was(server: Server, offsets: Offsets, state: str) -> None:
    server.state = state
    assert offsets.apply("a", reset()).state == state
    assert server.state == state
    assert "resume" not in server.said


def test_the_server_refuses(server: Server, offsets: Offsets) -> None:
    server.faults["alter"] = ServerError("no such field", 500)
    with pytest.raises(ChangeError, match=r"no such field\. No offset was changed\. .*RUNNING ag"):
        offsets.apply("a", WISH)
    assert server.state == "RUNNING"
    assert offsets.changes("a") == []


def test_the_answer_is_lost(server: Server, offsets: Offsets) -> None:
    server.faults["after"] = SetupError("connection lost")
    with pytest.raises(
        ChangeError, match=r"1 of 1 offsets were changed\. `penstock offsets undo a`"
    ):
        offsets.apply("a", WISH)
    assert server.state == "RUNNING"
    server.faults.clear()
    offsets.undo("a")
    assert server.stored == {"incrementing": 5}


def test_it_can_not_be_started_again(server: Server, offsets: Offsets) -> None:
    server.faults["resume"] = SetupError("connection lost")
    with pytest.raises(ChangeError, match="changed, but a is still stopped: `penstock resume a`"):
        offsets.apply("a", WISH)
    assert server.stored == {"incrementing": 2}
    assert offsets.last_change("a").moves[0].before == {"incrementing": 5}


def test_a_server_that_stops_nothing(server: Server, offsets: Offsets, tmp_path: Path) -> None:
    server.faults["stop"] = ServerError("HTTP 405 Method Not Allowed", 405)
    with pytest.raises(Exception, match="--recreate"):
        offsets.apply("a", WISH)
    assert server.said == ["stop"]
    # It is deleted, but can't be created again: its config is not lost, and is told nobody.
    server.faults["create"] = SetupError("connection lost")
    with pytest.raises(ChangeError, match=r"a is deleted; create it again from .*a\.json") as told:
        offsets.apply("a", WISH, recreate=True)
    assert "tr0ub4dor" not in str(told.value)
    (kept,) = tmp_path.rglob("deleted/a.json")
    assert "tr0ub4dor" in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0
