"""The command line in this process: what it prints, and its status."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest.mock import patch

from penstock.cli.main import main


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """All that was said, in one line."""
        return " ".join(f"{self.out} {self.err}".split())


def penstock(*arguments: str, stdin: str = "") -> Done:
    out, err = io.StringIO(), io.StringIO()
    status = 0
    with (
        patch.object(sys, "argv", ["penstock", *arguments]),
        patch.object(sys, "stdin", io.StringIO(stdin)),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
    return Done(status, out.getvalue(), err.getvalue())
