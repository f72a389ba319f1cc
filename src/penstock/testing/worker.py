"""A Penstock worker as a child process, started as users start it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from penstock.testing.connect import ConnectProcess


class PenstockWorker(ConnectProcess):
    """`penstock distributed` or `penstock standalone`, with the Python that runs the tests."""

    def command(self, files: Sequence[str]) -> list[str]:
        """The command line of a user."""
        return [sys.executable, "-m", "penstock", self.mode.name.lower(), *files]
