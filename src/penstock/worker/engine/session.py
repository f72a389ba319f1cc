"""The one SparkSession of a worker: made when first needed, shared, rebuilt when its JVM dies."""

from __future__ import annotations

import logging
import os
import shlex
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from penstock.kernel.clock import Deadline, SystemClock
from penstock.kernel.errors import SessionLostError, SetupError, SparkAwayError
from penstock.machine.java_home import find_java
from penstock.machine.pyspark_import import import_pyspark
from penstock.worker.engine import jvm
from penstock.worker.engine.cluster import Cluster
from penstock.worker.engine.jvm import Jvm
from penstock.worker.engine.jvm_command import DirectLaunch, with_our_jars
from penstock.worker.engine.running_job import RunningJob
from penstock.worker.engine.scratch import Scratch
from penstock.worker.settings.spark import DEFAULTS, EXECUTORS_PYTHON, room_in_small_heap

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

JAVA_OPTIONS: Final = (
    "-XX:+UseSerialGC -Xss512k -XX:ReservedCodeCacheSize=96m -XX:MaxMetaspaceSize=320m"
    " -Djava.net.preferIPv4Stack=true"
    # Spark's code for a long chain of transformations is one method. By default Java does not
    # compile methods over 8,000 bytes, so that code would run at half the speed.
    " -XX:-DontCompileHugeMethods"
)
#: Corrupt data may announce a string of gigabytes: Avro must not allocate memory for it.
AVRO_LIMITS: Final = (
    "-Dorg.apache.avro.limits.string.maxLength=134217728"
    " -Dorg.apache.avro.limits.bytes.maxLength=134217728"
    " -Dorg.apache.avro.limits.collectionItems.maxLength=16777216"
)


CLOSE_SECONDS: Final = 2.0
#: Many tasks need Spark: one tries to start it, and the others get its error for so long.
RETRY_SECONDS: Final = 5.0
LOCAL_DIRS: Final = "spark.local.dir"
#: The group of the rehearsal's jobs, cancelled when the first task needs Spark.
REHEARSAL: Final = "penstock-rehearsal"


