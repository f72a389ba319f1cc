"""Marks: what was replayed, in an offset and a note."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.cli.dlq.marks import MOST_NOTE, Replayed
from penstock.kernel.errors import ConflictError


def test_offsets_in_a_row_move_the_floor() -> None:
    found = Replayed(3).after([3, 4, 7, 8])
    assert found == Replayed(5, ((7, 9),))
    assert found.note == "7-8"
    assert found.after([6, 5]) == Replayed(9)


def test_a_note_of_somebody_else_is_none() -> None:
    assert Replayed.parse(4, "their words") == Replayed(4)


def test_too_many_pieces_are_refused() -> None:
    scattered = Replayed().after(range(1, 4000, 2))
    assert len(scattered.note) > MOST_NOTE
    with pytest.raises(ConflictError, match="--again"):
        scattered.check()
    Replayed().after(range(4000)).check()


@given(st.integers(0, 20), st.lists(st.sets(st.integers(0, 60), max_size=20), max_size=4))
def test_what_was_marked_is_found_again(floor: int, rounds: list[set[int]]) -> None:
    found = Replayed(floor)
    for offsets in rounds:
        found = Replayed.parse(found.floor, found.note).after(offsets)
    marked = set(range(floor)).union(*rounds)
    assert {offset for offset in range(61) if offset in found} == marked | set(range(found.floor))
    assert set(range(found.floor)) <= marked
