"""All commands by name. A command's module is imported when the command is used, not before.

A module has `app`, a `typer.Typer`: the command of that name in it, or the whole of it if the
entry is a group.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group


@dataclass(frozen=True, slots=True)
class Entry:
    """One command: its module, and a description of at most 75 characters."""

    name: str
    module: str
    help: str
    group: bool = False

    def load(self) -> Any:
        """The command itself."""
        found = get_group(import_module(f"penstock.cli.{self.module}").app)
        if self.group:
            found.name = self.name
            return found
        return found.commands[self.name]


SECTIONS: Final[dict[str, tuple[Entry, ...]]] = {
    "Workers": (
        Entry("up", "worker", "Run an embedded Kafka and a worker on this machine."),
        Entry("distributed", "worker", "Run a worker that keeps everything in Kafka."),
        Entry("standalone", "worker", "Run one worker that keeps its offsets in a file."),
        Entry("kafka", "worker", "Run the embedded Kafka alone."),
        Entry("demo", "worker", "Show a pipeline at work: a growing file, a topic, another file."),
    ),
    "Connectors": (
        Entry("get", "connectors.listing", "List connectors with their states."),
        Entry("describe", "connectors.details", "Show connectors in detail."),
        Entry("create", "connectors.creating", "Create connectors from files or settings."),
        Entry("patch", "connectors.patching", "Change some keys of connectors."),
        Entry("validate", "connectors.checking", "Let a worker check connector files."),
        Entry("pause", "connectors.states", "Pause connectors."),
        Entry("resume", "connectors.states", "Run connectors again after a pause or a stop."),
        Entry("stop", "connectors.states", "Stop connectors and end their tasks."),
        Entry("restart", "connectors.states", "Restart connectors, tasks, or only what failed."),
        Entry("delete", "connectors.states", "Delete connectors, and their offsets if wanted."),
        Entry("logs", "connectors.logs", "Show what connectors have logged."),
        Entry("preview", "preview", "Show what a connector does to records; nothing is written."),
        Entry("offsets", "offsets.commands", "Show, set and rewind offsets.", group=True),
        Entry("dlq", "dlq.commands", "List, show and replay dead letters.", group=True),
    ),
    "Connector files": (
        Entry("plan", "manage.commands", "Show what connector files would change in a cluster."),
        Entry("apply", "manage.commands", "Change a cluster to match connector files."),
        Entry("export", "manage.commands", "Write a cluster's connectors to files."),
        Entry("watch", "manage.commands", "Keep a cluster equal to its connector files."),
    ),
    "Kafka": (
        Entry("topics", "topics", "List, create, describe, alter, delete topics.", group=True),
        Entry("produce", "produce", "Write records to a topic."),
        Entry("consume", "consume", "Show the records of a topic."),
        Entry("groups", "groups", "Consumer groups: their lag, and moving offsets.", group=True),
    ),
    "Tools": (
        Entry("context", "contexts", "Clusters by name: which one commands are for.", group=True),
        Entry("doctor", "worker", "Check Java, jars, ports, broker and Spark."),
        Entry("prepare", "worker", "Fetch jars and archive classes now, for quick starts."),
        Entry("plugins", "worker", "List the plugins a worker finds, and those that are broken."),
    ),
}  # fmt: skip


class LazyCommands(MutableMapping[str, Any]):
    """Commands by name; a lookup imports the command."""

    def __init__(self) -> None:
        self._entries = {each.name: each for section in SECTIONS.values() for each in section}
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = self._entries[name].load()
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self._loaded

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        self._entries.pop(name, None)
        self._loaded.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter({**self._entries, **self._loaded})

    def __len__(self) -> int:
        return len({**self._entries, **self._loaded})


class LazyGroup(TyperGroup):
    """The group of all commands; its help shows them by section and imports none."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = LazyCommands()

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        del ctx
        return list(self.commands)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            # The prefix of the library that checks values.
            error.message = error.message.removeprefix("Value error, ")
            raise

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete from names and descriptions, without importing commands."""
        real = self.commands
        entries = (each for section in SECTIONS.values() for each in section)
        self.commands = {each.name: TyperCommand(each.name, help=each.help) for each in entries}
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self.commands = real

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        del ctx
        longest = max(map(len, self.commands))
        for title, entries in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(each.name.ljust(longest), each.help) for each in entries])
