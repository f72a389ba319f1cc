"""The JVM behind pyspark: starts it directly or by spark-submit, connects and ends it."""

from __future__ import annotations

import logging
import os
import shlex
import struct
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Self

from penstock.kernel.clock import Deadline
from penstock.kernel.errors import SetupError
from penstock.machine.process import spawn

log = logging.getLogger(__name__)

#: Settings that only the command line of spark-submit can carry.
LAUNCH_SETTINGS: Final = frozenset(
    {
        "spark.master",
        "spark.driver.memory",
        "spark.driver.extraJavaOptions",
        "spark.driver.extraClassPath",
        "spark.driver.extraLibraryPath",
        "spark.jars",
        "spark.jars.packages",
        "spark.jars.ivySettings",
        "spark.submit.deployMode",
    }
)

_START_SECONDS: Final = 60.0
#: spark-submit may have to fetch packages first.
_SUBMIT_SECONDS: Final = 600.0
END_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.02


class Jvm:
    """A JVM that writes its address to a file once it listens.

    It shuts down cleanly, in seconds, when its standard input is closed. If our process is killed
    the JVM must not write another record: so the kernel kills it too, and its Python processes end.

    Args:
        scratch: where its file with the address is put; a later process removes it after a kill.
    """

    def __init__(
        self,
        command: list[str],
        environment: Mapping[str, str],
        scratch: Path,
        seconds: float = _START_SECONDS,
    ) -> None:
        self._seconds = seconds
        # Of its own, because only we may read the file: it has the JVM's secret.
        self._directory = tempfile.TemporaryDirectory(prefix="address-", dir=scratch)
        self._answer = Path(self._directory.name) / "listens"
        self.process = spawn(
            command,
            env={
                **os.environ,
                **environment,
                "SPARK_CONNECT_MODE": "0",
                "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._answer),
            },
            stdin=subprocess.PIPE,
        )

    @classmethod
    def direct(cls, command: list[str], scratch: Path) -> Self:
        """Start one without spark-submit.

        Without SPARK_HOME too: its Python processes would import pyspark from the zip file there,
        and read the list of its files 16 times for each task, which takes 0.1 s of CPU.
        """
        return cls(command, {"PYTHONHASHSEED": "0"}, scratch)

    @classmethod
    def by_submit(cls, settings: Mapping[str, str], scratch: Path) -> Self:
        """Start one by spark-submit, with the settings that must be on its command line.

        The others are set later: every user of the machine can read a command line.
        """
        from pyspark.find_spark_home import _find_spark_home

        given = ((name, settings[name]) for name in sorted(LAUNCH_SETTINGS & settings.keys()))
        options = [part for name, value in given for part in ("--conf", f"{name}={value}")]
        what = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
        script = Path(_find_spark_home()) / "bin" / "spark-submit"  # type: ignore[no-untyped-call]
        return cls([str(script), *options, *what], {}, scratch, _SUBMIT_SECONDS)

    @property
    def runs(self) -> bool:
        return self.process.poll() is None

    def connect(self) -> None:
        """Connect pyspark to it.

        Raises:
            SetupError: the JVM ended before it listened, or took too long.
        """
        from pyspark import SparkContext
        from pyspark.java_gateway import launch_gateway

        port, secret = self._address()
        # pyspark takes the address of a running JVM from these variables.
        given = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
        os.environ.update(given)
        try:
            gateway = launch_gateway()  # type: ignore[no-untyped-call]
        finally:
            for name in given:
                del os.environ[name]
        gateway.proc = self.process
        SparkContext._ensure_initialized(gateway=gateway)  # noqa: SLF001 - the only way

    def end(self) -> None:
        """Kill it before pyspark is connected."""
        self.process.kill()
        self.process.wait(END_SECONDS)
        self._directory.cleanup()

    def _address(self) -> tuple[int, str]:
        deadline = Deadline.after(self._seconds)
        # The JVM writes another file first and renames it.
        while not self._answer.exists():
            if not self.runs:
                raise SetupError(f"its JVM ended with status {self.process.returncode}")
            if deadline.expired:
                self.end()
                raise SetupError(f"its JVM did not listen within {self._seconds:.0f} s")
            time.sleep(_POLL_SECONDS)
        data = self._answer.read_bytes()
        self._directory.cleanup()
        port, length = struct.unpack_from("!ii", data)
        return port, data[8 : 8 + length].decode()


def runs() -> bool:
    """Whether pyspark has a JVM and it runs."""
    process = _process()
    return process is not None and process.poll() is None


def end(seconds: float = END_SECONDS) -> None:
    """End pyspark's JVM within so many seconds, and return once it has ended."""
    process = _process()
    forget()
    if process is None:
        return
    process.stdin.close()  # the JVM's sign to end
    try:
        process.wait(seconds)
    except Exception:  # noqa: BLE001 - subprocess.TimeoutExpired, or it was reaped already
        process.kill()


def forget() -> None:
    """Make pyspark forget a dead JVM, so that a new session starts a new one."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    gateway = SparkContext._gateway  # noqa: SLF001
    if gateway is not None:
        try:
            gateway.shutdown()
        except Exception:
            log.debug("Could not close the gateway of a dead JVM", exc_info=True)
    SparkContext._gateway = None  # noqa: SLF001
    SparkContext._jvm = None  # noqa: SLF001
    SparkContext._active_spark_context = None  # noqa: SLF001
    SparkSession._instantiatedSession = None  # noqa: SLF001


def _process() -> Any:
    from pyspark import SparkContext

    gateway = SparkContext._gateway  # noqa: SLF001 - pyspark has no public handle on its JVM
    return getattr(gateway, "proc", None)
