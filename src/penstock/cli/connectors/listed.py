"""The rows of `penstock get`: shown once, or repeatedly."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import typer

from penstock.cli.formats import Output, show, table_of
from penstock.cli.output import complain, out, say
from penstock.kernel.errors import PenstockError

Row = Mapping[str, Any]

_LONGEST_REASON: Final = 100
_STYLES: Final = {"FAILED": "red", "PAUSED": "yellow", "STOPPED": "dim"}


@dataclass(frozen=True, slots=True)
class Listing:
    """The rows; `problems` has a line for each name or pattern that matches nothing."""

    rows: Sequence[Row]
    problems: Sequence[str] = ()

    def show(self, output: Output, none: str = "none") -> None:
        """Rows on standard output, problems on standard error."""
        if output is not Output.TABLE:
            show(self.rows, output)
        elif self.rows:
            show(self.for_people(), output, style=_style)
        elif not self.problems:
            say(f"({none})")
        for problem in self.problems:
            complain(problem)

    def finish(self) -> NoReturn:
        """End the command: 0 if there were no problems, else 1."""
        raise typer.Exit(1 if self.problems else 0)

    def for_people(self) -> list[Row]:
        """The rows with short texts; scripts get the full ones."""
        return _with_reasons([_for_people(row) for row in self.rows])


def watch(ask: Callable[[], Listing], interval: float) -> NoReturn:
    """Show it until Ctrl-C: on a terminal in place, else one table after another."""
    with _screen() as show_next:
        while True:
            show_next(_look(ask))
            time.sleep(interval)


def _look(ask: Callable[[], Listing]) -> Listing:
    """The rows, or a problem while the worker does not answer: it may be restarting."""
    from penstock.tools.client.transport import may_pass

    try:
        return ask()
    except PenstockError as error:
        if not may_pass(error):
            raise
        return Listing([], [f"{error}; trying again"])


@contextmanager
def _screen() -> Iterator[Callable[[Listing], None]]:
    if not out.is_terminal:
        yield _print
        return
    from rich.console import Group, RenderableType
    from rich.live import Live
    from rich.text import Text

    with Live(console=out, auto_refresh=False) as live:

        def show_in_place(found: Listing) -> None:
            # A live display cuts off long lines unless they are to be folded.
            parts: list[RenderableType] = [
                Text(problem, style="red", no_wrap=False, overflow="fold")
                for problem in found.problems
            ]
            if found.rows:
                parts.insert(0, table_of(found.for_people(), style=_style))
            live.update(Group(*parts or ["(none)"]), refresh=True)

        yield show_in_place


def _print(found: Listing) -> None:
    found.show(Output.TABLE)
    # Without a flush, the reader of a pipe would see nothing for long.
    out.file.flush()


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


def _with_reasons(rows: list[Row]) -> list[Row]:
    """With a column for reasons, if something failed or waits."""
    if any(row.get("reason") for row in rows):
        return [{**row, "reason": _cut(row.get("reason", ""))} for row in rows]
    return [{name: row[name] for name in row if name != "reason"} for row in rows]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_REASON else f"{text[: _LONGEST_REASON - 1]}…"


def _style(row: Row) -> str:
    if "failed" in str(row.get("tasks", "")):
        return _STYLES["FAILED"]
    return _STYLES.get(row.get("state", ""), "")
