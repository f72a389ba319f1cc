"""Servers that all tests of a run use, whichever process a test runs in.

One process owns them: the only one, or with xdist the one that lives longest. It starts a server
when the first test asks for it. The others get a copy of the object, which knows where the server
is and can't stop it.
"""

from __future__ import annotations

import copy
import os
import secrets
import threading
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Final

from penstock.kernel.errors import DeadlineExceededError, SetupError
from penstock.machine.embedded_kafka import EmbeddedKafka
from penstock.machine.process import Child, Server
from penstock.testing.connect import distributed_properties
from penstock.testing.databases import MariaDb, PostgreSql
from penstock.testing.oracle import JavaConnect, make_archive
from penstock.testing.processes import alive, tree_cpu_seconds
from penstock.testing.registry import SchemaRegistry
from penstock.testing.worker import PenstockWorker
from tests.validation_cases import WORKERS

Make = Callable[[Path, Callable[[], str]], Server]
"""A server, not yet started, from its directory and the address of the run's broker."""

_PLUGINS: Final = Path(__file__).parents[1] / "cluster" / "plugins"
_FILE_PROVIDER: Final = "org.apache.kafka.common.config.provider.FileConfigProvider"


def worker_properties(kafka: str, group: str) -> dict[str, str]:
    """Worker properties with short intervals, and JSON headers."""
    return {
        **distributed_properties(kafka, group),
        "header.converter": "org.apache.kafka.connect.json.JsonConverter",
        "connector.client.config.override.policy": "All",
        # The group of a killed worker waits that long for its members.
        "consumer.session.timeout.ms": "10000",
        "plugin.path": str(_PLUGINS),
        "config.providers": "file",
        "config.providers.file.class": _FILE_PROVIDER,
    }


def dropped_plugins(worker: Path) -> Path:
    """The folder on the shared worker's plugin.path that is empty at its start."""
    return worker / "dropped-plugins"


def _oracle(directory: Path, kafka: Callable[[], str]) -> JavaConnect:
    # Without an archive everything works as well, only slower.
    with suppress(DeadlineExceededError, OSError, SetupError):
        make_archive(directory / "archived", kafka())
    properties = distributed_properties(kafka(), f"oracle-{uuid.uuid4().hex[:8]}")
    # A committed answer of the real Connect tells the name of its group.
    properties["group.id"] = WORKERS["distributed"]["properties"]["group.id"]
    return JavaConnect(directory, properties)


def _worker(directory: Path, kafka: Callable[[], str]) -> PenstockWorker:
    dropped_plugins(directory).mkdir()
    properties = worker_properties(kafka(), f"shared-{uuid.uuid4().hex[:8]}")
    properties["plugin.path"] += f",{dropped_plugins(directory)}"
    properties["offset.flush.intervall"] = "1"  # nobody knows it; a test looks for the warning
    return PenstockWorker(directory, properties)


#: Whoever needs one more server for all tests adds a line here, and a fixture in tests/conftest.py.
SERVERS: Final[Mapping[str, Make]] = {
    "kafka": lambda directory, _: EmbeddedKafka(directory),
    "mariadb": lambda directory, _: MariaDb(directory),
    "postgresql": lambda directory, _: PostgreSql(directory),
    "registry": lambda directory, _: SchemaRegistry(directory),
    "oracle": _oracle,
    "worker": _worker,
}


class Neighbour(Child):
    """A child of another process: it can be looked at, not stopped."""

    def __init__(self, name: str, pid: int, log: Path) -> None:
        self.name, self.log, self._pid = name, log, pid

    @property
    def pid(self) -> int:
        return self._pid

    @property
    def running(self) -> bool:
        return bool(alive({self._pid}))

    @property
    def exit_code(self) -> int | None:
        return None

    def stop(self, seconds: float = 0) -> None:
        raise AssertionError(f"all tests use this {self.name}; one that stops it needs its own")

    def kill(self) -> None:
        self.stop()


class SharedServers:
    """Starts each server when it is first asked for, and stops all of them in the end."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._locks = {name: threading.Lock() for name in SERVERS}
        self._running: dict[str, Server] = {}

    def get(self, name: str) -> Server:
        """A server that runs: a copy of its object."""
        with self._locks[name]:
            if name not in self._running:
                directory = self._directory / name
                directory.mkdir(parents=True)
                server = SERVERS[name](directory, lambda: bootstrap_servers(self.get))
                server.start()
                self._running[name] = server
            return _copy(self._running[name])

    def cpu_seconds(self) -> dict[str, float]:
        """What each has used so far, with its children."""
        return {name: tree_cpu_seconds(each.child.pid) for name, each in self._running.items()}

    def stop(self) -> None:
        """Stop all, the last one first."""
        for server in reversed(self._running.values()):
            server.stop()


def bootstrap_servers(get: Callable[[str], Server]) -> str:
    """The run's broker: PENSTOCK_TEST_KAFKA, else one of the shared servers."""
    if address := os.environ.get("PENSTOCK_TEST_KAFKA"):
        return address
    node = get("kafka")
    assert isinstance(node, EmbeddedKafka)
    return node.bootstrap_servers


def _copy(server: Server) -> Server:
    other, child = copy.copy(server), server.child
    other._child = Neighbour(child.name, child.pid, child.log)
    return other


class Desk:
    """Where the test processes of xdist ask for the servers of the process that owns them."""

    def __init__(self, servers: SharedServers) -> None:
        self._servers = servers
        self._key = secrets.token_bytes(16)
        self._listener = Listener(authkey=self._key, backlog=16)
        threading.Thread(target=self._serve, name="shared-servers", daemon=True).start()

    @property
    def address(self) -> str:
        """What ask() needs."""
        return f"{self._key.hex()}@{self._listener.address}"

    def _serve(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except (AuthenticationError, EOFError, ConnectionError):
                continue  # a test process that ended while it asked
            threading.Thread(target=self._answer, args=[connection], daemon=True).start()

    def _answer(self, connection: Connection) -> None:
        with connection:
            try:
                connection.send(self._servers.get(connection.recv()))
            except Exception as error:  # noqa: BLE001 - whoever asked raises it
                connection.send(error)


def ask(address: str, name: str) -> Server:
    """A shared server of another process."""
    key, _, place = address.partition("@")
    with Client(place, authkey=bytes.fromhex(key)) as connection:
        connection.send(name)
        answer = connection.recv()
    if isinstance(answer, Exception):
        raise answer
    assert isinstance(answer, Server)
    return answer
