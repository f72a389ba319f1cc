"""`penstock patch`: changes some keys of a connector's config."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.completion import connector_names
from penstock.cli.connectors.choice import choose
from penstock.cli.connectors.given import Remarks, Strict, remarks
from penstock.cli.connectors.results import Results
from penstock.cli.formats import Output, OutputOption
from penstock.cli.options import grouped
from penstock.cli.pairs import changes_of
from penstock.cli.target import ConnectCluster
from penstock.kernel.errors import BadRequestError, ConfigError, NotFoundError

if TYPE_CHECKING:
    from penstock.tools.client import Client

app = typer.Typer(rich_markup_mode=None)


@app.command()
@grouped
def patch(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME|KEY=VALUE|KEY-",
            help="Connectors or patterns, then KEY=VALUE to set a key, KEY- to remove one.",
            autocompletion=connector_names,
            show_default=False,
        ),
    ],
    strict: Strict = False,
    *,
    cluster: ConnectCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """Change some keys of connectors; the others stay as they are.

    Keys that no plugin declares are warnings; with --strict they are errors.

    Servers without PATCH (before Kafka 3.8) get the whole config again.

    \b
    penstock patch orders-sink tasks.max=4
    penstock patch 'jdbc_*' poll.interval.ms=60000 table.blacklist-
    """
    names, changes = _parted(arguments)
    results = Results(output, "patched")
    with cluster.client() as client:
        chosen = choose(client, names)

        def change(name: str) -> str:
            before = client.config(name)
            wanted, missing = _possible(changes, before)
            if not wanted:
                raise BadRequestError("; ".join(missing))
            found = _remarks(client, name, before, wanted, strict=strict)
            for note in (*missing, *found.unknown):
                results.note(name, note)
            with found.in_errors():
                _patch(client, name, wanted)
            return ", ".join(
                f"{key} {'removed' if new is None else 'set'}" for key, new in wanted.items()
            )

        results.each(chosen.names, change)
        results.missing(chosen.missing)
    results.finish()


def _parted(arguments: Sequence[str]) -> tuple[list[str], dict[str, str | None]]:
    """The names, at least one, and the changes."""
    first, *others = arguments
    at = next((at for at, each in enumerate(others) if "=" in each or each.endswith("-")), None)
    if at is None or "=" in first:
        raise ConfigError("expected NAME... KEY=VALUE..., and KEY- to remove a key")
    return [first, *others[:at]], changes_of(others[at:], first)


def _possible(
    changes: Mapping[str, str | None], config: Mapping[str, str]
) -> tuple[dict[str, str | None], list[str]]:
    """The changes without the removals of keys that are not in the config; messages about these."""
    from penstock.kernel.config.unknown import nearest_key

    wanted: dict[str, str | None] = {}
    missing: list[str] = []
    for key, new in changes.items():
        if new is not None or key in config:
            wanted[key] = new
            continue
        near = nearest_key(key, config)
        guess = f"; did you mean {near}?" if near else ""
        missing.append(f"there is no key {key} in its config{guess}")
    return wanted, missing


def _remarks(
    client: Client,
    name: str,
    before: Mapping[str, str],
    changes: Mapping[str, str | None],
    *,
    strict: bool,
) -> Remarks:
    given = {key: text for key, text in changes.items() if text is not None}
    config = {**before, **given, "name": name}
    if "connector.class" not in config:
        return Remarks()
    plugin = config["connector.class"]
    return remarks(client, plugin, config, strict=strict, among=given)


def _patch(client: Client, name: str, changes: Mapping[str, str | None]) -> None:
    from penstock.tools.client import ServerError

    try:
        client.patch_config(name, changes)
    except ServerError as error:
        if error.status != HTTPStatus.METHOD_NOT_ALLOWED:
            raise
        _put(client, name, changes)
    except NotFoundError:
        # The connector existed a moment ago, so probably the server has no PATCH.
        _put(client, name, changes)


def _put(client: Client, name: str, changes: Mapping[str, str | None]) -> None:
    """Read and write the whole config; an error if the server hides a part of it."""
    from penstock.tools.manager.secrets import hides

    before = client.config(name)
    hidden = sorted(key for key, value in before.items() if key not in changes and hides(value))
    if hidden:
        raise BadRequestError(
            f"the server has no PATCH and hides {', '.join(hidden)}, so the config can't be"
            " written back; nothing was changed. Replace the whole config with create --replace"
        )
    after = {**before, **changes}
    client.put_config(name, {key: value for key, value in after.items() if value is not None})
