"""Reads the connectors of a cluster, in a few requests for any number of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from penstock.kernel.errors import NotFoundError, PenstockError, SetupError
from penstock.tools.client import Client, Expanded
from penstock.tools.manager.connector import MARKER, NAME, Connector
from penstock.tools.manager.secrets import SecretKeys, hides, password_keys

_AT_ONCE: Final = 8

UNKNOWN_STATE: Final = "UNASSIGNED"
"""Connect's name for the state of a connector that no worker runs yet."""


@dataclass(frozen=True, slots=True)
class Running:
    """A connector in the cluster, in any state.

    `notes` has its worker's messages about keys that no plugin declares.
    """

    name: str
    config: Mapping[str, str] = field(repr=False)
    state: str = UNKNOWN_STATE
    task_states: Sequence[str] = ()
    notes: Sequence[str] = ()

    @property
    def project(self) -> str | None:
        """The project that manages it, or None."""
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

    `compared` has, by connector and key, whether a wanted secret equals the one that the server
    hides: the server compared them.
    """

    connectors: Mapping[str, Running] = field(default_factory=dict)
    secrets: SecretKeys = field(default_factory=SecretKeys)
    compared: Mapping[tuple[str, str], bool] = field(default_factory=dict)


def read_cluster(client: Client, wanted: Iterable[Connector] = ()) -> Cluster:
    """Read the cluster's connectors, and what a comparison with the wanted ones needs."""
    running = read_connectors(client)
    listed = list(wanted)
    classes = {each.plugin for each in listed}
    classes |= {running[each.name].plugin for each in listed if each.name in running}
    return Cluster(running, read_secrets(client, classes), _compared(client, listed, running))


def read_connectors(client: Client) -> dict[str, Running]:
    """All connectors, also new ones without a status."""
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
    connector = status.connector
    return Running(info.name, info.config, connector.state, tasks, connector.notes)


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
        return {}  # the server hides secrets, but can't compare them
    return {(name, key): is_same for name in same for key, is_same in same[name].items()}


def _hidden(wanted: Mapping[str, str], running: Mapping[str, str]) -> dict[str, str]:
    return {
        key: text for key, text in wanted.items() if hides(running.get(key, "")) and not hides(text)
    }
