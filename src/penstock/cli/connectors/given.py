"""Connectors as a command line gives them: files, standard input, or a name and its settings."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from penstock.cli.pairs import pairs
from penstock.config.properties import parse_connector
from penstock.errors import ConfigError
from penstock.wire.states import Wanted

if TYPE_CHECKING:
    from penstock.manager import Origin

STDIN: Final = "-"

Strict = Annotated[
    bool, typer.Option("--strict", help="Refuse keys that no plugin declares: most are mistyped.")
]


@dataclass(frozen=True, slots=True)
class Given:
    """A connector to be created or checked; `origin` is its place in a file.

    It is created in the state `initial`; `target` is the one for a connector that is there already.
    """

    name: str
    config: Mapping[str, str]
    source: str
    initial: Wanted | None = None
    target: Wanted | None = None
    origin: Origin | None = None

    @property
    def where(self) -> str:
        """What errors name."""
        return self.place(None)

    def place(self, key: str | None) -> str:
        """The file and the line of a key, as far as that is known."""
        return self.source if self.origin is None else f"{self.source}:{self.origin.line_of(key)}"

    @property
    def plugin(self) -> str:
        """Raises ConfigError if the config has no class."""
        found = self.config.get("connector.class", "")
        if not found:
            raise ConfigError(f"{self.where}: {self.name}: connector.class is missing")
        return found


def given_connectors(arguments: Sequence[str]) -> list[Given]:
    """What the arguments mean: FILE..., `-`, or NAME KEY=VALUE...

    Raises:
        ConfigError: a file can't be read, or it is none of these.
    """
    name, *settings = arguments
    # A directory that happens to have the connector's name is not meant, nor are its modules run.
    if settings and "=" in settings[0] and not Path(name).is_file():
        return [Given(name, {"name": name, **pairs(settings, name)}, "the command line")]
    files = [argument for argument in arguments if argument != STDIN]
    found = list(_from_files(files)) if files else []
    if len(files) < len(arguments):
        found.append(_from_stdin())
    names = Counter(each.name for each in found)
    twice = sorted(name for name, count in names.items() if count > 1)
    if twice:
        raise ConfigError(f"given twice: {', '.join(twice)}")
    return found


def _from_files(paths: Sequence[str]) -> Iterator[Given]:
    from penstock.manager import load

    for each in load(paths).values():
        source = "" if each.origin is None else str(each.origin.file)
        config = {**each.config, "name": each.name}
        yield Given(each.name, config, source, each.initial, each.target, each.origin)


def _from_stdin() -> Given:
    source = "standard input"
    found = parse_connector(sys.stdin.read(), Path(source))
    return Given(found.name, found.config, source, _state(found.initial_state, source))


def _state(text: str | None, source: str) -> Wanted | None:
    try:
        return None if text is None else Wanted(text.lower())
    except ValueError:
        allowed = ", ".join(Wanted)
        raise ConfigError(
            f"{source}: initial_state is {text}; it must be one of {allowed}"
        ) from None
