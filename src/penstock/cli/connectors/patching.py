"""`penstock patch`: some keys of a connector's config."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.completion import connector_names
from penstock.cli.connectors.choice import choose
from penstock.cli.connectors.results import Results
from penstock.cli.pairs import changes_of
from penstock.cli.shown import Output, OutputOption
from penstock.cli.target import Connect, ContextName, Target
from penstock.errors import BadRequestError, ConfigError, NotFoundError

if TYPE_CHECKING:
    from penstock.client import Client

app = typer.Typer(rich_markup_mode=None)


@app.command()
def patch(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME|KEY=VALUE|KEY-",
            help="Connectors or patterns, then keys to set, and with a minus sign to remove.",
            autocompletion=connector_names,
            show_default=False,
        ),
    ],
    connect: Connect = None,
    context: ContextName = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Change some keys of connectors; the others stay as they are.

    Servers that have no PATCH (before Kafka 3.8) get the whole config again.

    \b
    penstock patch orders-sink tasks.max=4
    penstock patch 'jdbc_*' poll.interval.ms=60000 table.blacklist-
    """
    names, changes = _parted(arguments)
    results = Results(output, "patched")
    told = ", ".join(f"{key} {'removed' if new is None else 'set'}" for key, new in changes.items())
    with Target.of(connect, context).client() as client:
        chosen = choose(client, names)
        for name in results.attempt(chosen.names, lambda name: _patch(client, name, changes)):
            results.ok(name, told)
        results.missing(chosen.missing)
    results.finish()


def _parted(arguments: Sequence[str]) -> tuple[list[str], dict[str, str | None]]:
    """Names, of which there is at least one, and what is to change."""
    first, *others = arguments
    at = next((at for at, each in enumerate(others) if "=" in each or each.endswith("-")), None)
    if at is None or "=" in first:
        raise ConfigError("expected NAME... KEY=VALUE..., and KEY- to remove a key")
    return [first, *others[:at]], changes_of(others[at:], first)


def _patch(client: Client, name: str, changes: Mapping[str, str | None]) -> None:
    from penstock.client import ServerError

    try:
        client.patch_config(name, changes)
    except ServerError as error:
        if error.status != HTTPStatus.METHOD_NOT_ALLOWED:
            raise
        _put(client, name, changes)
    except NotFoundError:
        # The connector was there a moment ago: if it still is, the path is not.
        _put(client, name, changes)


def _put(client: Client, name: str, changes: Mapping[str, str | None]) -> None:
    """The same by reading and writing the whole; not if the server hides a part of it."""
    from penstock.manager.secrets import hides

    before = client.config(name)
    hidden = sorted(key for key, value in before.items() if key not in changes and hides(value))
    if hidden:
        raise BadRequestError(
            f"the server has no PATCH and hides {', '.join(hidden)}, which must be written back;"
            " nothing was changed. Replace the whole config with create --replace"
        )
    after = {**before, **changes}
    client.put_config(name, {key: value for key, value in after.items() if value is not None})
