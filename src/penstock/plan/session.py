"""The one SparkSession of a worker: made when first needed, shared, rebuilt when its JVM dies."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from penstock.clock import Deadline
from penstock.errors import DeadlineExceededError, SessionLostError, SetupError
from penstock.jars import classpath
from penstock.java import find_java
from penstock.settings.spark import FIXED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

DEFAULTS: Final[dict[str, str]] = {
    "spark.master": "local[*]",
    "spark.app.name": "penstock",
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # One connector can neither starve nor block another: a pool for each, shared fairly.
    "spark.scheduler.mode": "FAIR",
    **FIXED,
    # A micro-batch has one partition for each task: shuffles and adaptive plans only cost here.
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    # A filter that asks whether a converter failed must stay above the converter: pushed below
    # it, Spark runs the converter twice, once for the filter and once for the data.
    "spark.sql.optimizer.excludedRules": ",".join(
        f"org.apache.spark.sql.catalyst.optimizer.{rule}"
        for rule in ("PushDownPredicates", "PushPredicateThroughNonJoin")
    ),
    # A worker runs for months: keep little history of finished jobs.
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "200",
    "spark.sql.ui.retainedExecutions": "5",
}

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

JAVA_OPTIONS: Final = (
    "-XX:+UseSerialGC -Xss512k -XX:ReservedCodeCacheSize=96m -XX:MaxMetaspaceSize=320m"
    " -Djava.net.preferIPv4Stack=true"
    # Spark's code for a long chain of transformations is one method. Java's compiler leaves alone
    # what has more than 8,000 bytes: such code would run at half the speed.
    " -XX:-DontCompileHugeMethods"
)
#: Broken bytes may say that a text of gigabytes follows: Avro must not take room for it.
AVRO_LIMITS: Final = (
    "-Dorg.apache.avro.limits.string.maxLength=134217728"
    " -Dorg.apache.avro.limits.bytes.maxLength=134217728"
    " -Dorg.apache.avro.limits.collectionItems.maxLength=16777216"
)


CLOSE_SECONDS: Final = 2.0


class SparkEngine:
    """Owns the session. Every method may be called from any thread."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = {**DEFAULTS, **settings}
        self._lock = threading.Lock()
        self._session: SparkSession | None = None
        self._generation = 0
        self._closed = False

    @property
    def generation(self) -> int:
        """Grows with each session; columns made under another generation are of no use."""
        return self._generation

    @property
    def alive(self) -> bool:
        """Whether there is a session and its JVM runs."""
        return self._session is not None and _gateway_process_runs()

    def warm_up(self) -> None:
        """Start the session in the background, so that the first task does not wait for it."""
        threading.Thread(target=self._warm_up, name="spark-warm-up", daemon=True).start()

    def session(self, deadline: Deadline | None = None) -> SparkSession:
        """The session, started or rebuilt if need be.

        Raises:
            SetupError: Spark can't start on this machine.
            DeadlineExceededError: it did not start in time.
        """
        deadline = deadline or Deadline.after(120)
        if not self._lock.acquire(timeout=deadline.remaining()):
            message = "ran out of time while waiting for Spark to start"
            raise DeadlineExceededError(message)
        try:
            if self._closed:
                message = "the worker is stopping"
                raise SessionLostError(message)
            if not self.alive:
                self._start()
            assert self._session is not None  # noqa: S101 - _start() sets it or raises
            return self._session
        finally:
            self._lock.release()

    def session_for(self, group: str, pool: str) -> SparkSession:
        """The session, with the calling thread's jobs put into one group and one fair pool."""
        session = self.session()
        context = session.sparkContext
        context.setJobGroup(group, group, interruptOnCancel=True)
        context.setLocalProperty("spark.scheduler.pool", pool)
        return session

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Turn whatever fails in the block because the JVM died into SessionLostError."""
        # The first one may start within the block.
        generation = self._generation or 1
        try:
            yield
        except Exception as error:
            if not isinstance(error, SessionLostError) and (
                self._generation != generation or self._lost_soon()
            ):
                message = "the Spark JVM went away while a batch was running"
                raise SessionLostError(message) from error
            raise

    def cancel(self, group: str) -> None:
        """Cancel the jobs of a group; nothing happens if there are none."""
        session = self._session
        if session is None or not self.alive:
            return
        try:
            session.sparkContext.cancelJobGroup(group)
        except Exception:
            log.debug("could not cancel jobs of %s", group, exc_info=True)

    def close(self) -> None:
        """Stop Spark and its JVM. One that is just starting is left: it ends when we do."""
        self._closed = True
        if not self._lock.acquire(timeout=CLOSE_SECONDS):
            return
        try:
            self._stop()
        finally:
            self._lock.release()

    def _warm_up(self) -> None:
        try:
            session = self.session()
            # The first job of a JVM takes seconds; better now than in somebody's first batch.
            session.range(1).write.format("noop").mode("overwrite").save()
        except Exception:
            log.warning("Spark did not start; it is tried again for the first task", exc_info=True)

    def _start(self) -> None:
        if self._generation:
            log.warning("The Spark JVM went away; starting another")
        _forget_gateway()
        started = time.monotonic()
        os.environ.update(self._environment())
        try:
            self._session = self._built()
        except Exception as error:
            self._session = None
            _forget_gateway()
            message = f"Spark did not start: {error}. `penstock doctor` tells what is missing."
            raise SetupError(message) from error
        self._generation += 1
        log.info("Spark started in %.1f s", time.monotonic() - started)

    def _built(self) -> SparkSession:
        settings = self._all_settings()
        try:
            return _build(settings)
        except Exception as error:  # noqa: BLE001 - whatever it is, it may have been a crash
            # A JVM that was killed in the meantime says no more than one that can't start.
            log.warning("Spark did not start, it is tried once more: %s", error)
            _forget_gateway()
            return _build(settings)

    def _environment(self) -> dict[str, str]:
        return {
            "JAVA_HOME": str(find_java().path),
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": os.environ.get("SPARK_LOCAL_IP", "127.0.0.1"),
        }

    def _all_settings(self) -> dict[str, str]:
        settings = dict(self._settings)
        given = settings.get("spark.jars", "")
        jars = [*(given.split(",") if given else []), *map(str, classpath("spark", "drivers"))]
        settings["spark.jars"] = ",".join(jars)
        given = settings.get("spark.driver.extraJavaOptions", "")
        logging_file = Path(__file__).with_name("log4j2.properties")
        own = f"{JAVA_OPTIONS} {AVRO_LIMITS} -Dlog4j2.configurationFile=file:{logging_file}"
        settings["spark.driver.extraJavaOptions"] = f"{own} {given}".strip()
        given = settings.get("spark.executor.extraJavaOptions", "")
        settings["spark.executor.extraJavaOptions"] = f"{AVRO_LIMITS} {given}".strip()
        return settings

    def _lost_soon(self) -> bool:
        """Whether the JVM is gone; a killed one needs a moment to show as dead."""
        if self._session is None:
            return False
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            if not self.alive:
                return True
            time.sleep(0.05)
        return False

    def _stop(self) -> None:
        session, self._session = self._session, None
        if session is None:
            return
        try:
            if _gateway_process_runs():
                session.stop()
        except Exception:
            log.debug("Spark did not stop cleanly", exc_info=True)
        _end_gateway()


def _build(settings: Mapping[str, str]) -> SparkSession:
    from pyspark.conf import SparkConf
    from pyspark.sql import SparkSession

    _start_gateway_with(settings)
    conf = SparkConf(loadDefaults=True)
    for name, value in settings.items():
        conf.set(name, value)
    return SparkSession.builder.config(conf=conf).getOrCreate()


def _start_gateway_with(settings: Mapping[str, str]) -> None:
    """Start the JVM with the settings that only its command line can carry.

    The others are set later: a command line can be read by every user of the machine.
    """
    from pyspark import SparkContext
    from pyspark.conf import SparkConf

    conf = SparkConf(loadDefaults=False)
    for name in LAUNCH_SETTINGS & settings.keys():
        conf.set(name, settings[name])
    SparkContext._ensure_initialized(conf=conf)  # noqa: SLF001 - the only way to pass memory


def _gateway_process() -> Any:
    from pyspark import SparkContext

    gateway = SparkContext._gateway  # noqa: SLF001 - pyspark has no public handle on its JVM
    return getattr(gateway, "proc", None)


def _gateway_process_runs() -> bool:
    process = _gateway_process()
    return process is not None and process.poll() is None


def _end_gateway() -> None:
    process = _gateway_process()
    _forget_gateway()
    if process is None:
        return
    process.stdin.close()  # the JVM's sign to end
    try:
        process.wait(10)
    except Exception:  # noqa: BLE001 - subprocess.TimeoutExpired, or it was reaped already
        process.kill()


def _forget_gateway() -> None:
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
