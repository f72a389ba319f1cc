"""What the commands for topics, records and groups share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.target import Target
from penstock.errors import ConfigError

if TYPE_CHECKING:
    from penstock.broker import Broker

Timeout = Annotated[float, typer.Option(min=1, help="Seconds for each question to Kafka.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def opened(
    context: str | None,
    servers: str | None,
    command_config: Path | None,
    timeout: float,
) -> Broker:
    """The cluster that a command is for; to be closed."""
    from penstock.broker import Broker

    target = Target.of(context=context, servers=servers, command_config=command_config)
    return Broker({"client.id": "penstock-cli", **target.kafka()}, seconds=timeout)


def pairs(given: Sequence[str] | None, option: str) -> dict[str, str]:
    """KEY=VALUE texts as a dictionary. Raises ConfigError if one is none."""
    found: dict[str, str] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ConfigError(f"{option} needs KEY=VALUE, got {text!r}")
        found[name.strip()] = value
    return found
