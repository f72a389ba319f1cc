"""`penstock create`: connectors from files, from standard input, from the command line."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from penstock.cli.connectors.given import Given, given_connectors
from penstock.cli.connectors.results import Results
from penstock.cli.connectors.waiting import (
    Goal,
    Timeout,
    Wait,
    await_goal,
    is_paused,
    is_stopped,
    runs,
)
from penstock.cli.shown import Output, OutputOption
from penstock.cli.target import Connect, ContextName, Target
from penstock.errors import ConfigError

if TYPE_CHECKING:
    from penstock.client import Client

app = typer.Typer(rich_markup_mode=None)


class Wanted(StrEnum):
    """States that a connector can be created in."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"


_GOALS: Final[dict[Wanted, Goal]] = {
    Wanted.RUNNING: runs,
    Wanted.PAUSED: is_paused,
    Wanted.STOPPED: is_stopped,
}


@app.command()
def create(
    given: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|-|NAME KEY=VALUE",
            help="Files and directories, standard input, or a name and its settings.",
            show_default=False,
        ),
    ],
    state: Annotated[
        Wanted | None, typer.Option(help="Its first state; wins over that in a file.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="If there is one of this name, give it this config.")
    ] = False,
    wait: Wait = False,
    timeout: Timeout = 60.0,
    connect: Connect = None,
    context: ContextName = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Create connectors from files, from standard input, or from a name and its settings.

    Files are .json, .yaml, .properties or .py, as for `penstock plan`.

    \b
    penstock create orders-sink.json
    penstock create *.json --state paused
    penstock create orders-sink.json --replace --wait
    penstock create lines connector.class=FileStreamSource file=/tmp/in.txt topic=lines
    cat orders-sink.json | penstock create -
    """
    connectors = {each.name: each for each in given_connectors(given)}
    wanted = {name: state or _state(each) for name, each in connectors.items()}
    results = Results(output, "created or replaced" if replace else "created")
    with Target.of(connect, context).client() as client:
        known = set(client.connectors()) if replace else set()
        told: dict[str, str] = {}

        def make(name: str) -> None:
            put = _replace if name in known else _create
            told[name] = put(client, connectors[name], wanted[name])

        made = results.attempt(list(connectors), make)
        for goal in Wanted if wait else ():
            names = [name for name in made if (wanted[name] or Wanted.RUNNING) is goal]
            for name, error in await_goal(client, names, _GOALS[goal], timeout):
                if error:
                    results.fail(name, f"{told[name]}, but {error}")
                else:
                    results.ok(name, f"{told[name]}, {goal.value}")
        for name in () if wait else made:
            results.ok(name, told[name])
    results.finish()


def _state(given: Given) -> Wanted | None:
    """The state that a file asks for."""
    if given.state is None:
        return None
    try:
        return Wanted(given.state.lower())
    except ValueError:
        allowed = ", ".join(Wanted)
        raise ConfigError(
            f"{given.where}: initial_state is {given.state}; it must be one of {allowed}"
        ) from None


def _create(client: Client, given: Given, state: Wanted | None) -> str:
    client.create(given.name, given.config, state and state.value.upper())
    return "created"


def _replace(client: Client, given: Given, state: Wanted | None) -> str:
    client.put_config(given.name, given.config)
    verbs: dict[Wanted, Callable[[str], None]] = {
        Wanted.RUNNING: client.resume,
        Wanted.PAUSED: client.pause,
        Wanted.STOPPED: client.stop,
    }
    if state is not None:
        verbs[state](given.name)
    return "replaced"
