"""Questions are asked on a terminal only."""

from __future__ import annotations

import os
import pty
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
import typer

from penstock.cli.confirmation import confirm
from penstock.kernel.errors import ConfigError


@contextmanager
def at_a_terminal() -> Iterator[int]:
    """This process is; what is written to the keyboard, it reads."""
    keyboard, screen = pty.openpty()
    with (
        os.fdopen(screen, "r") as stdin,
        os.fdopen(os.dup(screen), "w") as stderr,
        patch.object(sys, "stdin", stdin),
        patch.object(sys, "stderr", stderr),
    ):
        yield keyboard
    os.close(keyboard)


def test_a_person_may_say_yes_or_no() -> None:
    with at_a_terminal() as keyboard:
        os.write(keyboard, b"y\n")
        confirm("Delete it?")
        shown = b""
        # A terminal gives what it has: first, perhaps, only the echo of the answer.
        while b"Delete it? [y/N]:" not in shown:
            shown += os.read(keyboard, 1000)
        for answer in (b"n\n", b"\n"):
            os.write(keyboard, answer)
            with pytest.raises(typer.Abort):
                confirm("Delete it?")


@pytest.mark.parametrize("missing", ["stdin", "stderr"])
def test_nobody_is_asked_who_can_not_see_it_or_not_answer(missing: str) -> None:
    with (
        at_a_terminal() as keyboard,
        Path(os.devnull).open("r+") as nothing,
        patch.object(sys, missing, nothing),
    ):
        os.write(keyboard, b"y\n")
        with pytest.raises(ConfigError, match=r"Delete it\? There is no terminal .* give --yes"):
            confirm("Delete it?")
