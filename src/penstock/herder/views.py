"""Answers to questions: what is stored of connectors, in the shapes of the REST API.

They read snapshots, so they may be asked on any thread and wait for nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from penstock.data.record import TaskId
from penstock.errors import NotFoundError
from penstock.herder.secrets import Secrets
from penstock.plugins import PluginInfo, Plugins
from penstock.storage.ports import ConfigStore, ConnectorEntry, Status, StatusStore
from penstock.wire.models import (
    ActiveTopics,
    ConnectorInfo,
    ConnectorStatus,
    StateInfo,
    TaskInfo,
    TaskRef,
)

UNKNOWN_TYPE = "unknown"


class Views:
    """What the stores know, without passwords."""

    def __init__(
        self,
        configs: ConfigStore,
        statuses: StatusStore,
        plugins: Plugins,
        secrets: Secrets,
        notes_of: Callable[[Mapping[str, str]], Sequence[str]] = lambda config: (),  # noqa: ARG005
    ) -> None:
        """`notes_of`: what a connector's user should know of its config."""
        self._configs = configs
        self._statuses = statuses
        self._plugins = plugins
        self._secrets = secrets
        self._notes_of = notes_of
        self._noted: dict[str, tuple[Mapping[str, str], int, Sequence[str]]] = {}

    def names(self) -> list[str]:
        connectors = self._configs.snapshot().connectors
        return [name for name, entry in connectors.items() if entry.config is not None]

    def entry(self, name: str) -> ConnectorEntry:
        """What is stored of a connector.

        Raises:
            NotFoundError: there is no such connector.
        """
        found = self.find(name)
        if found is None:
            raise NotFoundError(f"Connector {name} not found")
        return found

    def find(self, name: str) -> ConnectorEntry | None:
        found = self._configs.snapshot().connectors.get(name)
        return found if found is not None and found.config is not None else None

    def stored_config(self, name: str) -> Mapping[str, str] | None:
        """The config as stored, passwords included; None if there is no such connector."""
        found = self.find(name)
        return None if found is None else found.config

    def config(self, name: str) -> dict[str, str]:
        return self._secrets.masked(self.entry(name).config or {})

    def expanded(
        self, expansions: Collection[str]
    ) -> dict[str, dict[str, ConnectorStatus | ConnectorInfo]]:
        """All connectors with what is asked of them; one that has no status yet is left out."""
        found: dict[str, dict[str, ConnectorStatus | ConnectorInfo]] = {}
        for name, entry in self._configs.snapshot().connectors.items():
            status = self._statuses.connector(name) if "status" in expansions else None
            if entry.config is None or ("status" in expansions and status is None):
                continue
            parts = found.setdefault(name, {})
            if status is not None:
                tasks = self._statuses.tasks(name)
                parts["status"] = self._shown_status(name, entry, status, tasks)
            if "info" in expansions:
                parts["info"] = self._shown_info(name, entry)
        return found

    def info(self, name: str) -> ConnectorInfo:
        return self._shown_info(name, self.entry(name))

    def _shown_info(self, name: str, entry: ConnectorEntry) -> ConnectorInfo:
        config = entry.config or {}
        tasks = [TaskRef(name, number) for number in range(len(entry.tasks))]
        return ConnectorInfo(name, self._secrets.masked(config), tasks, self.type_of(config))

    def tasks(self, name: str) -> list[TaskInfo]:
        return [
            TaskInfo(TaskRef(name, number), self._secrets.masked(config))
            for number, config in enumerate(self.entry(name).tasks)
        ]

    def status(self, name: str) -> ConnectorStatus:
        found = self._statuses.connector(name)
        if found is None:
            raise NotFoundError(f"No status found for connector {name}")
        return self.shown_status(name, found, self._statuses.tasks(name))

    def shown_status(
        self, name: str, connector: Status, tasks: Mapping[TaskId, Status]
    ) -> ConnectorStatus:
        return self._shown_status(name, self.find(name), connector, tasks)

    def _shown_status(
        self,
        name: str,
        entry: ConnectorEntry | None,
        connector: Status,
        tasks: Mapping[TaskId, Status],
    ) -> ConnectorStatus:
        config = (entry.config if entry is not None else None) or {}
        ordered = sorted(tasks.items(), key=lambda item: item[0].number)
        return ConnectorStatus(
            name,
            replace(shown_state(connector), notes=self._notes(name, config)),
            [shown_state(status, task.number) for task, status in ordered],
            self.type_of(config),
        )

    def _notes(self, name: str, config: Mapping[str, str]) -> Sequence[str]:
        """Found anew only when the config or the plugins have changed: statuses are asked often."""
        generation = self._plugins.generation
        noted = self._noted.get(name)
        if noted is None or noted[:2] != (config, generation):
            noted = self._noted[name] = (config, generation, self._notes_of(config))
        return noted[2]

    def task_status(self, task: TaskId) -> StateInfo:
        found = self._statuses.task(task)
        if found is None:
            raise NotFoundError(f"No status found for task {task}")
        return shown_state(found, task.number)

    def topics(self, name: str) -> ActiveTopics:
        found = dict.fromkeys(status.topic for status in self._statuses.topics(name))
        return ActiveTopics(name, sorted(found))

    def type_of(self, config: Mapping[str, str]) -> str:
        plugin = self.plugin(config)
        return UNKNOWN_TYPE if plugin is None else plugin.kind.value

    def plugin(self, config: Mapping[str, str]) -> PluginInfo | None:
        """The connector's plugin; None if it is not installed here."""
        try:
            return self._plugins.connector(config.get("connector.class", ""))
        except NotFoundError:
            return None


def shown_state(status: Status, task: int | None = None) -> StateInfo:
    shown = (status.state, status.worker_id, status.version, status.trace)
    return StateInfo(*shown, task, status.figures)
