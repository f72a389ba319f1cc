"""The real Apache Kafka Connect and Kafka's own tools, to compare Penstock with."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from penstock.jars import classpath
from penstock.java import find_java
from penstock.ports import free_port
from penstock.process import STOP_SECONDS, Child

CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
TOPICS = "org.apache.kafka.tools.TopicCommand"
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
CONSOLE_PRODUCER = "org.apache.kafka.tools.ConsoleProducer"

_START_SECONDS = 90.0
_TOOL_SECONDS = 60.0


class ConnectMode(StrEnum):
    """Which of Connect's two programs to run."""

    DISTRIBUTED = "org.apache.kafka.connect.cli.ConnectDistributed"
    STANDALONE = "org.apache.kafka.connect.cli.ConnectStandalone"


def distributed_properties(bootstrap_servers: str, group: str) -> dict[str, str]:
    """Worker properties that form a one-worker cluster with internal topics named after the group.

    Penstock accepts the same properties; that is the point.
    """
    topics = {
        f"{kind}.storage.{key}": value
        for kind, name in (("config", "configs"), ("offset", "offsets"), ("status", "status"))
        for key, value in (("topic", f"{group}-{name}"), ("replication.factor", "1"))
    }
    return {
        "bootstrap.servers": bootstrap_servers,
        "group.id": group,
        "key.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "offset.storage.partitions": "3",
        "status.storage.partitions": "2",
        "offset.flush.interval.ms": "1000",
        **topics,
    }


class JavaConnect:
    """One worker of the real Kafka Connect as a child process.

    `listeners` defaults to a free port on the loopback address and plugins are found by
    service_load, which starts in a third of the time. Give any worker property to override.
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
        self.properties = {
            "listeners": f"http://127.0.0.1:{free_port()}",
            "plugin.discovery": "service_load",
            **properties,
        }
        self.directory = directory
        self._mode = mode
        self._connectors = tuple(connectors)
        self._java = (f"-Xmx{heap_mb}m", *java_options)
        self._child: Child | None = None

    @property
    def url(self) -> str:
        """Where its REST API listens."""
        return self.properties["listeners"].split(",")[0]

    @property
    def child(self) -> Child:
        """The running process."""
        if self._child is None:
            raise RuntimeError("Connect was not started")
        return self._child

    @property
    def log(self) -> Path:
        """What the worker logs."""
        return self.directory / "connect.log"

    def start(self) -> None:
        """Start the worker; its REST API answers when this returns."""
        self.directory.mkdir(parents=True, exist_ok=True)
        worker = self.directory / "worker.properties"
        worker.write_text("".join(f"{key}={value}\n" for key, value in self.properties.items()))
        log4j = self.directory / "log4j2.properties"
        log4j.write_text(_LOG4J)
        files = [str(worker), *map(str, self._connectors)]
        options = (*self._java, f"-Dlog4j2.configurationFile={log4j}")
        command = _command(self._mode.value, files, options)
        self._child = Child("Kafka Connect", command, log=self.log)
        try:
            self._child.wait_until(self._serves, _START_SECONDS, "its REST API answered")
        except BaseException:
            self._child.kill()
            raise

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Shut the worker down in order."""
        if self._child is not None:
            self._child.stop(seconds)

    def kill(self) -> None:
        """End the worker as a crash would."""
        self.child.kill()

    def _serves(self) -> bool:
        # Connectors are listed only once the herder has read its topics and joined the group.
        try:
            return httpx.get(f"{self.url}/connectors", timeout=5.0).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


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
        timeout=timeout_seconds,
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
