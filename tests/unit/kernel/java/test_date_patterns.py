"""Patterns taken apart as Java takes them apart."""

from __future__ import annotations

import pytest

from penstock.kernel.java.date_patterns import Fixed, Letters, Piece, pieces_of


@pytest.mark.parametrize(
    ("pattern", "pieces"),
    [
        ("", []),
        ("yyyyMMdd", [Letters("y", 4), Letters("M", 2), Letters("d", 2)]),
        ("d.M", [Letters("d", 1), Fixed("."), Letters("M", 1)]),
        ("''", [Fixed("'")]),
        ("'T'", [Fixed("T")]),
        ("'o''clock'h", [Fixed("o'clock"), Letters("h", 1)]),
        ("y''y", [Letters("y", 1), Fixed("'"), Letters("y", 1)]),
        ("'a'''", [Fixed("a'")]),
        ("''''", [Fixed("'"), Fixed("'")]),
        ("ü H 漢", [Fixed("ü "), Letters("H", 1), Fixed(" 漢")]),
    ],
)
def test_pieces(pattern: str, pieces: list[Piece]) -> None:
    assert pieces_of(pattern) == tuple(pieces)
