"""`penstock offsets`: options that would have no effect are refused, before anybody is asked."""

from __future__ import annotations

import pytest

from tests.unit.cli.run import penstock

NOBODY = ("--connect", "http://localhost:1", "--bootstrap-server", "localhost:1")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("set", "s", "orders:0=5", "--new"), "--new is for sources"),
        (("set", "s", "orders:0=5", "orders:1=5", "orders:0=6"), "orders:0 is given more than"),
        (("set", "s", "orders:0=5", "--offset", "n=5"), "for a sink, or --offset"),
        (("show", "--history", "3", "--via", "rest"), "leave out --via rest"),
        (("undo", "s", "--list", "--dry-run"), "--list changes nothing"),
        (("undo", "s", "--list", "--yes"), "--list changes nothing"),
        (("undo", "s", "--list", "--recreate"), "--list changes nothing"),
        (("rewind", "s"), "give one of --by, --to and --to-start"),
    ],
)
def test_what_is_refused(arguments: tuple[str, ...], problem: str) -> None:
    done = penstock("offsets", *arguments, *NOBODY)
    assert done.status == 2
    assert problem in done.words
