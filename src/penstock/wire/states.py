"""The states that a connector can be asked to have."""

from __future__ import annotations

from enum import StrEnum


class Wanted(StrEnum):
    """The states a file, or a command, can ask for."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
