"""`penstock create`: connectors from files, from standard input, from the command line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.connectors.first_offsets import create_at, first_offsets
from penstock.cli.connectors.given import Given, Strict, given_connectors
from penstock.cli.connectors.results import Results
from penstock.cli.pairs import changes_of
from penstock.cli.shown import Output, OutputOption
from penstock.cli.target import Connect, ContextName, Target
from penstock.cli.waiting import Timeout, Wait, patience
from penstock.errors import ConfigError, ConflictError, PenstockError
from penstock.wire.states import Wanted

if TYPE_CHECKING:
    from penstock.client import Client
    from penstock.client.waiting import Verdict
    from penstock.wire.models import OffsetEntry

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
    offsets: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where it starts: JSON as of GET /connectors/NAME/offsets. For one that is new.",
        ),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(
            metavar="OLD",
            help="Copy this connector with its secrets; KEY=VALUE and KEY- say what is different.",
        ),
    ] = None,
    strict: Strict = False,
    wait: Wait = False,
    timeout: Timeout = None,
    connect: Connect = None,
    context: ContextName = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Create connectors from files, from standard input, or from a name and its settings.

    Files are .json, .yaml, .properties or .py, as for `penstock plan`. Keys that no plugin
    declares are told; --strict refuses them.

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
            "--like copies a whole connector: leave --replace, --strict, --offsets out"
        )
    found = given_connectors(given) if like is None else [Given(given[0], {}, "the command line")]
    connectors = {each.name: each for each in found}
    first = first_offsets(offsets, connectors, replace=replace)
    results = Results(output, "created or replaced" if replace else "created")
    with Target.of(connect, context).client() as client:
        known = _states(client) if replace else {}
        wanted = {
            name: state or (each.target if name in known else each.initial)
            for name, each in connectors.items()
        }
        told: dict[str, str] = {}

        def make(name: str) -> None:
            if like is not None:
                told[name] = _copy(client, like, given, wanted[name])
                return
            for note in _unknown_keys(client, connectors[name], strict=strict):
                results.note(name, note)
            told[name] = _put(client, connectors[name], wanted[name], first, new=name not in known)

        made = results.attempt(list(connectors), make)
        if seconds is None:
            for name in made:
                results.ok(name, told[name])
            results.finish()
        goals = {name: wanted[name] or known.get(name, Wanted.RUNNING) for name in made}
        for name, verdict in _arrivals(client, goals, known, seconds):
            if verdict.error:
                results.fail(name, f"{told[name]}, but {verdict.told}")
            elif verdict.without_tasks:
                results.ok(name, f"{told[name]}, running without tasks: {_why(client, name)}")
            else:
                results.ok(name, f"{told[name]}, {goals[name].value}")
    results.finish()


def _copy(client: Client, like: str, given: Sequence[str], state: Wanted | None) -> str:
    """Create NAME KEY=VALUE... from another connector; what was done."""
    from penstock.manager import MARKER

    name, *settings = given
    # Nobody manages the copy: no file of the project has it, so --prune would delete it.
    changes = {MARKER: None, **changes_of(settings, name)}
    client.copy(like, name, changes, state and state.value.upper())
    return f"created like {like}"


def _unknown_keys(client: Client, given: Given, *, strict: bool) -> list[str]:
    """What to tell of keys that no plugin declares; with `strict` that is an error."""
    try:
        unknown = client.validate(given.plugin, given.config).unknown(given.config)
    except PenstockError:
        return []  # what is wrong with it is told by who is to create it
    if unknown and strict:
        raise ConfigError("; ".join(unknown.values()))
    return list(unknown.values())


def _states(client: Client) -> dict[str, Wanted]:
    """The states that connectors have and will keep; all others are to run."""
    kept = {"PAUSED": Wanted.PAUSED, "STOPPED": Wanted.STOPPED}
    now = {name: each.connector.state for name, each in client.statuses().items()}
    return {name: kept.get(now.get(name, ""), Wanted.RUNNING) for name in client.connectors()}


def _arrivals(
    client: Client, wanted: Mapping[str, Wanted], known: Collection[str], seconds: float
) -> Iterator[tuple[str, Verdict]]:
    """Each with what became of it; those that were there before show old states for a moment."""
    from penstock.client.waiting import GOALS, arrivals, lasting

    goals = {name: GOALS[state.upper()] for name, state in wanted.items()}
    settled = {name: lasting(goal) if name in known else goal for name, goal in goals.items()}
    yield from arrivals(client, settled, seconds)


def _why(client: Client, name: str) -> str:
    """The last warning of a connector, where its worker keeps such."""
    try:
        lines = client.logs(name, level="WARN").lines
    except PenstockError:
        lines = []
    return lines[-1].message if lines else "there is nothing for them to do yet"


def _put(
    client: Client,
    given: Given,
    state: Wanted | None,
    offsets: tuple[OffsetEntry, ...],
    *,
    new: bool,
) -> str:
    """Create or replace it; what was done."""
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
    from penstock.client.transport import may_pass

    try:
        client.create(given.name, given.config, state and state.value.upper())
    except ConflictError as error:
        if may_pass(error):
            raise  # a rebalance, which is a conflict too
        raise ConflictError(f"{error} (--replace gives it this config)") from error


def _set_state(client: Client, name: str, state: Wanted) -> None:
    verbs: dict[Wanted, Callable[[str], None]] = {
        Wanted.RUNNING: client.resume,
        Wanted.PAUSED: client.pause,
        Wanted.STOPPED: client.stop,
    }
    verbs[state](name)
