"""Answers in the form that was asked for: a table for people, JSON or YAML for scripts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from penstock.cli.output import out, say

_ENDLESS: Final = 10_000


class Output(StrEnum):
    """The forms of an answer."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


OutputOption = Annotated[Output, typer.Option("--output", "-o", help="The form of the answer.")]


def show(
    rows: Sequence[Mapping[str, Any]],
    output: Output,
    columns: Sequence[str] = (),
    style: Callable[[Mapping[str, Any]], str] | None = None,
) -> None:
    """Rows under these columns (else those of the first row); scripts get all that rows have."""
    if output is not Output.TABLE:
        show_document([dict(row) for row in rows], output)
        return
    table = table_of(rows, columns, style)
    if out.is_terminal:
        out.print(table)
        return
    # Only a terminal has a width: lines in a pipe are for grep and cut.
    wide = Console(file=out.file, width=_ENDLESS, highlight=False)
    with wide.capture() as captured:
        wide.print(table)
    out.file.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def table_of(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str] = (),
    style: Callable[[Mapping[str, Any]], str] | None = None,
) -> Table:
    """The table itself; `style` gives a row its colour."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    shown = columns or list(rows[0] if rows else ())
    for column in shown:
        table.add_column(column.upper().replace("_", " "), overflow="fold")
    for row in rows:
        cells = (escape(_cell(row.get(column))) for column in shown)
        table.add_row(*cells, style=style(row) if style else None)
    return table


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
