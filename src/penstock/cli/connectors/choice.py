"""Which connectors a command is for: names, and shell patterns such as `jdbc_*`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import typer

from penstock.cli import confirmation
from penstock.cli.completion import connector_names
from penstock.cli.output import complain, err

if TYPE_CHECKING:
    from penstock.tools.client import Client

Names = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME",
        help="Connectors; patterns such as 'jdbc_*' mean all that match.",
        autocompletion=connector_names,
        show_default=False,
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, with a pattern.")]

_WILD: Final = frozenset("*?[")
_SHOWN: Final = 50


@dataclass(frozen=True, slots=True)
class Chosen:
    """The connectors that exist; `missing` has the names and patterns that match none."""

    names: Sequence[str]
    missing: Sequence[tuple[str, str]] = ()
    by_pattern: bool = False

    def complain(self) -> None:
        """Print what is missing."""
        for _, message in self.missing:
            complain(message)

    def finish(self) -> NoReturn:
        """Print what is missing, and end the command: 0 if nothing is, else 1."""
        self.complain()
        raise typer.Exit(1 if self.missing else 0)


def choose(client: Client, wanted: Sequence[str], known: Collection[str] | None = None) -> Chosen:
    """The connectors of these names and patterns, each once; an existing name is no pattern.

    `known` has the names of all connectors, if the caller has them already.
    """
    known = client.connectors() if known is None else known
    found: dict[str, None] = {}
    missing: list[tuple[str, str]] = []
    by_pattern = False
    for each in wanted:
        wild = each not in known and bool(_WILD & set(each))
        hits = [name for name in known if (fnmatchcase(name, each) if wild else name == each)]
        by_pattern = by_pattern or wild
        found |= dict.fromkeys(hits)
        if not hits:
            missing.append((each, _missing(each, len(known), client.url, wild=wild)))
    return Chosen(list(found), missing, by_pattern)


def confirm(question: str, chosen: Chosen, *, yes: bool) -> None:
    """Ask before an action that can't be undone, if the connectors were chosen by a pattern.

    Raises:
        ConfigError: there is no terminal.
        typer.Abort: the answer is no.
    """
    if yes or not chosen.by_pattern or not chosen.names:
        return
    for name in chosen.names[:_SHOWN]:
        err.print(f"  {name}", markup=False)
    if len(chosen.names) > _SHOWN:
        err.print(f"  … and {len(chosen.names) - _SHOWN} more", markup=False)
    confirmation.confirm(question)


def _missing(text: str, known: int, url: str, *, wild: bool) -> str:
    if wild:
        return f"no connector matches '{text}'; {url} has {known}"
    return f"there is no connector {text} at {url}"
