"""The real Apache Kafka Connect and Kafka's own tools, to compare Penstock with."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

from penstock.machine.class_archive import ClassArchive
from penstock.machine.jars import classpath
from penstock.machine.java_home import find_java
from penstock.testing.connect import ConnectMode, ConnectProcess, distributed_properties
from penstock.testing.waiting import patient

__all__ = [
    "CONSOLE_CONSUMER",
    "CONSOLE_PRODUCER",
    "CONSUMER_GROUPS",
    "TOPICS",
    "ConnectMode",
    "JavaConnect",
    "distributed_properties",
    "make_archive",
    "quick_java",
    "run_tool",
]

CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
TOPICS = "org.apache.kafka.tools.TopicCommand"
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
CONSOLE_PRODUCER = "org.apache.kafka.tools.ConsoleProducer"

_TOOL_SECONDS = 60.0
_ARCHIVE_SECONDS = 300.0
_PROGRAMS = {
    ConnectMode.DISTRIBUTED: "org.apache.kafka.connect.cli.ConnectDistributed",
    ConnectMode.STANDALONE: "org.apache.kafka.connect.cli.ConnectStandalone",
}


class JavaConnect(ConnectProcess):
    """One worker of the real Kafka Connect.

    By default it finds plugins by service_load, which starts in a third of the time. For
    benchmarks set the heap and Java options of a production worker; the default options make a
    fast start, with classes from an archive if there is one.
    """

    def __init__(
        self,
        directory: Path,
        properties: Mapping[str, str],
        *,
        mode: ConnectMode = ConnectMode.DISTRIBUTED,
        connectors: Sequence[Path] = (),
        heap_mb: int = 512,
        java_options: Sequence[str] | None = None,
    ) -> None:
        quick = {"plugin.discovery": "service_load", **properties}
        super().__init__(directory, quick, mode=mode, connectors=connectors)
        given = quick_java() if java_options is None else java_options
        self._java_options = (f"-Xmx{heap_mb}m", *given)

    def command(self, files: Sequence[str]) -> list[str]:
        """Java with the jars of the group `connect`, logging to standard output."""
        log4j = self.directory / "log4j2.properties"
        log4j.write_text(_LOG4J)
        options = (*self._java_options, f"-Dlog4j2.configurationFile={log4j}")
        return _command(_PROGRAMS[self.mode], files, options)


def run_tool(
    main: str,
    arguments: Sequence[str],
    *,
    stdin: str = "",
    timeout_seconds: float = _TOOL_SECONDS,
) -> subprocess.CompletedProcess[str]:
    """Run one of Kafka's command line tools to its end, whatever its exit status."""
    return subprocess.run(
        _command(main, arguments, ("-Xmx128m", *quick_java())),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=patient(timeout_seconds),
        check=False,
    )


def make_archive(directory: Path, bootstrap_servers: str) -> None:
    """Make the archive of a worker's classes if it is missing: it halves the time of starts.

    Raises:
        SetupError: Java did not make it.
        OSError: the cache can't be written, or its disk is full.
        DeadlineExceededError: another process is making one.
    """

    def run(options: Sequence[str]) -> None:
        properties = distributed_properties(bootstrap_servers, "archived")
        worker = JavaConnect(directory, properties, java_options=options)
        worker.start()
        httpx.get(f"{worker.url}/connector-plugins", timeout=patient(_TOOL_SECONDS))
        worker.stop(patient(_ARCHIVE_SECONDS))

    _archive().make(run)


def quick_java() -> list[str]:
    """Options for a JVM that lives for seconds."""
    return ["-XX:TieredStopAtLevel=1", *_archive().options]


def _archive() -> ClassArchive:
    return ClassArchive.of("connect", find_java(), classpath("connect"))


def _command(main: str, arguments: Sequence[str], java_options: Sequence[str]) -> list[str]:
    archive = _archive()
    return [str(archive.java.java), *java_options, "-cp", archive.classpath, main, *arguments]


_LOG4J = """\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d %-5p %c{1} %m%n%ex
rootLogger.level = info
rootLogger.appenderRef.out.ref = out
"""
