"""Read requests: the stored state of connectors, in the shapes of the REST API.

They read snapshots, so any thread may call them, and they wait for no other thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from penstock.kernel.data.record import TaskId
from penstock.kernel.errors import NotFoundError
from penstock.kernel.wire.json import encode
from penstock.kernel.wire.models import (
    ActiveTopics,
    ConnectorInfo,
    ConnectorStatus,
    StateInfo,
    TaskInfo,
    TaskRef,
)
from penstock.plugins import PluginInfo, Plugins
from penstock.worker.herder.secrets import Secrets
from penstock.worker.storage.interfaces import (
    ClusterSnapshot,
    ConfigStore,
    ConnectorEntry,
    Status,
    StatusStore,
)

UNKNOWN_TYPE = "unknown"
#: Notes of deleted connectors stay in the cache until it has so many entries.
_MOST_NOTED = 10_000


@dataclass(frozen=True, slots=True)
class _State:
    """All that is stored of a connector. Quick to compare: unchanged parts are the same object."""

    entry: ConnectorEntry
    connector: Status | None = None
    tasks: Mapping[TaskId, Status] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Written:
    """A connector in JSON, and the state it was made from.

    It is not reused if its plugin is not installed: the plugin may come at any moment.
    """

    state: _State
    known_type: bool
    text: bytes


@dataclass(frozen=True, slots=True)
class _Moment:
    """The versions of all that an answer is made from."""

    configs: ClusterSnapshot
    changes: int
    plugins: int


@dataclass(frozen=True, slots=True)
class _Answer:
    """All connectors in JSON, as one text and one by one."""

    moment: _Moment
    connectors: Mapping[str, _Written]
    text: bytes

    def holds(self, now: _Moment) -> bool:
        then = self.moment
        return (
            then.configs is now.configs
            and (then.changes, then.plugins) == (now.changes, now.plugins)
            and all(each.known_type for each in self.connectors.values())
        )


class Views:
    """What the stores know; secrets are hidden unless `clear`."""

    def __init__(
        self,
        configs: ConfigStore,
        statuses: StatusStore,
        plugins: Plugins,
        secrets: Secrets,
        notes_of: Callable[[Mapping[str, str]], Sequence[str]] = lambda config: (),  # noqa: ARG005
    ) -> None:
        """`notes_of` returns warnings about a config."""
        self._configs = configs
        self._statuses = statuses
        self._plugins = plugins
        self._secrets = secrets
        self._written: dict[frozenset[str], _Answer] = {}
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

    def config(self, name: str, *, clear: bool = False) -> dict[str, str]:
        return self._shown(self.entry(name).config or {}, clear=clear)

    def _shown(self, config: Mapping[str, str], *, clear: bool) -> dict[str, str]:
        return dict(config) if clear else self._secrets.masked(config)

    def expanded(self, expansions: Collection[str], *, clear: bool = False) -> bytes:
        """All connectors in JSON with the expansions; without those that have no status yet.

        The JSON of each connector is cached until that connector changes, and the whole text
        until any changes.
        """
        wanted = frozenset(expansions) & {"status", "info"}
        # Read before the states: a change meanwhile makes the cached answer outdated.
        moment = _Moment(self._configs.snapshot(), self._statuses.changes, self._plugins.generation)
        if clear:
            # Rarely requested, and not cached because it has secrets.
            return self._answer(wanted, moment, None, clear=True).text
        kept = self._written.get(wanted)
        if kept is None or not kept.holds(moment):
            kept = self._written[wanted] = self._answer(wanted, moment, kept)
        return kept.text

    def _answer(
        self, wanted: frozenset[str], now: _Moment, kept: _Answer | None, *, clear: bool = False
    ) -> _Answer:
        before = {} if kept is None or kept.moment.plugins != now.plugins else kept.connectors
        written: dict[str, _Written] = {}
        for name, entry in now.configs.connectors.items():
            state = _State(entry)
            if "status" in wanted:
                connector = self._statuses.connector(name)
                state = _State(entry, connector, self._statuses.tasks(name))
            if entry.config is None or ("status" in wanted and state.connector is None):
                continue
            known = before.get(name)
            fresh = known is not None and known.known_type and known.state == state
            written[name] = (
                known if known and fresh else self._write(name, state, wanted, clear=clear)
            )
        return _Answer(now, written, b"{%b}" % b",".join(each.text for each in written.values()))

    def _write(self, name: str, state: _State, wanted: frozenset[str], *, clear: bool) -> _Written:
        parts: dict[str, object] = {}
        if state.connector is not None:
            shown = self._shown_status(name, state.entry, state.connector, state.tasks)
            parts["status"] = shown.to_json()
        if "info" in wanted:
            parts["info"] = self._shown_info(name, state.entry, clear=clear).to_json()
        known_type = self.type_of(state.entry.config or {}) != UNKNOWN_TYPE
        return _Written(state, known_type, encode({name: parts})[1:-1])

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
        config = (entry.config if entry is not None else None) or {}
        ordered = sorted(tasks.items(), key=lambda item: item[0].number)
        return ConnectorStatus(
            name,
            replace(shown_state(connector), notes=self._notes(name, config)),
            [shown_state(status, task.number) for task, status in ordered],
            self.type_of(config),
        )

    def _notes(self, name: str, config: Mapping[str, str]) -> Sequence[str]:
        """Cached until the config or the plugins change: clients ask for statuses often."""
        generation = self._plugins.generation
        noted = self._noted.get(name)
        if noted is None or noted[:2] != (config, generation):
            if len(self._noted) >= _MOST_NOTED:
                self._noted.clear()
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
        """The connector's plugin; None if it is not installed."""
        try:
            return self._plugins.connector(config.get("connector.class", ""))
        except NotFoundError:
            return None


def shown_state(status: Status, task: int | None = None) -> StateInfo:
    shown = (status.state, status.worker_id, status.version, status.trace)
    return StateInfo(*shown, task, status.figures)
