"""`penstock create`: connectors from files, from standard input, from the command line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.connectors.first_offsets import create_at, first_offsets
from penstock.cli.connectors.given import Given, Strict, given_connectors, remarks
from penstock.cli.connectors.results import Results, remark
from penstock.cli.formats import Output, OutputOption
from penstock.cli.options import grouped
from penstock.cli.pairs import changes_of
from penstock.cli.target import ConnectCluster
from penstock.cli.wait_options import Timeout, Wait, patience
from penstock.kernel.errors import ConfigError, ConflictError
from penstock.kernel.wire.states import Wanted

if TYPE_CHECKING:
    from penstock.kernel.wire.models import OffsetEntry
    from penstock.tools.client import Client
    from penstock.tools.client.arrival import Verdict

app = typer.Typer(rich_markup_mode=None)


@app.command()
@grouped
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
        Wanted | None,
        typer.Option(help="Its state; overrides the one in a file.", case_sensitive=False),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="If the connector exists, replace its config.")
    ] = False,
    offsets: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Start of a new connector: JSON as of GET /connectors/NAME/offsets.",
        ),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(
            metavar="OLD",
            help="Copy this connector with its secrets; KEY=VALUE sets a key, KEY- removes one.",
        ),
    ] = None,
    strict: Strict = False,
    wait: Wait = False,
    timeout: Timeout = None,
    *,
    cluster: ConnectCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """Create connectors from files, from standard input, or from a name and its settings.

    Files are .json, .yaml, .properties or .py, as for `penstock plan`. Keys that no plugin
    declares are warnings; with --strict they are errors.

    \b
    penstock create orders-sink.json
    penstock create *.json --state paused
    penstock create orders-sink.json --replace --wait
    penstock create lines connector.class=FileStreamSource file=/tmp/in.txt topic=lines
    penstock create orders-sink.json --offsets offsets.json
    penstock create orders-copy --like orders-sink topics=orders-copy
    cat orders-sink.json | penstock create -
    """
    seconds = patience(timeout, wait=wait)
    if like is not None and (replace or strict or offsets is not None):
        raise ConfigError(
            "--like copies a whole connector; leave out --replace, --strict and --offsets"
        )
    asked = given_connectors(given) if like is None else [Given(given[0], {}, "the command line")]
    connectors = {each.name: each for each in asked}
    first = first_offsets(offsets, connectors, replace=replace)
    results = Results(output, "created or replaced" if replace else "created")
    with cluster.client() as client:
        known = _states(client) if replace else {}
        wanted = {
            name: state or (each.target if name in known else each.initial)
            for name, each in connectors.items()
        }
        done: dict[str, str] = {}

        def make(name: str) -> None:
            if like is not None:
                done[name] = _copy(client, like, given, wanted[name])
                return
            each = connectors[name]
            found = remarks(client, each.plugin, each.config, strict=strict)
            for note in found.unknown:
                results.note(name, note)
            with found.in_errors():
                done[name] = _put(client, each, wanted[name], first, new=name not in known)

        made = results.attempt(list(connectors), make)
        if seconds is None:
            for name in made:
                results.ok(name, done[name])
            results.finish()
        goals = {name: wanted[name] or known.get(name, Wanted.RUNNING) for name in made}
        for name, verdict in _arrivals(client, goals, known, seconds):
            if verdict.error:
                results.fail(name, f"{done[name]}, but {verdict.summary}")
            else:
                results.ok(
                    name, f"{done[name]}, {goals[name].value}{remark(client, name, verdict)}"
                )
    results.finish()


def _copy(client: Client, like: str, given: Sequence[str], state: Wanted | None) -> str:
    """Create NAME KEY=VALUE... from another connector. Returns what was done."""
    from penstock.tools.manager import MARKER

    name, *settings = given
    # The copy belongs to no project: no file has it, so --prune would delete it.
    changes = {MARKER: None, **changes_of(settings, name)}
    client.copy(like, name, changes, state and state.value.upper())
    return f"created like {like}"


def _states(client: Client) -> dict[str, Wanted]:
    """The state of each connector that a new config keeps: paused, stopped, else running."""
    kept = {"PAUSED": Wanted.PAUSED, "STOPPED": Wanted.STOPPED}
    now = {name: each.connector.state for name, each in client.statuses().items()}
    return {name: kept.get(now.get(name, ""), Wanted.RUNNING) for name in client.connectors()}


def _arrivals(
    client: Client, wanted: Mapping[str, Wanted], known: Collection[str], seconds: float
) -> Iterator[tuple[str, Verdict]]:
    """The verdict on each; existing ones must hold it, as they show old states for a moment."""
    from penstock.tools.client.arrival import GOALS, arrivals, lasting

    goals = {name: GOALS[state.upper()] for name, state in wanted.items()}
    settled = {name: lasting(goal) if name in known else goal for name, goal in goals.items()}
    yield from arrivals(client, settled, seconds)


def _put(
    client: Client,
    given: Given,
    state: Wanted | None,
    offsets: tuple[OffsetEntry, ...],
    *,
    new: bool,
) -> str:
    """Create or replace it. Returns what was done."""
    if new and not offsets:
        _create(client, given, state)
        return "created"
    if new:
        create_at(client, given, offsets)
        _set_state(client, given.name, state or Wanted.RUNNING)
        return "created with offsets"
    client.put_config(given.name, given.config)
    if state is not None:
        _set_state(client, given.name, state)
    return "replaced"


def _create(client: Client, given: Given, state: Wanted | None) -> None:
    from penstock.tools.client.transport import may_pass

    try:
        client.create(given.name, given.config, state and state.value.upper())
    except ConflictError as error:
        if may_pass(error):
            raise  # a rebalance, which is a conflict too
        raise ConflictError(f"{error} (--replace replaces its config)") from error


def _set_state(client: Client, name: str, state: Wanted) -> None:
    verbs: dict[Wanted, Callable[[str], None]] = {
        Wanted.RUNNING: client.resume,
        Wanted.PAUSED: client.pause,
        Wanted.STOPPED: client.stop,
    }
    verbs[state](name)
