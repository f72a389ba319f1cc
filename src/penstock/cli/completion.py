"""Names that the shell completes. Errors and slow servers give no names, and no message."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import typer

from penstock.kernel.errors import PenstockError

if TYPE_CHECKING:
    from penstock.tools.broker import Broker

_SECONDS: Final = 1.0
_KAFKA_SECONDS: Final = 2.0


def connector_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Connectors of the cluster that the command line names so far."""
    from penstock.cli.target import Target

    given = ctx.params
    already = {*(given.get("names") or ())}
    try:
        target = Target.of(given.get("connect"), given.get("context"))
        with target.client(timeout=_SECONDS, retry_seconds=0) as client:
            known = client.connectors()
    except PenstockError:
        return []
    return [name for name in known if name.startswith(incomplete) and name not in already]


def topic_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Topics of the cluster that the command line names so far, without internal ones."""
    return _of_kafka(ctx, incomplete, lambda broker: broker.topics.names())


def group_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Consumer groups of that cluster."""
    return _of_kafka(ctx, incomplete, lambda broker: broker.groups.names())


def _of_kafka(
    ctx: typer.Context, incomplete: str, names: Callable[[Broker], list[str]]
) -> list[str]:
    from penstock.cli.kafka import KafkaCluster

    given = ctx.params
    already = {*(given.get("patterns") or ()), *(given.get("groups") or ())}
    where = given.get("context"), given.get("servers"), given.get("command_config")
    try:
        with KafkaCluster(*where, _KAFKA_SECONDS).broker() as broker:
            known = names(broker)
    except PenstockError:
        return []
    return [name for name in known if name.startswith(incomplete) and name not in already]


def context_names(incomplete: str) -> list[str]:
    """Contexts of the configuration file."""
    from penstock.cli.target import Contexts

    try:
        known = sorted(Contexts.load().known)
    except PenstockError:
        return []
    return [name for name in known if name.startswith(incomplete)]
