"""`penstock create`: connectors from files, from standard input, from the command line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.connectors.given import Given, given_connectors
from penstock.cli.connectors.results import Results
from penstock.cli.shown import Output, OutputOption
from penstock.cli.target import Connect, ContextName, Target
from penstock.cli.waiting import Timeout, Wait, patience
from penstock.wire.states import Wanted

if TYPE_CHECKING:
    from penstock.client import Client

app = typer.Typer(rich_markup_mode=None)


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
        Wanted | None, typer.Option(help="Its state; wins over that in a file.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="If there is one of this name, give it this config.")
    ] = False,
    wait: Wait = False,
    timeout: Timeout = None,
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
    seconds = patience(timeout, wait=wait)
    connectors = {each.name: each for each in given_connectors(given)}
    results = Results(output, "created or replaced" if replace else "created")
    with Target.of(connect, context).client() as client:
        known = _states(client) if replace else {}
        wanted = {
            name: state or (each.target if name in known else each.initial)
            for name, each in connectors.items()
        }
        told: dict[str, str] = {}

        def make(name: str) -> None:
            put = _replace if name in known else _create
            told[name] = put(client, connectors[name], wanted[name])

        made = results.attempt(list(connectors), make)
        if seconds is None:
            for name in made:
                results.ok(name, told[name])
            results.finish()
        goals = {name: wanted[name] or known.get(name, Wanted.RUNNING) for name in made}
        for name, error in _arrivals(client, goals, known, seconds):
            if error:
                results.fail(name, f"{told[name]}, but {error}")
            else:
                results.ok(name, f"{told[name]}, {goals[name].value}")
    results.finish()


def _states(client: Client) -> dict[str, Wanted]:
    """The states that connectors have and will keep; all others are to run."""
    kept = {"PAUSED": Wanted.PAUSED, "STOPPED": Wanted.STOPPED}
    now = {name: each.connector.state for name, each in client.statuses().items()}
    return {name: kept.get(now.get(name, ""), Wanted.RUNNING) for name in client.connectors()}


def _arrivals(
    client: Client, wanted: Mapping[str, Wanted], known: Collection[str], seconds: float
) -> Iterator[tuple[str, str]]:
    """Each with an error or none; those that were there before show old states for a moment."""
    from penstock.client.waiting import GOALS, arrivals, lasting

    goals = {name: GOALS[state.upper()] for name, state in wanted.items()}
    settled = {name: lasting(goal) if name in known else goal for name, goal in goals.items()}
    for name, found in arrivals(client, settled, seconds):
        yield name, found.told


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
