"""The states that a user can request for a connector."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

#: The figure of a task that runs but has not finished its first poll or batch.
STARTING: Final = "starting"


class Wanted(StrEnum):
    """The states that a file or a command can request."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
