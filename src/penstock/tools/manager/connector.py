"""The connectors of files, where each was read, and their problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from penstock.kernel.errors import ConfigError
from penstock.kernel.wire.states import Wanted

MARKER: Final = "penstock.managed-by"
"""The key of a connector's config that names the project which manages it."""

NAME: Final = "name"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a connector was read; `keys` has the lines of its keys."""

    file: Path
    line: int
    keys: Mapping[str, int] = field(default_factory=dict)

    def line_of(self, key: str | None) -> int:
        """The line of a key, else that of the connector."""
        return self.line if key is None else self.keys.get(key, self.line)


@dataclass(frozen=True, slots=True)
class Connector:
    """A wanted connector. Without a state, the one it has is kept.

    With `initial_only`, the state is set on creation only.
    """

    name: str
    # Not in the repr: a plan printed in a Python shell must not show passwords.
    config: Mapping[str, str] = field(repr=False)
    state: Wanted | str | None = None
    origin: Origin | None = field(default=None, compare=False)
    initial_only: bool = False

    def __post_init__(self) -> None:
        """Raises ConfigError for an unknown state."""
        if self.state is not None and self.state.lower() not in list(Wanted):
            raise ConfigError(f"the state is {self.state!r}; it must be one of {', '.join(Wanted)}")

    @property
    def initial(self) -> Wanted | None:
        """The state of a new connector."""
        return None if self.state is None else Wanted(self.state.lower())

    @property
    def target(self) -> Wanted | None:
        """The state of an existing connector."""
        return None if self.initial_only else self.initial

    @property
    def plugin(self) -> str:
        """Its class or alias; empty if the config has none."""
        return self.config.get("connector.class", "")

    @property
    def is_sink(self) -> bool:
        """Whether it reads topics: every sink names them, no source has these keys."""
        return reads_topics(self.config)

    def problem(self, message: str, key: str | None = None, at: str | None = None) -> Problem:
        """An error of it, with its place: the line of the key, or of the key `at`."""
        if self.origin is None:
            return Problem(message, connector=self.name, key=key)
        line = self.origin.line_of(at or key)
        return Problem(message, self.origin.file, line, self.name, key)


def reads_topics(config: Mapping[str, str]) -> bool:
    """Whether the config is that of a sink."""
    return "topics" in config or "topics.regex" in config


@dataclass(frozen=True, slots=True)
class Problem:
    """One error with its place: `file:line: connector: key: message`."""

    message: str
    file: Path | None = None
    line: int | None = None
    connector: str | None = None
    key: str | None = None

    def __str__(self) -> str:
        file = "" if self.file is None else str(self.file)
        place = file if self.line is None else f"{file}:{self.line}"
        parts = (place, self.connector, self.key, self.message)
        return ": ".join(part for part in parts if part)


class ProblemsError(ConfigError):
    """All errors in connectors or their files together."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class Connectors(Mapping[str, Connector]):
    """The wanted connectors by name, in the order of their files."""

    def __init__(self, connectors: Iterable[Connector] = ()) -> None:
        """Raises ProblemsError if two have the same name."""
        self._found: dict[str, Connector] = {}
        problems = [_twice(self._found[each.name], each) for each in connectors if self._add(each)]
        if problems:
            raise ProblemsError(problems)

    def __getitem__(self, name: str) -> Connector:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def only(self, patterns: Sequence[str]) -> Connectors:
        """Those whose name matches one of the patterns (`jdbc_*`); all, if there are none."""
        return Connectors(each for each in self.values() if matches(each.name, patterns))

    def _add(self, connector: Connector) -> bool:
        """Whether there is one of this name already."""
        return self._found.setdefault(connector.name, connector) is not connector


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether a name matches one of the patterns, or there are none."""
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def unmatched(patterns: Sequence[str], names: Iterable[str]) -> list[str]:
    """The patterns that none of the names matches."""
    known = list(names)
    return [each for each in patterns if not any(fnmatchcase(name, each) for name in known)]


def _twice(first: Connector, second: Connector) -> Problem:
    where = "" if first.origin is None else f" in {first.origin.file}:{first.origin.line}"
    return second.problem(f"another connector has this name{where}")
