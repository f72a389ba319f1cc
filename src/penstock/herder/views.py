"""Answers to questions: what is stored of connectors, in the shapes of the REST API.

They read snapshots, so they may be asked on any thread and wait for nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

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
    """What the stores know; secrets are hidden unless `clear`."""

    def __init__(
        self, configs: ConfigStore, statuses: StatusStore, plugins: Plugins, secrets: Secrets
    ) -> None:
        self._configs = configs
        self._statuses = statuses
        self._plugins = plugins
        self._secrets = secrets

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

    def config(self, name: str, *, clear: bool = False) -> dict[str, str]:
        return self._shown(self.entry(name).config or {}, clear=clear)

    def _shown(self, config: Mapping[str, str], *, clear: bool) -> dict[str, str]:
        return dict(config) if clear else self._secrets.masked(config)

    def expanded(
        self, expansions: Collection[str], *, clear: bool = False
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
                parts["info"] = self._shown_info(name, entry, clear=clear)
        return found

    def info(self, name: str, *, clear: bool = False) -> ConnectorInfo:
        return self._shown_info(name, self.entry(name), clear=clear)

    def _shown_info(self, name: str, entry: ConnectorEntry, *, clear: bool) -> ConnectorInfo:
        config = entry.config or {}
        tasks = [TaskRef(name, number) for number in range(len(entry.tasks))]
        return ConnectorInfo(name, self._shown(config, clear=clear), tasks, self.type_of(config))

    def tasks(self, name: str, *, clear: bool = False) -> list[TaskInfo]:
        return [
            TaskInfo(TaskRef(name, number), self._shown(config, clear=clear))
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
        config = entry.config if entry is not None else None
        ordered = sorted(tasks.items(), key=lambda item: item[0].number)
        return ConnectorStatus(
            name,
            shown_state(connector),
            [shown_state(status, task.number) for task, status in ordered],
            self.type_of(config or {}),
        )

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