class SparkEngine:
    """Owns the session. Every method may be called from any thread."""

    def __init__(self, settings: Mapping[str, str], *, use_archive: bool = True) -> None:
        given = {**DEFAULTS, **settings}
        self._settings = {**room_in_small_heap(given), **given}
        self._use_archive = use_archive
        self._lock = threading.Lock()
        self._session: SparkSession | None = None
        self._launched: Jvm | None = None
        self._generation = 0
        self._used = False
        self._closed = False
        self._cluster = Cluster(self._settings)
        self._scratch = Scratch(Path(tempfile.gettempdir()))
        self._local_dirs = [Scratch(path) for path in _own_disks(self._settings)]
        self._failure: SparkAwayError | None = None
        self._retry_at = 0.0
        self._clock: Final = SystemClock()

    @property
    def generation(self) -> int:
        """Grows with each session; columns of another generation can't be used."""
        return self._generation

    @property
    def alive(self) -> bool:
        """Whether there is a session, its JVM runs, and its cluster has not ended it."""
        session = self._session
        return session is not None and jvm.runs() and not self._cluster.has_ended(session)

    @property
    def obstacle(self) -> str | None:
        """What all jobs wait for, as a message for users; None if nothing."""
        return self._cluster.missing if self._failure is None else str(self._failure)

    def launch(self) -> None:
        """Start the JVM in the background, if that is possible before pyspark is imported."""
        threading.Thread(target=self._launch_ahead, name="spark-launch", daemon=True).start()

    @property
    def has_archive(self) -> bool:
        """Whether its classes are archived, or can't be."""
        launch = DirectLaunch.of(self._all_settings(), os.environ)
        return launch is None or launch.archive.exists or launch.archive.failed

    @property
    def used(self) -> bool:
        """Whether session_for() has been called."""
        return self._used

    def session(self, deadline: Deadline | None = None) -> SparkSession:
        """The session, started or rebuilt if necessary.

        Raises:
            SparkAwayError: Spark does not start, or takes longer than the deadline.
        """
        deadline = deadline or Deadline.after(120)
        if not self._lock.acquire(timeout=deadline.remaining()):
            message = "Spark is still starting"
            raise SparkAwayError(message)
        try:
            if self._closed:
                message = "the worker is stopping"
                raise SessionLostError(message)
            if not self.alive:
                self._start_unless_just_tried()
            assert self._session is not None  # noqa: S101 - _start() sets it or raises
            return self._session
        finally:
            self._lock.release()

    def session_for(self, group: str, pool: str) -> SparkSession:
        """The session, with the calling thread's jobs put into one group and one fair pool."""
        session = self.session()
        context = session.sparkContext
        if not self._used:
            self._used = True
            context.cancelJobGroup(REHEARSAL)
        context.setJobGroup(group, group, interruptOnCancel=True)
        context.setLocalProperty("spark.scheduler.pool", pool)
        return session

    def next_job(self, group: str) -> RunningJob:
        """The progress of the calling thread's next job; `group` is that of its jobs."""
        return RunningJob(self.session(), group)

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Raise SessionLostError for whatever fails in the block because the JVM died."""
        # The first session may start within the block.
        generation = self._generation or 1
        try:
            yield
        except Exception as error:
            if not isinstance(error, SessionLostError) and (
                self._generation != generation or self._lost_soon()
            ):
                message = "the Spark JVM died while a batch was running"
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
            log.debug("Could not cancel jobs of %s", group, exc_info=True)

    def close(self, jvm_seconds: float = jvm.END_SECONDS) -> None:
        """Stop Spark and its JVM. One that is just starting is left: it ends with our process."""
        self._closed = True
        if not self._lock.acquire(timeout=CLOSE_SECONDS):
            return
        try:
            self._stop(jvm_seconds)
        finally:
            self._lock.release()

    def _launch_ahead(self) -> None:
        with self._lock:
            if self._closed or self._session is not None:
                return
            try:
                self._launched = self._launch(self._with_scratch(self._all_settings()))
            except Exception:
                # The first task that needs the session gets the same error, and reports it.
                log.debug("Could not start Spark's JVM ahead", exc_info=True)

    def _launch(self, settings: Mapping[str, str]) -> Jvm | None:
        """The JVM, started directly; None if spark-submit has to start it."""
        os.environ.update(self._environment())
        launch = DirectLaunch.of(settings, os.environ)
        if launch is None:
            return None
        return Jvm.direct(launch.command(use_archive=self._use_archive), self._scratch.made())

    def _start_unless_just_tried(self) -> None:
        if self._failure is not None and self._clock.now() < self._retry_at:
            raise SparkAwayError(str(self._failure)) from self._failure.__cause__
        try:
            self._start()
        except Exception as error:
            self._session = None
            message = f"Spark did not start: {error}. `penstock doctor` shows what is missing."
            self._failure = SparkAwayError(message)
            self._retry_at = self._clock.now() + RETRY_SECONDS
            raise self._failure from error
        self._failure = None

    def _start(self) -> None:
        import_pyspark()
        jvm.end(0)
        if self._generation:
            log.warning("The Spark JVM died; starting another")
            for scratch in self._scratches:
                scratch.clear()
        self._cluster.check_master()
        started = self._clock.now()
        self._session = self._built()
        self._generation += 1
        log.info("Spark started in %.1f s", self._clock.now() - started)
        self._cluster.watch(self._session)

    def _built(self) -> SparkSession:
        settings = self._all_settings()
        try:
            return self._build(settings)
        except Exception as error:  # noqa: BLE001 - whatever it is, it may have been a crash
            # A JVM that was killed meanwhile raises the same errors as one that can't start.
            log.warning("Spark did not start, trying once more: %s", error)
            self._use_archive = False  # the archive may be the cause
            return self._build(settings)

    def _build(self, settings: Mapping[str, str]) -> SparkSession:
        launched, self._launched = self._launched, None
        settings = self._with_scratch(settings)
        if started := launched or self._launch(settings):
            # They are on its class path: no need to copy them for executors.
            settings.pop("spark.jars", None)
        else:
            settings = with_our_jars(settings)
            started = Jvm.by_submit(settings, self._scratch.made())
        try:
            started.connect()
            return _new_session(settings)
        except Exception as error:  # noqa: BLE001 - whatever it is, the JVM is of no use
            # A Java exception fetches its text from the JVM, which takes minutes once that is
            # dead. So read the text now, and do not chain the exception.
            reason = _reason(error)
            jvm.forget()
            started.end()
        raise SetupError(reason)

    def _environment(self) -> dict[str, str]:
        return {
            "JAVA_HOME": str(find_java().path),
            "PYSPARK_PYTHON": self._settings.get(EXECUTORS_PYTHON, sys.executable),
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": os.environ.get("SPARK_LOCAL_IP", "127.0.0.1"),
        }

    def _all_settings(self) -> dict[str, str]:
        settings = dict(self._settings)
        given = settings.get("spark.driver.extraJavaOptions", "")
        logging_file = Path(__file__).with_name("log4j2.properties")
        own = f"{JAVA_OPTIONS} {AVRO_LIMITS} -Dlog4j2.configurationFile=file:{logging_file}"
        settings["spark.driver.extraJavaOptions"] = f"{own} {given}".strip()
        given = settings.get("spark.executor.extraJavaOptions", "")
        settings["spark.executor.extraJavaOptions"] = f"{AVRO_LIMITS} {given}".strip()
        return settings

    def _with_scratch(self, settings: Mapping[str, str]) -> dict[str, str]:
        """The settings with directories for temporary files that a later process can remove."""
        options = settings["spark.driver.extraJavaOptions"]
        place = shlex.quote(f"-Djava.io.tmpdir={self._scratch.made()}")
        made = {**settings, "spark.driver.extraJavaOptions": f"{place} {options}"}
        if self._local_dirs:
            made[LOCAL_DIRS] = ",".join(str(each.made()) for each in self._local_dirs)
        return made

    @property
    def _scratches(self) -> list[Scratch]:
        return [self._scratch, *self._local_dirs]

    def _lost_soon(self) -> bool:
        """Whether the JVM died; a killed one needs a moment to show as dead."""
        if self._session is None:
            return False
        deadline = Deadline.after(0.5, self._clock)
        while not deadline.expired:
            if not self.alive:
                return True
            time.sleep(0.05)
        return False

    def _stop(self, jvm_seconds: float) -> None:
        session, self._session = self._session, None
        launched, self._launched = self._launched, None
        if launched is not None:
            launched.end()
        if session is not None:
            try:
                if jvm.runs():
                    session.stop()
            except Exception:
                log.debug("Spark did not stop cleanly", exc_info=True)
            jvm.end(jvm_seconds)
        for scratch in self._scratches:
            scratch.remove()


def _own_disks(settings: Mapping[str, str]) -> list[Path]:
    """The data directories of a local Spark; empty for others: theirs are on other machines."""
    if not settings["spark.master"].startswith("local"):
        return []
    return [Path(each.strip()) for each in settings.get(LOCAL_DIRS, "").split(",") if each.strip()]


def _new_session(settings: Mapping[str, str]) -> SparkSession:
    from pyspark.conf import SparkConf
    from pyspark.sql import SparkSession

    _silence_analysis()
    conf = SparkConf(loadDefaults=True)
    for name, value in settings.items():
        conf.set(name, value)
    session = SparkSession.builder.config(conf=conf).getOrCreate()
    _silence_end(session)
    return session


def _silence_analysis() -> None:
    """Stop PySpark from logging each plan that Spark refuses, with a trace of 11 KB.

    It also raises them: we try some only to see whether they work, and report the others.
    """
    from pyspark.logger import PySparkLogger

    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True


def _silence_end(session: SparkSession) -> None:
    """Replace the trace that PySpark prints when the JVM dies; we log that ourselves."""
    server = session.sparkContext._accumulatorServer  # noqa: SLF001 - it reads from the JVM
    server.handle_error = lambda *_: log.debug("The JVM hung up")  # type: ignore[method-assign]


def _reason(error: Exception) -> str:
    """The first line of its message; for a Java exception without the trace."""
    java = getattr(error, "java_exception", None)
    words = str(error if java is None else java.toString()).strip()
    return words.splitlines()[0] if words else type(error).__name__
