"""The JVM behind pyspark: started directly or by spark-submit, connected, ended, forgotten."""

from __future__ import annotations

import logging
import os
import struct
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from penstock.errors import SetupError
from penstock.jars import pyspark_jars

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
END_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.02


class Jvm:
    """A JVM that was started directly and says where it listens once it does."""

    def __init__(self, command: list[str]) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="penstock-spark-")
        self._answer = Path(self._directory.name) / "listens"
        # It ends when its standard input does: with us, however we end.
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            env={
                **os.environ,
                "SPARK_HOME": str(pyspark_jars().parent),
                "SPARK_CONNECT_MODE": "0",
                "PYTHONHASHSEED": "0",
                "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._answer),
            },
            # Ctrl-C is for us alone: we end the JVM after its tasks.
            start_new_session=True,
        )

    @property
    def runs(self) -> bool:
        return self.process.poll() is None

    def connect(self) -> None:
        """Make it pyspark's.

        Raises:
            SetupError: it ended before it listened, or took too long.
        """
        from pyspark import SparkContext
        from pyspark.java_gateway import launch_gateway

        port, secret = self._address()
        # How pyspark is given a JVM that runs already.
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
        """End it before pyspark has it."""
        self.process.kill()
        self.process.wait(END_SECONDS)
        self._directory.cleanup()

    def _address(self) -> tuple[int, str]:
        end = time.monotonic() + _START_SECONDS
        # It writes another file first and renames it.
        while not self._answer.exists():
            if not self.runs:
                raise SetupError(f"its JVM ended with status {self.process.returncode}")
            if time.monotonic() > end:
                self.end()
                raise SetupError(f"its JVM did not listen within {_START_SECONDS:.0f} s")
            time.sleep(_POLL_SECONDS)
        data = self._answer.read_bytes()
        self._directory.cleanup()
        port, length = struct.unpack_from("!ii", data)
        return port, data[8 : 8 + length].decode()


def start_by_submit(settings: Mapping[str, str]) -> None:
    """Let pyspark start its JVM by spark-submit, with the settings its command line must carry.

    The others are set later: a command line can be read by every user of the machine.
    """
    from pyspark import SparkContext
    from pyspark.conf import SparkConf

    conf = SparkConf(loadDefaults=False)
    for name in LAUNCH_SETTINGS & settings.keys():
        conf.set(name, settings[name])
    SparkContext._ensure_initialized(conf=conf)  # noqa: SLF001 - the only way to pass memory


def runs() -> bool:
    """Whether pyspark has a JVM and it runs."""
    process = _process()
    return process is not None and process.poll() is None


def end(seconds: float = END_SECONDS) -> None:
    """End pyspark's JVM within that time, and return once it is gone."""
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
            log.debug("closing the gateway of a dead JVM failed", exc_info=True)
    SparkContext._gateway = None  # noqa: SLF001
    SparkContext._jvm = None  # noqa: SLF001
    SparkContext._active_spark_context = None  # noqa: SLF001
    SparkSession._instantiatedSession = None  # noqa: SLF001


def _process() -> Any:
    from pyspark import SparkContext

    gateway = SparkContext._gateway  # noqa: SLF001 - pyspark has no public handle on its JVM
    return getattr(gateway, "proc", None)
