"""What a worker does while it is idle: start Spark, rehearse, archive classes."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from penstock.kernel.clock import Deadline
from penstock.kernel.data.record import TaskId
from penstock.machine.process import Child

if TYPE_CHECKING:
    from penstock.worker.engine.session import SparkEngine
    from penstock.worker.runtime.tasks import TaskFactory

log = logging.getLogger(__name__)

_RETRY_SECONDS: Final = 5.0
#: Making archives takes a core for half a minute, so it waits until the first records are done.
ARCHIVE_AFTER_SECONDS: Final = 20.0
_ARCHIVE_SECONDS: Final = 900.0
_TASK: Final = TaskId("rehearsal", 0)


class WarmUp:
    """Runs on a thread of its own, until it is done or close() ends it.

    Args:
        archive: whether to make missing class archives.
    """

    def __init__(
        self, engine: SparkEngine, tasks: Callable[[], TaskFactory], *, archive: bool
    ) -> None:
        self._engine = engine
        self._tasks = tasks
        self._archive = archive
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="warm-up", daemon=True)

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()

    def _run(self) -> None:
        if not self._started():
            return
        try:
            self._rehearse()
            self._make_archives()
        except Exception:
            log.debug("Warming up ended early", exc_info=True)

    def _started(self) -> bool:
        """Start Spark, and try again if that fails; False if the worker ends before."""
        while not self._stop.is_set():
            try:
                self._engine.session()
            except Exception as error:  # noqa: BLE001 - whatever it is, it may pass
                log.warning("%s Trying again every %.0f s", error, _RETRY_SECONDS)
                self._stop.wait(_RETRY_SECONDS)
            else:
                return True
        return False

    def _rehearse(self) -> None:
        from penstock.worker.pipeline.rehearsal import rehearse

        tasks = self._tasks()
        rehearse(self._engine, tasks.typical_converters(), tasks.clients.producer(_TASK, {}))

    def _make_archives(self) -> None:
        if not self._archive or self._engine.has_archive:
            return
        if self._stop.wait(ARCHIVE_AFTER_SECONDS):
            return
        command = [sys.executable, "-m", "penstock", "prepare", "--background"]
        with Child("making class archives", command, log=Path(os.devnull)) as maker:
            deadline = Deadline.after(_ARCHIVE_SECONDS)
            while maker.running and not deadline.expired and not self._stop.wait(1.0):
                pass
