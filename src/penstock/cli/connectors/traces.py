"""The part of a trace that tells the reason: Java has it first, Python last."""

from __future__ import annotations

from typing import Final

_SHOWN: Final = 3


def reason(trace: str | None) -> list[str]:
    """A few lines of it; none if there is no trace."""
    lines = (trace or "").rstrip().splitlines()
    if not lines or not lines[0].startswith("Traceback"):
        return lines[:_SHOWN]
    # The last frame is indented, what was raised is not.
    at = max(place for place, line in enumerate(lines) if line.startswith((" ", "Traceback")))
    return lines[at + 1 :][:_SHOWN] or lines[-1:]
