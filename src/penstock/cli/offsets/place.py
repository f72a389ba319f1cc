"""Where `penstock offsets` works: the cluster, and the way to its offsets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import Options
from penstock.cli.target import CommandConfig, Connect, ContextName, Servers, Target

if TYPE_CHECKING:
    from penstock.tools.offsets import Offsets


class RouteName(StrEnum):
    """The way to the offsets."""

    AUTO = "auto"
    REST = "rest"
    TOPIC = "topic"


@dataclass(frozen=True, slots=True)
class Place(Options):
    """Where to work, and how."""

    connect: Connect = None
    context: ContextName = None
    servers: Servers = None
    command_config: CommandConfig = None
    offset_topic: Annotated[
        str | None,
        typer.Option("--offset-topic", help="The workers' offset.storage.topic [connect-offsets]."),
    ] = None
    via: Annotated[
        RouteName,
        typer.Option(
            help="rest: Connect's REST API. topic: Kafka itself, the offsets topic of sources and"
            " the consumer group of sinks. auto: rest where the server has it."
        ),
    ] = RouteName.AUTO
    timeout: Annotated[float, typer.Option(min=1, help="Seconds for each step.")] = 60

    @property
    def target(self) -> Target:
        return Target.of(self.connect, self.context, self.servers, self.command_config)

    @contextmanager
    def offsets(self) -> Iterator[Offsets]:
        from penstock.tools.offsets import Offsets, Via

        target = self.target
        topic = self.offset_topic or target.offset_topic
        with (
            target.client(self.timeout) as client,
            Offsets(
                client,
                target.kafka(),
                topic=topic,
                via=Via(self.via.value),
                seconds=self.timeout,
            ) as offsets,
        ):
            yield offsets

    def names(self, patterns: list[str] | None) -> list[str]:
        """The names that match; one without a connector may still have offsets in Kafka."""
        from penstock.tools.broker.names import chosen, is_pattern

        if patterns and not any(map(is_pattern, patterns)):
            return patterns
        with self.target.client(self.timeout) as client:
            known = client.connectors()
        return chosen(known, patterns, "connector") if patterns else known
