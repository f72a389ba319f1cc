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
    from penstock.client import Client

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
    """The connectors that are there; `missing` has what was asked for and is not."""

    names: Sequence[str]
    missing: Sequence[tuple[str, str]] = ()
    by_pattern: bool = False

    def complain(self) -> None:
        """Tell what is missing."""
        for _, told in self.missing:
            complain(told)

    def finish(self) -> NoReturn:
        """Tell what is missing, and end the command: 0 if nothing is, else 1."""
        self.complain()
        raise typer.Exit(1 if self.missing else 0)


def choose(client: Client, wanted: Sequence[str], known: Collection[str] | None = None) -> Chosen:
    """A name is itself before it is a pattern; each connector is chosen once.

    `known` are the names of all, if the client need not be asked for them.
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
    """Ask before something that can't be taken back is done to all that match a pattern.

    Raises:
        ConfigError: there is nobody to ask.
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
