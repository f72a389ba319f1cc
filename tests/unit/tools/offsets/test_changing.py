"""A change that goes wrong: what was done is told, and the connector is as it was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from penstock.client import Client, ServerError
from penstock.kafka.clients import Admin
from penstock.kernel.config.values import HIDDEN
from penstock.kernel.data.record import TopicPartition
from penstock.kernel.errors import (
    BadRequestError,
    ConflictError,
    GroupActiveError,
    NotFoundError,
    SetupError,
    StorageError,
)
from penstock.kernel.wire.models import (
    ConnectorInfo,
    ConnectorOffsets,
    ConnectorStatus,
    OffsetEntry,
    ServerInfo,
    StateInfo,
)
from penstock.offsets import ChangeError, Journal, Move, Offsets, Via, reset, set_source
from penstock.tools.offsets import changing
from penstock.tools.offsets.halt import Recreated
from penstock.tools.offsets.models import sink_map
from penstock.tools.offsets.routes import GroupRoute

PARTITION = {"query": "query"}


class Server:
    """A worker with one source, which fails where it is told to."""

    url = "http://connect:8083"

    def __init__(self, state: str = "RUNNING") -> None:
        self.state = state
        self.stored: dict[str, Any] | None = {"incrementing": 5}
        self.faults: dict[str, BaseException] = {}
        self.said: list[str] = []
        self.there = True
        self.config_told = {"connection.password": "tr0ub4dor"}
        self.cluster_id = "kafka-1"

    def server(self) -> ServerInfo:
        return ServerInfo("4.3.1", "commit", self.cluster_id)

    def _hear(self, verb: str) -> None:
        self.said.append(verb)
        if verb in self.faults:
            raise self.faults[verb]

    def connector(self, name: str) -> ConnectorInfo:
        if not self.there:
            raise NotFoundError(f"Connector {name} not found")
        return ConnectorInfo(name, self.config_told, (), "source")

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
        if "read" in self.faults and "alter" in self.said:
            raise self.faults["read"]
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


@pytest.mark.parametrize(
    "fault",
    [SetupError("no answer in 90 s"), ServerError("Request timed out", 500), ServerError("", 504)],
)
def test_what_may_still_be_done_can_be_undone(
    server: Server, offsets: Offsets, fault: Exception
) -> None:
    server.faults["alter"] = fault
    with pytest.raises(ChangeError, match=r"No offset was changed so far, .* undo a` restores"):
        offsets.apply("a", WISH)
    server.faults.clear()
    server.stored = {"incrementing": 2}  # It comes late.
    offsets.undo("a")
    assert server.stored == {"incrementing": 5}


def test_whatever_fails_it_is_started_again(server: Server, offsets: Offsets) -> None:
    server.faults = {"alter": ServerError("no", 500), "read": RuntimeError("a mistake of ours")}
    with pytest.raises(RuntimeError, match="a mistake of ours"):
        offsets.apply("a", WISH)
    assert server.state == "RUNNING"


def test_who_interrupts_is_told_what_was_done(server: Server, offsets: Offsets) -> None:
    server.faults["after"] = KeyboardInterrupt()
    with pytest.raises(ChangeError, match=r"interrupted\. 1 of 1 offsets .* is RUNNING again"):
        offsets.apply("a", WISH)


def test_an_undo_that_fails_says_what_it_did(server: Server, offsets: Offsets) -> None:
    offsets.apply("a", WISH)
    server.faults["after"] = SetupError("connection lost")
    with pytest.raises(
        ChangeError, match=r"1 of 1 offsets were changed\. .*undo a` tries it again"
    ):
        offsets.undo("a")
    server.faults = {"alter": ServerError("no", 500)}
    server.stored = {"incrementing": 2}
    with pytest.raises(ChangeError, match=r"no\. No offset was changed\. The connector"):
        offsets.undo("a")
    server.faults.clear()
    offsets.undo("a")
    assert server.stored == {"incrementing": 5}


def test_a_change_is_not_undone_in_another_cluster(server: Server, offsets: Offsets) -> None:
    offsets.apply("a", WISH)
    server.cluster_id = "kafka-2"
    later = Offsets(cast("Client", server), via=Via.REST, journal=offsets._journal, seconds=1)
    with pytest.raises(ConflictError, match=r"another Kafka cluster: .*kafka-2 now.* kafka-1"):
        later.undo("a")
    assert server.stored == {"incrementing": 2}


def test_a_name_that_is_mistyped_is_told(server: Server) -> None:
    server.there = False
    with (
        Offsets(cast("Client", server), {"bootstrap.servers": "localhost:1"}) as offsets,
        pytest.raises(NotFoundError, match=r"Connector b not found; .* no Kafka listens at"),
    ):
        offsets.show("b")


def test_it_can_not_be_started_again(server: Server, offsets: Offsets) -> None:
    server.faults["resume"] = SetupError("connection lost")
    with pytest.raises(ChangeError, match="changed, but a is still stopped: `penstock resume a`"):
        offsets.apply("a", WISH)
    assert server.stored == {"incrementing": 2}
    assert offsets.last_change("a").moves[0].before == {"incrementing": 5}
    server.state = "RUNNING"
    with pytest.raises(ChangeError, match="are as they were, but a is still stopped"):
        offsets.apply("a", WISH)


@pytest.fixture
def old_server(server: Server) -> Server:
    server.faults["stop"] = ServerError("HTTP 405 Method Not Allowed", 405)
    return server


def test_a_server_that_stops_nothing(old_server: Server, offsets: Offsets, tmp_path: Path) -> None:
    with pytest.raises(BadRequestError, match="--recreate"):
        offsets.apply("a", WISH)
    assert old_server.said == ["stop"]
    # It is deleted, but can't be created again: its config is not lost, and is told nobody.
    old_server.faults["create"] = SetupError("connection lost")
    with pytest.raises(
        ChangeError, match=r"a is deleted; create it again from .*/a-\w+\.json"
    ) as told:
        offsets.apply("a", WISH, recreate=True)
    assert "tr0ub4dor" not in str(told.value)
    (kept,) = tmp_path.rglob("deleted/a-*.json")
    assert "tr0ub4dor" in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0


def test_a_config_that_was_kept_is_not_overwritten(
    old_server: Server, offsets: Offsets, tmp_path: Path
) -> None:
    old_server.faults["create"] = SetupError("connection lost")
    with pytest.raises(ChangeError):
        offsets.apply("a", WISH, recreate=True)
    (kept,) = tmp_path.rglob("deleted/a-*.json")
    before = kept.read_text()
    # Somebody made a connector of that name, with other settings.
    old_server.there, old_server.config_told = True, {"tasks.max": "1"}
    old_server.said.clear()
    with pytest.raises(ChangeError, match=f"{kept} has its config .* remove that file"):
        offsets.apply("a", WISH, recreate=True)
    assert "delete" not in old_server.said
    assert "create" not in old_server.said
    assert kept.read_text() == before


def test_what_is_left_of_another_change_is_not_taken_for_ours(
    old_server: Server, offsets: Offsets, tmp_path: Path
) -> None:
    kept = tmp_path / "a.json"
    kept.write_text("{}")
    old_server.config_told = {"connection.password": HIDDEN}
    halt = Recreated(cast("Client", old_server), "a", kept, 1)
    with pytest.raises(BadRequestError, match=r"hides connection\.password"):
        halt.stop()
    assert halt.restore() == "RUNNING"
    assert old_server.said == []
    assert kept.read_text() == "{}"


def test_each_cluster_has_its_own_file(
    old_server: Server, offsets: Offsets, tmp_path: Path
) -> None:
    old_server.faults["create"] = SetupError("connection lost")
    for cluster_id in ("kafka-1", "kafka-2"):
        old_server.there, old_server.cluster_id = True, cluster_id
        other = Offsets(cast("Client", old_server), via=Via.REST, seconds=1)
        with pytest.raises(ChangeError, match="create it again from"):
            other.apply("a", WISH, recreate=True)
    assert len(list(tmp_path.rglob("deleted/a-*.json"))) == 2


def test_a_connector_whose_config_can_not_be_kept_is_not_deleted(
    old_server: Server, offsets: Offsets, tmp_path: Path
) -> None:
    (tmp_path / "penstock").mkdir()
    (tmp_path / "penstock" / "deleted").write_text("in the way")
    with pytest.raises(ChangeError, match=r"XDG_STATE_HOME .*No offset was changed") as told:
        offsets.apply("a", WISH, recreate=True)
    assert isinstance(told.value.__cause__, StorageError)
    assert "delete" not in old_server.said


# ------------------------------------------------------------------------------------- groups


class BusyAdmin:
    """A group whose members leave after so many questions."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self.done: list[object] = []

    def alter_group_offsets(self, group: str, offsets: object, deadline: object) -> None:
        self.refusals -= 1
        if self.refusals >= 0:
            raise GroupActiveError("stop the members of the group first")
        self.done.append(offsets)

    delete_group_offsets = alter_group_offsets


PLACE = TopicPartition("orders", 0)


@pytest.mark.parametrize(("after", "asked"), [({"kafka_offset": 7}, {PLACE: 7}), (None, [PLACE])])
def test_members_that_leave_late_are_waited_for(after: Any, asked: object) -> None:
    admin = BusyAdmin(2)
    way = GroupRoute(cast("Admin", admin), "connect-a", seconds=5)
    way.write([Move(sink_map(PLACE), {"kafka_offset": 9}, after)])
    assert admin.done == [asked]


def test_members_that_stay_are_told() -> None:
    way = GroupRoute(cast("Admin", BusyAdmin(1000)), "connect-a", seconds=0.3)
    with pytest.raises(GroupActiveError, match="stop the members"):
        way.write([Move(sink_map(PLACE), {"kafka_offset": 9}, {"kafka_offset": 7})])
