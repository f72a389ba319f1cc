"""What a Connect cluster has: read in a few requests, whatever the number of connectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from penstock.client import Client, Expanded
from penstock.errors import NotFoundError, PenstockError, SetupError
from penstock.manager.connector import MARKER, NAME, Connector
from penstock.manager.secrets import SecretKeys, hides, password_keys

_AT_ONCE: Final = 8

UNKNOWN_STATE: Final = "UNASSIGNED"
"""The state of a connector that no worker has taken up yet, as Connect says."""


@dataclass(frozen=True, slots=True)
class Running:
    """A connector as the cluster has it, in whatever state."""

    name: str
    config: Mapping[str, str] = field(repr=False)
    state: str = UNKNOWN_STATE
    task_states: Sequence[str] = ()

    @property
    def project(self) -> str | None:
        """Who manages it, if anybody does."""
        return self.config.get(MARKER)

    @property
    def plugin(self) -> str:
        """Its class or alias; empty if the config has none."""
        return self.config.get("connector.class", "")

    @property
    def own_config(self) -> dict[str, str]:
        """The config as people write it: without its name, and without the marker."""
        return {key: text for key, text in self.config.items() if key not in (NAME, MARKER)}


@dataclass(frozen=True, slots=True)
class Cluster:
    """Everything a plan needs to know.

    `compared` has the secrets that the server hides and has compared for us: whether the value
    that is wanted is the one it has, by connector and key.
    """

    connectors: Mapping[str, Running] = field(default_factory=dict)
    secrets: SecretKeys = field(default_factory=SecretKeys)
    compared: Mapping[tuple[str, str], bool] = field(default_factory=dict)


def read_cluster(client: Client, wanted: Iterable[Connector] = ()) -> Cluster:
    """Ask the cluster for its connectors, and for what the wanted ones are compared with."""
    running = read_connectors(client)
    listed = list(wanted)
    classes = {each.plugin for each in listed}
    classes |= {running[each.name].plugin for each in listed if each.name in running}
    return Cluster(running, read_secrets(client, classes), _compared(client, listed, running))


def read_connectors(client: Client) -> dict[str, Running]:
    """All connectors; also those that are too new to have a status."""
    found = {name: _running(each) for name, each in client.expanded().items()}
    for name in client.connectors():
        if name not in found:
            try:
                found[name] = Running(name, client.connector(name).config)
            except NotFoundError:
                continue  # deleted meanwhile
    return dict(sorted(found.items()))


def read_secrets(client: Client, classes: Iterable[str]) -> SecretKeys:
    """Which keys these connector classes declare as passwords; unknown classes declare none."""
    wanted = sorted(filter(None, set(classes)))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = pool.map(lambda name: _passwords(client, name), wanted)
        return SecretKeys(dict(zip(wanted, found, strict=True)))


def _running(found: Expanded) -> Running:
    info, status = found.info, found.status
    if status is None:
        return Running(info.name, info.config)
    tasks = [task.state for task in status.tasks]
    return Running(info.name, info.config, status.connector.state, tasks)


def _passwords(client: Client, plugin: str) -> frozenset[str]:
    try:
        return password_keys(client.plugin_config(plugin))
    except SetupError:
        raise
    except PenstockError:
        return frozenset()


def _compared(
    client: Client, wanted: Sequence[Connector], running: Mapping[str, Running]
) -> dict[tuple[str, str], bool]:
    asked = {
        each.name: hidden
        for each in wanted
        if each.name in running and (hidden := _hidden(each.config, running[each.name].config))
    }
    if not asked:
        return {}
    try:
        same = client.same_secrets(asked)
    except NotFoundError:
        return {}  # a server that hides secrets, and compares none
    return {(name, key): is_same for name in same for key, is_same in same[name].items()}


def _hidden(wanted: Mapping[str, str], running: Mapping[str, str]) -> dict[str, str]:
    return {
        key: text for key, text in wanted.items() if hides(running.get(key, "")) and not hides(text)
    }
