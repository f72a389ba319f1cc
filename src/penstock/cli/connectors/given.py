"""Connectors as a command line gives them: files, standard input, or a name and its settings."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.config.properties import load_connector_file, parse_connector
from penstock.errors import ConfigError

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Given:
    """A connector to be created or checked. `where` is what errors name."""

    name: str
    config: Mapping[str, str]
    state: str | None
    where: str

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
    if settings and "=" in settings[0] and not Path(name).exists():
        return [Given(name, {"name": name, **pairs(settings)}, None, "the command line")]
    found = [each for argument in arguments for each in _from_file(argument)]
    twice = {each.name for each in found if [one.name for one in found].count(each.name) > 1}
    if twice:
        raise ConfigError(f"given twice: {', '.join(sorted(twice))}")
    return found


def pairs(settings: Sequence[str]) -> dict[str, str]:
    """KEY=VALUE; the value may be empty, and have more equals signs in it."""
    found: dict[str, str] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"expected KEY=VALUE, got {text!r}")
        found[key.strip()] = value
    return found


def _from_file(argument: str) -> Iterator[Given]:
    if argument == STDIN:
        source = Path("standard input")
        found = parse_connector(sys.stdin.read(), source)
    else:
        source = Path(argument)
        found = load_connector_file(source)
    yield Given(found.name, found.config, found.initial_state, str(source))
