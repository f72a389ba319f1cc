"""A herder with a scripted worker and stores in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from penstock.api.connector import SourceConnector
from penstock.api.plugin import PluginKind
from penstock.kernel.clock import Deadline, SystemClock
from penstock.kernel.config import Config, ConfigValue, Type, key
from penstock.kernel.config.providers import Resolver
from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import ConfigError, PenstockError
from penstock.plugins import BUILT_IN, PluginInfo, Plugins
from penstock.testing.fakes import ScriptedWorker
from penstock.testing.waiting import eventually, patient, soon
from penstock.worker.herder.dependencies import HerderOptions, HerderParts
from penstock.worker.herder.infos import ConfigInfo, ConfigInfos
from penstock.worker.herder.local_herder import LocalHerder
from penstock.worker.herder.reports import WorkerReports
from penstock.worker.herder.status_writer import Identity
from penstock.worker.herder.validation import Validation
from penstock.worker.settings import StandaloneSettings
from penstock.worker.storage.stores import Stores
from tests.unit.worker.herder.memory import FakeConfigs, FakeOffsets, FakeStatuses

SOURCE = {
    "connector.class": "FileStreamSource",
    "tasks.max": "1",
    "file": "/data/in.txt",
    "topic": "lines",
}
SINK = {"connector.class": "FileStreamSink", "file": "/data/out.txt", "topics": "lines"}
SETTINGS = StandaloneSettings.read(
    {
        "key.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "offset.storage.file.filename": "offsets",
        "listeners": "http://127.0.0.1:0",
    }
)


class VaultConfig(Config):
    url: str = key(Type.STRING, doc="Where.")
    connection_password: object = key(Type.PASSWORD, default=None, doc="Secret.")


class VaultSource(SourceConnector):
    """A connector with a password."""

    Config = VaultConfig
    version = "1.0"

    def start(self, config: Any, context: Any) -> None: ...

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return []


class ScriptedValidation:
    """Finds the errors it is told to find, and waits if `hold` is there."""

    def __init__(self) -> None:
        self.errors: tuple[str, ...] = ()
        self.hold: threading.Event | None = None
        self.seen: list[dict[str, str | None]] = []

    def check(self, config: Mapping[str, str | None], *, outside: bool = True) -> None:
        message = self.validate(config, outside=outside).message()
        if message is not None:
            raise ConfigError(message)

    def validate(self, config: Mapping[str, str | None], *, outside: bool = True) -> ConfigInfos:
        del outside
        self.seen.append(dict(config))
        if self.hold is not None:
            self.hold.wait(patient())
        found = ConfigInfo(None, ConfigValue("any", errors=self.errors))
        return ConfigInfos(config.get("connector.class") or "", [], [found])

    def definitions(self, name: str, version: str | None = None) -> list[dict[str, Any]]:
        return [{"name": name, "version": version}]

    def unknown_keys(self, config: Mapping[str, str | None]) -> list[str]:
        return [f"unknown key {name}" for name in config if name.startswith("unknown.")]


VAULT = PluginInfo(VaultSource.class_name(), PluginKind.SOURCE, "1.0", VaultSource.__module__)


@dataclass
class Bench:
    """Everything around one herder."""

    configs: FakeConfigs = field(default_factory=FakeConfigs)
    statuses: FakeStatuses = field(default_factory=FakeStatuses)
    options: HerderOptions = field(default_factory=HerderOptions)
    fatal: list[Exception] = field(default_factory=list)
    validation: Any = field(default_factory=ScriptedValidation)
    broker_away: PenstockError | None = None
    plugins: Plugins = field(default_factory=lambda: Plugins([*BUILT_IN, VAULT]))

    def __post_init__(self) -> None:
        reports = self.events = WorkerReports()
        self.worker = ScriptedWorker(reports)
        parts = HerderParts(
            worker=self.worker,
            reports=reports,
            stores=Stores(self.configs, self.statuses, FakeOffsets()),
            plugins=self.plugins,
            validation=self.validation,
            identity=Identity("127.0.0.1:8083"),
            cluster_id=self._read_cluster_id,
            clock=SystemClock(),
        )
        self.herder = LocalHerder(parts, self.options, self.fatal.append)

    def _read_cluster_id(self, deadline: Deadline) -> str:
        del deadline
        if self.broker_away is not None:
            raise self.broker_away
        return "cluster-1"

    def create(self, name: str = "c", target: str | None = None, **config: str) -> None:
        given = {**SOURCE, "name": name} | {k.replace("_", "."): v for k, v in config.items()}
        self.herder.create_connector(name, given, target, soon())

    def runs_nothing_until(self, event: threading.Event) -> None:
        """Keep the herder's own thread busy, as a store does that waits for its broker."""
        thread = self.herder._thread
        thread.post("waiting in vain", lambda: event.wait(patient()))
        eventually(lambda: thread.stage.description == "waiting in vain")

    def states(self, name: str = "c") -> tuple[str, list[str]]:
        found = self.herder.connector_status(name, soon())
        return found.connector.state, [task.state for task in found.tasks]

    def runs(self, name: str = "c", *tasks: int) -> None:
        """Wait until the connector and these tasks are RUNNING."""
        wanted = ("RUNNING", ["RUNNING"] * len(tasks or (0,)))
        eventually(lambda: self.statuses.connector(name) and self.states(name) == wanted)

    def status_of(self, task: TaskId) -> str | None:
        found = self.statuses.task(task)
        return found.state if found else None


def validating_bench() -> Bench:
    """One whose herder checks configs as a worker does."""
    return Bench(validation=Validation(Plugins([*BUILT_IN, VAULT]), SETTINGS, Resolver({})))


@contextmanager
def running(bench: Bench | None = None) -> Iterator[Bench]:
    bench = bench or Bench()
    bench.herder.start()
    try:
        yield bench
    finally:
        for event in bench.worker.hanging.values():
            event.set()
        bench.herder.close(soon())
