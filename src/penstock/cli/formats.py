"""Output of commands: a table for people, JSON or YAML for scripts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.cells import cell_len
from rich.markup import escape
from rich.table import Table

from penstock.cli.output import out, say


class Output(StrEnum):
    """The output formats."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


OutputOption = Annotated[Output, typer.Option("--output", "-o", help="The output format.")]


def show(
    rows: Sequence[Mapping[str, Any]],
    output: Output,
    columns: Sequence[str] = (),
    style: Callable[[Mapping[str, Any]], str] | None = None,
) -> None:
    """Print rows with these columns (default: the first row's); scripts get all keys."""
    if output is not Output.TABLE:
        show_document([dict(row) for row in rows], output)
        return
    if not rows and not columns:
        say("(none)")
    elif out.is_terminal:
        out.print(table_of(rows, columns, style))
    else:
        # Only a terminal has a width: lines in a pipe must stay whole for grep and cut.
        out.file.writelines(f"{line}\n" for line in _lines(rows, columns))


def table_of(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str] = (),
    style: Callable[[Mapping[str, Any]], str] | None = None,
) -> Table:
    """The table itself; `style` gives a row its colour."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    titles, *cells = _cells(rows, columns)
    for title in titles:
        table.add_column(title, overflow="fold")
    for row, texts in zip(rows, cells, strict=True):
        table.add_row(*map(escape, texts), style=style(row) if style else None)
    return table


def show_document(value: Any, output: Output) -> None:
    """Print one value; instead of a table, people get YAML."""
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


def _cells(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> list[list[str]]:
    """The titles, then the texts of each row."""
    shown = columns or list(rows[0] if rows else ())
    titles = [column.upper().replace("_", " ") for column in shown]
    return [titles, *([_cell(row.get(column)) for column in shown] for row in rows)]


def _lines(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    """A table without folds: a line for each row."""
    cells = [[" ".join(text.splitlines()) for text in row] for row in _cells(rows, columns)]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        spare = (width - cell_len(text) for text, width in zip(row, widths, strict=True))
        padded = (text + " " * blanks for text, blanks in zip(row, spare, strict=True))
        yield "  ".join(padded).rstrip()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
