"""Stores offsets while a long batch is still being written."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final, Self

from penstock.api.source import Offsets
from penstock.kernel.logs import Scope, logged_as

log = logging.getLogger(__name__)

#: A look costs milliseconds; after a crash, records written since the last one come again.
LOOK_SECONDS: Final = 1.0
#: Longer than a put may take: a thread that is later still waits for Spark, and stores nothing.
END_SECONDS: Final = 30.0


class PartOffsets:
    """Stores the offsets of finished parts, from time to time, while its block runs.

    Args:
        parts: the offsets after the first part, after the first two, and so on.
        finished: how many of the first parts are written.
        put: stores offsets; its errors are ignored, as later offsets are stored anyway.
    """

    def __init__(
        self,
        parts: Sequence[Offsets],
        *,
        finished: Callable[[], int],
        put: Callable[[Offsets], None],
        scope: Scope,
        look_seconds: float = LOOK_SECONDS,
        end_seconds: float = END_SECONDS,
    ) -> None:
        self._parts = parts
        self._finished = finished
        self._put = put
        self._scope = scope
        self._look_seconds = look_seconds
        self._end_seconds = end_seconds
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
        # The code after the block stores other offsets, or reads the stored ones.
        self._over.set()
        self._thread.join(self._end_seconds)
        if self._thread.is_alive():
            log.warning("Spark does not answer how much of the batch is written; giving up asking")

    def _run(self) -> None:
        with logged_as(self._scope):
            while not self._over.wait(self._look_seconds):
                try:
                    self._look()
                except Exception:
                    log.debug("No offset was stored within the batch this time", exc_info=True)

    def _look(self) -> None:
        finished = min(self._finished(), len(self._parts))
        if finished <= self._stored or self._over.is_set():
            return
        self._put(self._parts[finished - 1])
        self._stored = finished
