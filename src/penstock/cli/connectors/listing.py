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
from penstock.cli.shown import Output, OutputOption
from penstock.cli.target import Connect, ContextName, Target
from penstock.errors import ConfigError

if TYPE_CHECKING:
    from penstock.client import Client, Expanded
    from penstock.wire.models import ConnectorStatus

app = typer.Typer(rich_markup_mode=None)

_UNKNOWN: Final = "UNKNOWN"


class State(StrEnum):
    """States that can be asked for."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    FAILED = "failed"
    UNASSIGNED = "unassigned"
    RESTARTING = "restarting"


@app.command()
def get(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Connectors, or patterns; all if there are none. Or one of the words connectors, "
            "plugins, loggers and workers, then names of these.",
            autocompletion=connector_names,
            show_default=False,
        ),
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only those of which something failed.")
    ] = False,
    state: Annotated[
        State | None, typer.Option(help="Only those that are, or have a task, in this state.")
    ] = None,
    again: Annotated[bool, typer.Option("--watch", "-w", help="Again and again.")] = False,
    interval: Annotated[float, typer.Option(min=0.1, help="Seconds between, with --watch.")] = 2.0,
    connect: Connect = None,
    context: ContextName = None,
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
        raise ConfigError("--watch shows a table; for scripts, call again without it")
    with Target.of(connect, context).client() as client:

        def ask() -> Listing:
            if kind is not None:
                return _only(kind(client), patterns)
            return _connectors(client, patterns, wanted)

        if again:
            watch(ask, interval)
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
    return Listing(rows, [told for _, told in chosen.missing])


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
    """Why something of it failed, in one line; empty if nothing has."""
    from penstock.client.waiting import failure, reason
    from penstock.config.redaction import without_passwords

    failed = failure(status)
    lines = reason(failed.trace) if failed else []
    return without_passwords(lines[0]) if lines else ""


def _states(row: Row) -> set[str]:
    return {row["state"], *(key.upper() for key in row["tasks"] if key != "total")}


def _plugins(client: Client) -> list[Row]:
    found = client.plugins(connectors_only=False)
    return [{"name": each.class_name, "type": each.type, "version": each.version} for each in found]


def _loggers(client: Client) -> list[Row]:
    return [{"name": name, "level": each.level} for name, each in client.loggers().items()]


def _workers(client: Client) -> list[Row]:
    """Workers that have something to run; Connect has no list of the others."""
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
