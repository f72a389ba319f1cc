"""`penstock validate`: what a worker finds wrong with connector files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from penstock.cli.connectors.given import Given, given_connectors
from penstock.cli.output import complain, say
from penstock.cli.shown import Output, OutputOption, show
from penstock.cli.target import Connect, ContextName, Target

if TYPE_CHECKING:
    from penstock.client import Client

app = typer.Typer(rich_markup_mode=None)

_COLUMNS: Final = ("connector", "key", "value", "default", "type", "importance", "error")


@app.command()
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
    connect: Connect = None,
    context: ContextName = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Let a worker check connector files; nothing is created. The status is 1 if one is wrong.

    \b
    penstock validate orders-sink.json
    penstock validate *.json -o json
    penstock validate orders-sink.json --all
    """
    connectors = given_connectors(given)
    with Target.of(connect, context).client() as client:
        found = [row for each in connectors for row in _checked(client, each)]
    wrong = [row for row in found if row["errors"]]
    if output is not Output.TABLE:
        show(found if every else wrong, output)
    else:
        if every:
            show([_for_people(row) for row in found], output, _COLUMNS)
        _tell(connectors, wrong)
    raise typer.Exit(1 if wrong else 0)


def _checked(client: Client, given: Given) -> Iterator[dict[str, Any]]:
    from penstock.manager.secrets import SecretKeys

    checked = client.validate(given.plugin, given.config)
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
            "errors": [secrets.told(key.name, error, given.config) for error in key.errors],
        }


def _for_people(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "error": "; ".join(row["errors"])}


def _tell(connectors: list[Given], wrong: list[dict[str, Any]]) -> None:
    for each in connectors:
        errors = [row for row in wrong if row["connector"] == each.name]
        if not errors:
            say(f"{each.where}: {each.name}: valid")
        for row in errors:
            for error in row["errors"]:
                complain(f"{row['where']}: {row['connector']}: {row['key']}: {error}")
