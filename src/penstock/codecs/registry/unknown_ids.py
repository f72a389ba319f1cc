"""Schema ids that could not be used a moment ago."""

from __future__ import annotations

from typing import Final

from penstock.kernel.clock import Deadline

_SECONDS: Final = 10.0
_MOST: Final = 1000


class UnknownIds:
    """Remembers briefly why an id is of no use: a topic full of it asks now and then only."""

    def __init__(self) -> None:
        self._reasons: dict[bytes, tuple[Deadline, str]] = {}

    def add(self, tag: bytes, reason: str) -> None:
        if len(self._reasons) >= _MOST:
            self._reasons.clear()
        self._reasons[tag] = (Deadline.after(_SECONDS), reason)

    def reason(self, tag: bytes) -> str | None:
        """Why the id is of no use; None if it may be."""
        until, reason = self._reasons.get(tag, (None, None))
        return None if until is None or until.expired else reason
