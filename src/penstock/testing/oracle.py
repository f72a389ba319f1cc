"""The real Apache Kafka Connect and Kafka's own tools, to compare Penstock with."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from penstock.jars import classpath
from penstock.java import find_java
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
    "run_tool",
]

CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
TOPICS = "org.apache.kafka.tools.TopicCommand"
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
CONSOLE_PRODUCER = "org.apache.kafka.tools.ConsoleProducer"

_TOOL_SECONDS = 60.0
_PROGRAMS = {
    ConnectMode.DISTRIBUTED: "org.apache.kafka.connect.cli.ConnectDistributed",
    ConnectMode.STANDALONE: "org.apache.kafka.connect.cli.ConnectStandalone",
}


class JavaConnect(ConnectProcess):
    """One worker of the real Kafka Connect.

    Plugins are found by service_load, which starts in a third of the time, unless the properties
    say otherwise. For benchmarks give the heap and Java options a production worker would have.
    """

    def __init__(
        self,
        directory: Path,
        properties: Mapping[str, str],
        *,
        mode: ConnectMode = ConnectMode.DISTRIBUTED,
        connectors: Sequence[Path] = (),
        heap_mb: int = 512,
        java_options: Sequence[str] = ("-XX:TieredStopAtLevel=1",),
    ) -> None:
        quick = {"plugin.discovery": "service_load", **properties}
        super().__init__(directory, quick, mode=mode, connectors=connectors)
        self._java_options = (f"-Xmx{heap_mb}m", *java_options)

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
        _command(main, arguments, ("-Xmx128m", "-XX:TieredStopAtLevel=1")),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=patient(timeout_seconds),
        check=False,
    )


def _command(main: str, arguments: Sequence[str], java_options: Sequence[str]) -> list[str]:
    jars = ":".join(map(str, classpath("connect")))
    return [str(find_java().java), *java_options, "-cp", jars, main, *arguments]


_LOG4J = """\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d %-5p %c{1} %m%n%ex
rootLogger.level = info
rootLogger.appenderRef.out.ref = out
"""
