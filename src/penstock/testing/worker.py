"""A Penstock worker as a child process, started as users start it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from penstock.testing.connect import ConnectMode, ConnectProcess
from penstock.testing.processes import descendants, parent
from penstock.testing.rest import ConnectRest
from penstock.testing.waiting import WAIT_SECONDS, patient

QUICK_SPARK = {
    "spark.master": "local[2]",
    # A worker of a test runs for seconds: optimised code would not pay off.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}
"""Settings for a fast start of Spark."""

# One heap for every test worker: small enough for several on one machine.
_QUICK = {**QUICK_SPARK, "spark.driver.memory": "768m"}


class PenstockWorker(ConnectProcess):
    """`penstock distributed` or `penstock standalone`, with the Python that runs the tests."""

    def __init__(
        self,
        directory: Path,
        properties: Mapping[str, str],
        *,
        mode: ConnectMode = ConnectMode.DISTRIBUTED,
        connectors: Sequence[Path] = (),
    ) -> None:
        super().__init__(directory, {**_QUICK, **properties}, mode=mode, connectors=connectors)

    def command(self, files: Sequence[str]) -> list[str]:
        """The command line that a user would run."""
        return [sys.executable, "-m", "penstock", self.mode.name.lower(), *files]

    @cached_property
    def rest(self) -> ConnectRest:
        """Its REST API."""
        return ConnectRest(self.url)

    @property
    def log_text(self) -> str:
        """Everything the worker has logged, over all its starts."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    @property
    def spark_pid(self) -> int | None:
        """The process of Spark's JVM; None while there is none."""
        found = {pid for pid in descendants(self.child.pid) if _runs_spark(pid)}
        # A child that the JVM forks to start a program briefly has the JVM's command line.
        return max((pid for pid in found if parent(pid) not in found), default=None)

    def kill_spark(self) -> None:
        """Kill Spark's JVM, as the kernel does when memory runs out."""
        pid = self.spark_pid
        if pid is None:
            raise AssertionError("the worker has no Spark JVM")
        os.kill(pid, signal.SIGKILL)

    def wait_until(
        self, condition: Callable[[], bool], what: str, seconds: float = WAIT_SECONDS
    ) -> None:
        """Wait for a condition, or fail with the end of the worker's log."""
        self.child.wait_until(condition, patient(seconds), what)


def _runs_spark(pid: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return Path(os.fsdecode(command[0])).name == "java" and any(
        name in argument
        for argument in command
        for name in (b"PythonGatewayServer", b"SparkSubmit")
    )
