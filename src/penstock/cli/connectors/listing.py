"""`penstock get`: connectors and their states at a glance; plugins, loggers and workers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from penstock.cli.completion import connector_names
from penstock.cli.connectors.choice import choose
from penstock.cli.output import out, say
from penstock.cli.shown import Output, OutputOption, show, table_of
from penstock.cli.target import Connect, ContextName, Target
from penstock.errors import ConfigError, NotFoundError, SetupError

if TYPE_CHECKING:
    from penstock.client import Client, Expanded

app = typer.Typer(rich_markup_mode=None)

Row = Mapping[str, Any]

_COLUMNS: Final = ("name", "type", "state", "tasks", "worker", "class")
_UNKNOWN: Final = "UNKNOWN"
_STYLES: Final = {"FAILED": "red", "PAUSED": "yellow", "STOPPED": "dim"}


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
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Again and again.")] = False,
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

    def ask(client: Client) -> list[Row]:
        if kind is not None:
            return _only(kind(client), patterns)
        return _connectors(client, patterns, wanted)

    with Target.of(connect, context).client() as client:
        if watch:
            _watch(lambda: ask(client), interval, output)
        else:
            _tell(ask(client), output, "there are no such connectors" if wanted else "none")


def _kind(names: Sequence[str]) -> tuple[Callable[[Client], list[Row]] | None, Sequence[str]]:
    if names and names[0] == "connectors":
        return None, names[1:]
    if names and names[0] in _KINDS:
        return _KINDS[names[0]], names[1:]
    return None, names


def _connectors(client: Client, patterns: Sequence[str], wanted: str | None) -> list[Row]:
    found = client.expanded()
    if patterns:
        chosen = choose(client, patterns, found)
        chosen.check()
        found = {name: found[name] for name in chosen.names}
    rows = [_connector(name, each) for name, each in found.items()]
    if wanted:
        rows = [row for row in rows if wanted.upper() in _states(row)]
    return sorted(rows, key=lambda row: ("FAILED" not in _states(row), row["name"]))


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
    }


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


def _only(rows: Sequence[Row], patterns: Sequence[str]) -> list[Row]:
    if not patterns:
        return list(rows)
    found = [row for row in rows if any(_fits(row["name"], each) for each in patterns)]
    if not found:
        raise NotFoundError(f"nothing matches {', '.join(patterns)}")
    return found


def _fits(name: str, pattern: str) -> bool:
    """Classes may be given by their last part, as in a config."""
    return fnmatchcase(name, pattern) or fnmatchcase(name.rpartition(".")[2], pattern)


def _tell(rows: Sequence[Row], output: Output, none: str) -> None:
    if output is not Output.TABLE:
        show(rows, output)
    elif not rows:
        say(f"({none})")
    else:
        show([_for_people(row) for row in rows], output, style=_style)


def _for_people(row: Row) -> Row:
    if not isinstance(row.get("tasks"), Mapping):
        return row
    tasks = row["tasks"]
    failed = f" ({tasks['failed']} failed)" if tasks.get("failed") else ""
    return {
        **row,
        "tasks": f"{tasks.get('running', 0)}/{tasks['total']}{failed}",
        "class": row["class"].rpartition(".")[2],
    }


def _style(row: Row) -> str:
    if "failed" in str(row.get("tasks", "")):
        return _STYLES["FAILED"]
    return _STYLES.get(row.get("state", ""), "")


def _watch(ask: Callable[[], list[Row]], interval: float, output: Output) -> None:
    """Until Ctrl-C: on a terminal in place, else one table after another."""
    if output is not Output.TABLE:
        raise ConfigError("--watch shows a table; for scripts, call again without it")
    if not out.is_terminal:
        while True:
            _tell(ask(), output, "none")
            time.sleep(interval)
    from rich.live import Live
    from rich.text import Text

    with Live(console=out, auto_refresh=False) as live:
        while True:
            try:
                shown = table_of([_for_people(row) for row in ask()], style=_style)
            except SetupError as error:
                # A worker that restarts: whoever watches wants to see it come back.
                live.update(Text(f"{error}; trying again"), refresh=True)
            else:
                live.update(shown, refresh=True)
            time.sleep(interval)
