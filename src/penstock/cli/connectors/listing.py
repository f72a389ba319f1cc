"""`penstock get`: connectors and their states at a glance; plugins, loggers and workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Final

import typer

from penstock.cli.completion import connector_names
from penstock.cli.connectors.choice import Chosen, choose
from penstock.cli.connectors.listed import Listing, Row, watch
from penstock.cli.formats import Output, OutputOption
from penstock.cli.options import grouped
from penstock.cli.target import ConnectCluster
from penstock.kernel.errors import ConfigError

if TYPE_CHECKING:
    from penstock.kernel.wire.models import ConnectorStatus
    from penstock.tools.client import Client, Expanded

app = typer.Typer(rich_markup_mode=None)

_UNKNOWN: Final = "UNKNOWN"
_INTERVAL: Final = 2.0


class State(StrEnum):
    """States to filter by."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    FAILED = "failed"
    UNASSIGNED = "unassigned"
    RESTARTING = "restarting"


@app.command()
@grouped
def get(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Connectors or patterns; default all. Or one of the words connectors, plugins, "
            "loggers and workers, then names of these.",
            autocompletion=connector_names,
            show_default=False,
        ),
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only connectors that failed or have a failed task.")
    ] = False,
    state: Annotated[
        State | None,
        typer.Option(
            help="Only connectors in this state, or with a task in it.", case_sensitive=False
        ),
    ] = None,
    again: Annotated[bool, typer.Option("--watch", "-w", help="Repeat until Ctrl-C.")] = False,
    interval: Annotated[
        float | None,
        typer.Option(min=0.1, help="Seconds, with --watch.", show_default=f"{_INTERVAL:g}"),
    ] = None,
    *,
    cluster: ConnectCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """List connectors with their states, those that failed first.

    \b
    penstock get
    penstock get 'jdbc_*' --failed
    penstock get --state paused -o json
    penstock get --watch
    penstock get plugins
    penstock get workers
    """
    kind, patterns = _kind(names or [])
    if kind is not None and (failed or state):
        raise ConfigError("--failed and --state are for connectors")
    if failed and state:
        raise ConfigError("--failed and --state exclude each other; --failed is --state failed")
    wanted = "failed" if failed else state and state.value

    if again and output is not Output.TABLE:
        raise ConfigError("--watch shows only tables; leave it out, or leave out --output")
    if interval is not None and not again:
        raise ConfigError("--interval is the time between two looks; it needs --watch")
    with cluster.client() as client:

        def ask() -> Listing:
            if kind is not None:
                return _only(kind(client), patterns)
            return _connectors(client, patterns, wanted)

        if again:
            watch(ask, _INTERVAL if interval is None else interval)
        found = ask()
    found.show(output, "there are no such connectors" if wanted else "none")
    found.finish()


def _kind(names: Sequence[str]) -> tuple[Callable[[Client], list[Row]] | None, Sequence[str]]:
    if names and names[0] == "connectors":
        return None, names[1:]
    if names and names[0] in _KINDS:
        return _KINDS[names[0]], names[1:]
    return None, names


def _connectors(client: Client, patterns: Sequence[str], wanted: str | None) -> Listing:
    found = client.expanded()
    chosen = choose(client, patterns, found) if patterns else Chosen(list(found))
    rows = [_connector(name, found[name]) for name in chosen.names]
    if wanted:
        rows = [row for row in rows if wanted.upper() in _states(row)]
    rows.sort(key=lambda row: ("FAILED" not in _states(row), row["name"]))
    return Listing(rows, [message for _, message in chosen.missing])


def _connector(name: str, found: Expanded) -> Row:
    status = found.status
    states = Counter(task.state for task in status.tasks) if status else Counter()
    return {
        "name": name,
        "type": found.info.type,
        "state": status.connector.state if status else _UNKNOWN,
        "tasks": {"total": states.total(), **{key.lower(): n for key, n in states.items()}},
        "worker": status.connector.worker_id if status else "",
        "class": found.info.config.get("connector.class", ""),
        "reason": _reason(status) if status else "",
    }


def _reason(status: ConnectorStatus) -> str:
    """Why it or a task failed, or what it waits for, in one line; empty if all is well."""
    from penstock.kernel.config.redaction import without_passwords
    from penstock.tools.client.arrival import failure, reason, waits_for

    failed = failure(status)
    if failed is None:
        return waits_for(status)
    lines = reason(failed.trace)
    return without_passwords(lines[0]) if lines else ""


def _states(row: Row) -> set[str]:
    return {row["state"], *(key.upper() for key in row["tasks"] if key != "total")}


def _plugins(client: Client) -> list[Row]:
    found = client.plugins(connectors_only=False)
    return [{"name": each.class_name, "type": each.type, "version": each.version} for each in found]


def _loggers(client: Client) -> list[Row]:
    return [{"name": name, "level": each.level} for name, each in client.loggers().items()]


def _workers(client: Client) -> list[Row]:
    """Workers that run something; Connect has no list of the others."""
    connectors: Counter[str] = Counter()
    tasks: Counter[str] = Counter()
    for status in client.statuses().values():
        connectors[status.connector.worker_id] += 1
        tasks.update(task.worker_id for task in status.tasks)
    return [
        {"name": worker, "connectors": connectors[worker], "tasks": tasks[worker]}
        for worker in sorted(connectors | tasks)
        if worker
    ]


_KINDS: Final[Mapping[str, Callable[[Client], list[Row]]]] = {
    "plugins": _plugins,
    "loggers": _loggers,
    "workers": _workers,
}


def _only(rows: Sequence[Row], patterns: Sequence[str]) -> Listing:
    if not patterns:
        return Listing(rows)
    found = [row for row in rows if any(_fits(row["name"], each) for each in patterns)]
    missing = [each for each in patterns if not any(_fits(row["name"], each) for row in found)]
    return Listing(found, [f"nothing matches {each}" for each in missing])


def _fits(name: str, pattern: str) -> bool:
    """Classes may be given by their last part, as in a config."""
    return fnmatchcase(name, pattern) or fnmatchcase(name.rpartition(".")[2], pattern)
