"""`penstock prepare`: fetches jars and makes class archives, so that later starts are faster.

An archive has the classes that a program has loaded: a broker that served, and a Spark that
rehearsed and, if the broker's jars are in the cache, wrote to it and read from it.
"""

from __future__ import annotations

import os
import shlex
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from penstock.api.sink import OffsetRange
from penstock.kernel.data.record import TopicPartition
from penstock.machine.class_archive import ClassArchive
from penstock.machine.embedded_kafka import LAPTOP_JAVA_OPTIONS, EmbeddedKafka, broker_archive
from penstock.machine.jars import classpath, group_of
from penstock.plugins import Plugins
from penstock.worker.engine.jvm_command import DirectLaunch
from penstock.worker.engine.session import SparkEngine
from penstock.worker.runtime.conversion import JSON, converters_of
from penstock.worker.settings.spark import DEFAULTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Say = Callable[[str], None]

_JVM_SECONDS: Final = 600.0
_SETTINGS: Final = {"spark.master": "local[1]", "spark.driver.memory": "512m"}
#: Jars whose classes are all archived, because they are few or often used.
_WHOLE_JARS: Final = ("spark-sql-kafka", "postgresql", "mariadb", "sqlite")


def prepare(say: Say) -> None:
    """Fetch missing jars and make missing class archives.

    Raises:
        SetupError: a jar can't be fetched, or Java makes no archive.
        OSError: the cache can't be written, or its disk is full.
        DeadlineExceededError: another process is making archives.
    """
    classpath("spark", "drivers", "broker")
    say("The jars are in the cache.")
    make_archives(say)


def make_archives(say: Say) -> None:
    """Make the archives of programs whose jars are in the cache. Raises as prepare() does."""
    with_broker = group_of("broker").complete
    if with_broker:
        _make(broker_archive(), _run_broker, say)
    launch = DirectLaunch.of({**DEFAULTS, **_SETTINGS}, os.environ)
    if launch is None:
        say("spark-submit starts Spark on this machine, and it uses no archive.")
        return
    _make(launch.archive, lambda options: _run_spark(options, with_broker=with_broker), say)


def _make(archive: ClassArchive, run: Callable[[Sequence[str]], None], say: Say) -> None:
    if archive.exists:
        say(f"The archive of {archive.program}'s classes exists: {archive.path}")
        return
    say(f"Archiving the classes of {archive.program}, which takes about half a minute")
    archive.make(run)
    say(f"Made {archive.path}, {archive.path.stat().st_size // 1_000_000} MB")


def _run_broker(options: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="penstock-prepare-") as directory:
        broker = EmbeddedKafka(Path(directory), java_options=(*LAPTOP_JAVA_OPTIONS, *options))
        broker.start()
        broker.stop(_JVM_SECONDS)


def _run_spark(options: Sequence[str], *, with_broker: bool) -> None:
    from penstock.worker.pipeline.rehearsal import rehearse

    settings = {**_SETTINGS, "spark.driver.extraJavaOptions": shlex.join(options)}
    engine = SparkEngine(settings, use_archive=False)
    json = {"key.converter": JSON, "value.converter": JSON}
    try:
        rehearse(engine, converters_of(json, {}, Plugins.discover(())))
        _load_whole_jars(engine.session())
        if with_broker:
            _use_broker(engine.session())
    finally:
        engine.close(_JVM_SECONDS)


def _load_whole_jars(session: SparkSession) -> None:
    jvm: Any = session._jvm  # noqa: SLF001 - pyspark's own way to the JVM
    loader = jvm.java.lang.ClassLoader.getSystemClassLoader()
    for jar in classpath("spark", "drivers"):
        if not jar.name.startswith(_WHOLE_JARS):
            continue
        with zipfile.ZipFile(jar) as archive:
            names = [name for name in archive.namelist() if _is_class(name)]
        for name in names:
            try:
                loader.loadClass(name.removesuffix(".class").replace("/", "."))
            except Exception:  # noqa: BLE001, S112 - it needs a library that is not installed
                continue


def _is_class(name: str) -> bool:
    return name.endswith(".class") and not name.startswith("META-INF/") and "-info" not in name


def _use_broker(session: SparkSession) -> None:
    from penstock.worker.pipeline.inline_records import FetchedRecord, raw_frame
    from penstock.worker.pipeline.kafka_io import read_ranges, write

    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="penstock-prepare-"))
        broker = stack.enter_context(EmbeddedKafka(Path(directory)))
        servers = {"bootstrap.servers": broker.bootstrap_servers}
        records = [FetchedRecord("t", 0, n, n, None, b"value", None) for n in range(10)]
        write(raw_frame(session, records), servers)
        found = [OffsetRange(TopicPartition("t", 0), 0, 10)]
        read_ranges(session, found, servers).write.format("noop").mode("overwrite").save()
