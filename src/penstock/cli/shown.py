"""Answers in the form that was asked for: a table for people, JSON or YAML for scripts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from penstock.cli.output import out, say


class Output(StrEnum):
    """The forms of an answer."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


OutputOption = Annotated[Output, typer.Option("--output", "-o", help="The form of the answer.")]


def show(rows: Sequence[Mapping[str, Any]], output: Output, columns: Sequence[str] = ()) -> None:
    """Rows under these columns (else those of the first row); scripts get all that rows have."""
    if output is not Output.TABLE:
        show_document([dict(row) for row in rows], output)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    shown = columns or list(rows[0] if rows else ())
    for column in shown:
        table.add_column(column.upper().replace("_", " "), overflow="fold")
    for row in rows:
        table.add_row(*(escape(_cell(row.get(column))) for column in shown))
    out.print(table)


def show_document(value: Any, output: Output) -> None:
    """One value; as a table it is YAML, which people read well too."""
    if output is Output.JSON:
        # Not through the console, which would wrap and style it.
        out.file.write(json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n")
        return
    import yaml

    say(
        yaml.safe_dump(
            value, sort_keys=False, allow_unicode=True, default_flow_style=False
        ).rstrip()
    )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
