"""`penstock validate`: lets a worker check connector files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from penstock.cli.connectors.given import Given, Strict, given_connectors
from penstock.cli.formats import Output, OutputOption, show
from penstock.cli.options import grouped
from penstock.cli.output import complain, say, warn
from penstock.cli.target import ConnectCluster
from penstock.kernel.errors import PenstockError, SetupError

if TYPE_CHECKING:
    from penstock.tools.client import Client

app = typer.Typer(rich_markup_mode=None)

_CLASS: Final = "connector.class"
_COLUMNS: Final = ("connector", "key", "value", "default", "type", "importance", "error")


@app.command()
@grouped
def validate(
    given: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|-|NAME KEY=VALUE",
            help="Files and directories, standard input, or a name and its settings.",
            show_default=False,
        ),
    ],
    every: Annotated[
        bool, typer.Option("--all", help="All keys, with their values and defaults.")
    ] = False,
    strict: Strict = False,
    *,
    cluster: ConnectCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """Let a worker check connector files; nothing is created. The status is 1 if one has errors.

    Keys that no plugin declares are warnings; with --strict they are errors.

    \b
    penstock validate orders-sink.json
    penstock validate *.json -o json
    penstock validate orders-sink.json --all
    """
    connectors = given_connectors(given)
    with cluster.client() as client:
        found = [row for each in connectors for row in _checked(client, each, strict=strict)]
    wrong = [row for row in found if row["errors"]]
    reported = [row for row in found if row["errors"] or row["note"]]
    if output is not Output.TABLE:
        show(found if every else reported, output)
    else:
        if every:
            show([_for_people(row) for row in found], output, _COLUMNS)
        _report(connectors, reported)
    raise typer.Exit(1 if wrong else 0)


def _checked(client: Client, given: Given, *, strict: bool) -> Iterator[dict[str, Any]]:
    from penstock.tools.manager.secrets import SecretKeys

    try:
        checked = client.validate(given.plugin, given.config)
    except SetupError:
        raise
    except PenstockError as error:
        row = {"connector": given.name, "where": given.place(_CLASS), "key": _CLASS}
        yield {**row, "errors": [str(error)], "note": ""}
        return
    secrets = SecretKeys.of(given.plugin, checked)
    for key in checked.keys:
        shown = secrets.shown(key.name, key.value or "", given.config)
        definition = key.definition or {}
        yield {
            "connector": given.name,
            "where": given.place(key.name),
            "key": key.name,
            "value": None if key.value is None else shown,
            "default": definition.get("default_value"),
            "type": definition.get("type"),
            "importance": definition.get("importance"),
            "errors": [secrets.redacted(key.name, error, given.config) for error in key.messages],
            "note": "",
        }
    for name, message in checked.unknown(given.config).items():
        row = {"connector": given.name, "where": given.place(name), "key": name}
        yield {**row, "errors": [message] if strict else [], "note": "" if strict else message}


def _for_people(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "error": "; ".join(row["errors"]) or row["note"]}


def _report(connectors: list[Given], reported: list[dict[str, Any]]) -> None:
    for each in connectors:
        rows = [row for row in reported if row["connector"] == each.name]
        if not any(row["errors"] for row in rows):
            say(f"{each.where}: {each.name}: valid")
        for row in rows:
            place = f"{row['where']}: {row['connector']}"
            for error in row["errors"]:
                complain(f"{place}: {row['key']}: {error}")
            if row["note"]:
                warn(f"{place}: {row['note']}")
