"""A Connect worker as a child process: the base of the real one and of Penstock's."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from pathlib import Path

import httpx

from penstock.machine.free_ports import free_port
from penstock.machine.process import Child, Server
from penstock.testing.waiting import patient

_START_SECONDS = 90.0


class ConnectMode(Enum):
    """Which of Connect's two programs to run."""

    DISTRIBUTED = auto()
    STANDALONE = auto()


def distributed_properties(bootstrap_servers: str, group: str) -> dict[str, str]:
    """Worker properties that form a one-worker cluster with internal topics named after the group.

    The real Connect and Penstock accept the same properties.
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


class ConnectProcess(Server):
    """One worker process with its properties file and log in `directory`.

    `listeners` defaults to a free port on the loopback address. A worker that was stopped or killed
    may be started again: same properties, same port, same directory.
    """

    def __init__(
        self,
        directory: Path,
        properties: Mapping[str, str],
        *,
        mode: ConnectMode = ConnectMode.DISTRIBUTED,
        connectors: Sequence[Path] = (),
    ) -> None:
        self.directory = directory
        self.mode = mode
        self.properties = {"listeners": f"http://127.0.0.1:{free_port()}", **properties}
        self._connectors = tuple(connectors)

    @property
    def url(self) -> str:
        """The URL of its REST API."""
        return self.properties["listeners"].split(",")[0]

    @property
    def log(self) -> Path:
        """The worker's log file."""
        return self.directory / "worker.log"

    @abstractmethod
    def command(self, files: Sequence[str]) -> list[str]:
        """The command line for a worker with these files: properties, then connectors."""

    def start(self) -> None:
        """Start the worker; its REST API answers when this returns."""
        self.directory.mkdir(parents=True, exist_ok=True)
        properties = self.directory / "worker.properties"
        properties.write_text(_written(self.properties))
        command = self.command([str(properties), *map(str, self._connectors)])
        worker = Child(type(self).__name__, command, log=self.log)
        self.launch(worker, self.answers, patient(_START_SECONDS), "its REST API answered")

    def answers(self) -> bool:
        """Whether connectors are listed: the herder has read its topics and joined the group."""
        try:
            # Called many times: without https certificates, which take time to load.
            answer = httpx.get(f"{self.url}/connectors", timeout=5.0, verify=False)  # noqa: S501
            return answer.status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False


def _written(properties: Mapping[str, str]) -> str:
    """The text of a .properties file, which has escapes for backslashes and line ends."""
    lines = (f"{key}={value}" for key, value in properties.items())
    return "".join(line.replace("\\", "\\\\").replace("\n", "\\n") + "\n" for line in lines)
