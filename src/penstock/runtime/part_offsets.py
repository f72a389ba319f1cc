"""Offsets that are stored while a long batch is still being written."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final, Self

from penstock.api.source import Offsets
from penstock.logs import Scope, logged_as

log = logging.getLogger(__name__)

#: A look costs some milliseconds; what is written between two of them may come again.
LOOK_SECONDS: Final = 1.0


class PartOffsets:
    """Stores what is true already, from time to time, while its block runs.

    Args:
        parts: the offsets that are true once the first part is written, the first two, and so on.
        finished: how many of the first parts are written.
        put: stores offsets; what it raises is of no consequence, as more are stored later.
    """

    def __init__(
        self,
        parts: Sequence[Offsets],
        *,
        finished: Callable[[], int],
        put: Callable[[Offsets], None],
        scope: Scope,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._parts = parts
        self._finished = finished
        self._put = put
        self._scope = scope
        self._look_seconds = look_seconds
        self._stored = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"parts-{scope}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Whoever comes next stores other offsets, or reads those that are stored.
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        with logged_as(self._scope):
            while not self._over.wait(self._look_seconds):
                try:
                    self._look()
                except Exception:
                    log.debug("no offset is stored within this batch for now", exc_info=True)

    def _look(self) -> None:
        finished = min(self._finished(), len(self._parts))
        if finished <= self._stored or self._over.is_set():
            return
        self._put(self._parts[finished - 1])
        self._stored = finished
