"""A Spark cluster that is not on this machine: whether it is there and has somebody to work."""

from __future__ import annotations

import importlib
import logging
import re
import socket
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import SetupError
from penstock.settings.spark import EXECUTORS_PYTHON

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

_CONNECT_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 4.0
_STANDALONE: Final = "spark://"
_DEFAULT_PORT: Final = 7077
_REASON: Final = re.compile(r"(?:Cannot run program|ModuleNotFoundError|ImportError)\b.*")


class Cluster:
    """What can be known of the master and the executors. For a local master that is nothing.

    Attributes:
        missing: what jobs wait for, in words for people; None if for nothing.
    """

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._master = settings["spark.master"]
        # Executors come when there are jobs, and go when there are none.
        self._dynamic = settings.get("spark.dynamicAllocation.enabled", "").lower() == "true"
        self.missing: str | None = None

    @property
    def _is_local(self) -> bool:
        return self._master.startswith("local")

    def check_master(self) -> None:
        """Find out at once what Spark itself finds out after a minute.

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
            f"no Spark master can be reached at {', '.join(failures)};"
            " start it, or correct spark.master"
        )

    def has_ended(self, session: SparkSession) -> bool:
        """Whether the session is over though its JVM runs: its cluster went away."""
        if self._is_local:
            return False
        try:
            return bool(_context(session).isStopped())
        except Exception:  # noqa: BLE001 - a JVM that dies now has ended as well
            return True

    def watch(self, session: SparkSession) -> None:
        """Look for executors until the session is over."""
        self.missing = None
        if not self._is_local:
            threading.Thread(
                target=self._watch, args=(session,), name="spark-executors", daemon=True
            ).start()

    def _watch(self, session: SparkSession) -> None:
        pause, tried = threading.Event(), False
        while not pause.wait(_LOOK_SECONDS) and not self.has_ended(session):
            try:
                missing = None if self._has_workers(_context(session)) else self._nobody
            except Exception:
                log.debug("could not look for executors", exc_info=True)
                continue
            if missing != self.missing:
                log.warning("%s", missing or f"Spark at {self._master} has executors now")
            self.missing = missing
            if missing is None and not tried:
                tried = True
                self._try_python(session)

    def _try_python(self, session: SparkSession) -> None:
        try:
            session.sparkContext.parallelize([0], 1).foreach(_import_what_steps_need)
        except Exception as error:  # noqa: BLE001 - told, with what to do about it
            log.warning(
                "Steps in Python can't run on the executors of %s: %s. They need a Python with"
                " Penstock: %s names it, spark.archives brings one along",
                self._master,
                _reason(str(error)),
                EXECUTORS_PYTHON,
            )

    @property
    def _nobody(self) -> str:
        return (
            f"Spark at {self._master} has no executor, so no job runs; its web page tells which"
            " workers it has and what they have left (spark.executor.memory, spark.executor.cores)"
        )

    def _has_workers(self, context: Any) -> bool:
        tracker = context.statusTracker()
        # One of them is the driver.
        if len(tracker.getExecutorInfos()) > 1:
            return True
        return self._dynamic and not len(tracker.getActiveJobIds())


def _context(session: SparkSession) -> Any:
    return session.sparkContext._jsc.sc()  # noqa: SLF001 - pyspark's own way


def _import_what_steps_need(row: int) -> None:
    """Run by an executor's Python, which has to find this very module for it."""
    del row
    for name in ("numpy", "pyarrow", "penstock.columns.arrow_map"):
        importlib.import_module(name)


def _reason(text: str) -> str:
    """The one line of a failed job's hundreds that says why."""
    found = _REASON.search(text)
    return found.group() if found else text.strip().partition("\n")[0]
