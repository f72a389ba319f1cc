"""What the shell completes: connectors and contexts. Silent and quick, whatever is wrong."""

from __future__ import annotations

from typing import Final

import typer

from penstock.errors import PenstockError

_SECONDS: Final = 1.0


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


def context_names(incomplete: str) -> list[str]:
    """Contexts of the configuration file."""
    from penstock.cli.target import Contexts

    try:
        known = sorted(Contexts.load().known)
    except PenstockError:
        return []
    return [name for name in known if name.startswith(incomplete)]
