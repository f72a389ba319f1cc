"""Connectors as a command line gives them: files, standard input, or a name and its settings."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from penstock.cli.pairs import pairs
from penstock.kernel.config.properties import parse_connector
from penstock.kernel.errors import BadRequestError, ConfigError, PenstockError
from penstock.kernel.wire.states import Wanted

if TYPE_CHECKING:
    from penstock.tools.client import Client
    from penstock.tools.manager import Origin

STDIN: Final = "-"

Strict = Annotated[
    bool, typer.Option("--strict", help="Refuse keys that no plugin declares: most are mistyped.")
]


@dataclass(frozen=True, slots=True)
class Given:
    """A connector to be created or checked; `origin` is its place in a file.

    A new connector gets the state `initial`, an existing one the state `target`.
    """

    name: str
    config: Mapping[str, str]
    source: str
    initial: Wanted | None = None
    target: Wanted | None = None
    origin: Origin | None = None

    @property
    def where(self) -> str:
        """Its place, for errors."""
        return self.place(None)

    def place(self, key: str | None) -> str:
        """The file and, if known, the line of a key."""
        return self.source if self.origin is None else f"{self.source}:{self.origin.line_of(key)}"

    @property
    def plugin(self) -> str:
        """Raises ConfigError if the config has no class."""
        found = self.config.get("connector.class", "")
        if not found:
            raise ConfigError(f"{self.where}: {self.name}: connector.class is missing")
        return found


def given_connectors(arguments: Sequence[str]) -> list[Given]:
    """The connectors of FILE..., `-`, or NAME KEY=VALUE...

    Raises:
        ConfigError: a file can't be read, or it is none of these.
    """
    name, *settings = arguments
    # A directory may have the connector's name: it is not read, and its modules are not run.
    if settings and "=" in settings[0] and not Path(name).is_file():
        return [Given(name, {"name": name, **pairs(settings, name)}, "the command line")]
    files = [argument for argument in arguments if argument != STDIN]
    found = list(_from_files(files)) if files else []
    if len(files) < len(arguments):
        found.append(_from_stdin())
    names = Counter(each.name for each in found)
    twice = sorted(name for name, count in names.items() if count > 1)
    if twice:
        raise ConfigError(f"connectors given twice: {', '.join(twice)}")
    return found


def _from_files(paths: Sequence[str]) -> Iterator[Given]:
    from penstock.tools.manager import load

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


@dataclass(frozen=True, slots=True)
class Remarks:
    """What a worker's check adds to a config that is going to be stored.

    `unknown` are messages about keys that no plugin declares; `guesses` has errors of mistyped
    classes, each with the name probably meant.
    """

    unknown: Sequence[str] = ()
    guesses: Mapping[str, str] = field(default_factory=dict)

    @contextmanager
    def in_errors(self) -> Iterator[None]:
        """Add the guesses to the server's refusal, which has the errors without them."""
        try:
            yield
        except BadRequestError as refusal:
            text = str(refusal)
            for error, guess in self.guesses.items():
                text = text.replace(error, guess) if error in text else f"{text}\n{guess}"
            raise BadRequestError(text) from refusal


def remarks(
    client: Client,
    plugin: str,
    config: Mapping[str, str],
    *,
    strict: bool,
    among: Collection[str] | None = None,
) -> Remarks:
    """What a worker says of the config; unknown keys only `among` these.

    Raises:
        ConfigError: there are unknown keys, and the command is `strict`.
    """
    try:
        found = client.validate(plugin, config)
    except PenstockError:
        return Remarks()  # the server reports its errors when it stores the config
    unknown = [
        message for key, message in found.unknown(config).items() if among is None or key in among
    ]
    if unknown and strict:
        errors = (error for errors in found.errors.values() for error in errors)
        raise ConfigError("; ".join([*unknown, *errors]))
    return Remarks(unknown, found.guesses)
