"""The states that a connector can be asked to have."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

#: The figure of a task that runs but has not finished its first poll or batch.
STARTING: Final = "starting"


class Wanted(StrEnum):
    """The states a file, or a command, can ask for."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
