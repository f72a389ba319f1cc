"""A Spark cluster on other machines: whether its master answers and it has executors."""

from __future__ import annotations

import importlib
import logging
import re
import socket
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from penstock.kernel.clock import Clock, SystemClock
from penstock.kernel.errors import SetupError
from penstock.worker.settings.spark import EXECUTORS_PYTHON

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

_CONNECT_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 4.0
#: Executors that are away for so long do not come back by themselves.
GONE_SECONDS: Final = 30.0
_STANDALONE: Final = "spark://"
_DEFAULT_PORT: Final = 7077
_REASON: Final = re.compile(r"(?:Cannot run program|ModuleNotFoundError|ImportError)\b.*")


class Cluster:
    """Checks the master and its executors; does nothing for a local master.

    Attributes:
        missing: what jobs wait for, as a message for users; None if nothing.
    """

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._master = settings["spark.master"]
        # With dynamic allocation there are executors only while there are jobs.
        self._dynamic = settings.get("spark.dynamicAllocation.enabled", "").lower() == "true"
        self.missing: str | None = None

    @property
    def _is_local(self) -> bool:
        return self._master.startswith("local")

    def check_master(self) -> None:
        """Check at once what Spark itself would notice only after a minute.

        Raises:
            SetupError: none of the addresses of a standalone master can be reached.
        """
        if not self._master.startswith(_STANDALONE):
            return
        failures = []
        for address in self._master.removeprefix(_STANDALONE).split(","):
            host, _, port = address.strip().rpartition(":")
            try:
                place = (host or address.strip(), int(port) if host else _DEFAULT_PORT)
                socket.create_connection(place, _CONNECT_SECONDS).close()
            except (OSError, ValueError) as error:
                failures.append(f"{address} ({error})")
            else:
                return
        raise SetupError(
            f"no Spark master answers at {', '.join(failures)}; start it, or correct spark.master"
        )

    def has_ended(self, session: SparkSession) -> bool:
        """Whether the session ended although its JVM runs, because its cluster is away."""
        if self._is_local:
            return False
        try:
            return bool(_context(session).isStopped())
        except Exception:  # noqa: BLE001 - a JVM that dies now has ended as well
            return True

    def watch(self, session: SparkSession) -> None:
        """Watch the executors in the background until the session ends."""
        self.missing = None
        if not self._is_local:
            threading.Thread(
                target=self._watch, args=(session,), name="spark-executors", daemon=True
            ).start()

    def _watch(self, session: SparkSession) -> None:
        pause, tried, absence = threading.Event(), False, Absence()
        while not pause.wait(_LOOK_SECONDS) and not self.has_ended(session):
            try:
                executors, waiting = self._look(_context(session))
                if absence.is_long(executors=executors, waiting=waiting) and self._answers():
                    self._give_up(session)
                    return
            except Exception:
                log.debug("Could not look for executors", exc_info=True)
                continue
            missing = self._no_executor if waiting and not executors else None
            if missing != self.missing:
                log.warning("%s", missing or f"Spark at {self._master} has executors now")
            self.missing = missing
            if missing is None and not tried:
                tried = True
                self._try_python(session)

    def _answers(self) -> bool:
        """Whether this is a standalone master that can be reached."""
        try:
            self.check_master()
        except SetupError:
            return False
        return self._master.startswith(_STANDALONE)

    def _give_up(self, session: SparkSession) -> None:
        """Stop the session, so that the next task makes a new one.

        A restarted master does not know the application: it kills the executors, and gives no
        others to a driver that has not registered again. Spark itself would wait forever.
        """
        log.warning(
            "Spark at %s removed all executors and gives no others; it may have been restarted."
            " Starting a new session",
            self._master,
        )
        _context(session).stop()

    def _try_python(self, session: SparkSession) -> None:
        try:
            session.sparkContext.parallelize([0], 1).foreach(_import_what_steps_need)
        except Exception as error:  # noqa: BLE001 - logged, with what to do about it
            log.warning(
                "Steps in Python can't run on the executors of %s: %s. They need a Python with"
                " Penstock: set its path in %s, or ship it with spark.archives",
                self._master,
                _reason(str(error)),
                EXECUTORS_PYTHON,
            )

    @property
    def _no_executor(self) -> str:
        return (
            f"Spark at {self._master} has no executor, so no job runs; see its web page for free"
            " memory and cores of its workers (spark.executor.memory, spark.executor.cores)"
        )

    def _look(self, context: Any) -> tuple[bool, bool]:
        """Whether there are executors, and whether jobs may wait for them."""
        tracker = context.statusTracker()
        # One of them is the driver.
        executors = len(tracker.getExecutorInfos()) > 1
        return executors, not self._dynamic or bool(len(tracker.getActiveJobIds()))


class Absence:
    """Whether executors that were there have been away for long."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._had_some = False
        self._since: float | None = None

    def is_long(self, *, executors: bool, waiting: bool) -> bool:
        if executors or not waiting:
            self._had_some = self._had_some or executors
            self._since = None
            return False
        if self._since is None:
            self._since = self._clock.now()
        return self._had_some and self._clock.now() - self._since >= GONE_SECONDS


def _context(session: SparkSession) -> Any:
    return session.sparkContext._jsc.sc()  # noqa: SLF001 - pyspark's own way


def _import_what_steps_need(row: int) -> None:
    """Run by an executor's Python, which must import this module for it."""
    del row
    for name in ("numpy", "pyarrow", "penstock.columns.arrow_map"):
        importlib.import_module(name)


def _reason(text: str) -> str:
    """The line with the reason, out of the hundreds of a failed job."""
    found = _REASON.search(text)
    return found.group() if found else text.strip().partition("\n")[0]
