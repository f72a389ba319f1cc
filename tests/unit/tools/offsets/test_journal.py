"""Changes that can be undone."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from penstock.kernel.errors import StorageError
from penstock.offsets import Entry, Journal, Move
from penstock.tools.offsets.state_files import state_home

URL = "http://ops:secret@connect:8083"
MOVE = Move({"query": "query"}, {"incrementing": 5}, None)


def test_changes_are_remembered_and_undone_one_after_the_other(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    assert journal.last(URL, "a") is None
    first, second = Entry(1, "set", [MOVE]), Entry(2, "reset", [MOVE.back()])
    journal.add(URL, "a", first)
    journal.add(URL, "a", second)
    assert journal.last(URL, "a") == second
    journal.mark_undone(URL, "a", second, 3)
    assert journal.last(URL, "a") == first
    journal.drop(URL, "a", first)
    assert journal.last(URL, "a") is None
    assert journal.entries(URL, "a") == [Entry(2, "reset", [MOVE.back()], undone=3)]
    journal.add(URL, "a", Entry(4, "set", [MOVE], cluster_id="kafka-1"))
    assert journal.entries(URL, "a")[-1].cluster_id == "kafka-1"
    assert journal.entries(URL, "b") == []
    assert journal.entries("http://connect:8084", "a") == []


def test_only_the_owner_reads_it_and_no_password_is_in_it(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.add(URL, "odd/../näme", Entry(1, "set", [MOVE]))
    file = journal.file(URL, "odd/../näme")
    assert file.parent == tmp_path / "offsets"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "secret" not in file.read_text() + str(file)
    # The same cluster without them.
    assert journal.file("http://connect:8083", "x") == journal.file(URL, "x")


def test_it_does_not_grow_for_ever(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for number in range(30):
        journal.add(URL, "a", Entry(number, "set", [MOVE]))
    assert [entry.time for entry in journal.entries(URL, "a")] == list(range(10, 30))


def test_what_can_not_be_read_or_written_is_told(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.add(URL, "a", Entry(1, "set", [MOVE]))
    journal.file(URL, "a").write_text('{"entries": [{}]}')
    with pytest.raises(StorageError, match="move it away"):
        journal.last(URL, "a")
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="XDG_STATE_HOME"):
        Journal(tmp_path / "file").add(URL, "a", Entry(1, "set", [MOVE]))


def test_where_state_is_kept(tmp_path: Path) -> None:
    assert state_home({"XDG_STATE_HOME": str(tmp_path)}) == tmp_path / "penstock"
    assert state_home({}) == Path.home() / ".local" / "state" / "penstock"


def test_names_of_any_length_and_kind_have_a_file(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    names = ["n" * 400, "n" * 401, "../../etc/passwd", "ñandú/ポンプ"]
    for name in names:
        journal.add(URL, name, Entry(1, "set", [MOVE]))
    assert len({journal.file(URL, name) for name in names}) == len(names)
    assert all(journal.entries(URL, name) for name in names)
    assert all(file.parent == tmp_path / "offsets" for file in tmp_path.rglob("*.json"))
