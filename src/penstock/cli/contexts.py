"""`penstock context`: the clusters that commands know by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.completion import context_names
from penstock.cli.context_file import save
from penstock.cli.formats import Output, OutputOption, show, show_document
from penstock.cli.output import err, say
from penstock.cli.pairs import pairs
from penstock.cli.target import Context, Contexts
from penstock.kernel.errors import NotFoundError

_EXAMPLES = """\b
Examples:
  penstock context set local --connect http://localhost:8083 --bootstrap-server localhost:9092
  penstock context set production --connect https://connect.example.com --user ops \\
    --password '${env:CONNECT_PASSWORD}' --kafka security.protocol=SSL
  penstock context use production
  penstock context list
  penstock get --context local
  PENSTOCK_CONTEXT=local penstock get
"""
app = typer.Typer(
    help="Clusters by name, in the file PENSTOCK_CONFIG or ~/.config/penstock/config.toml.",
    epilog=_EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,
)

_Name = Annotated[str, typer.Argument(autocompletion=context_names, show_default=False)]


@app.command("list")
def list_contexts(output: OutputOption = Output.TABLE) -> None:
    """List the contexts; the current one is marked."""
    contexts = Contexts.load()
    rows = [
        {
            "current": "*" if name == contexts.chosen else "",
            "name": name,
            "connect": _shown({"connect": found.get("connect", "")})["connect"],
            "bootstrap_servers": found.get("bootstrap-servers"),
        }
        for name, found in sorted(contexts.known.items())
        if isinstance(found, Mapping)
    ]
    if output is not Output.TABLE:
        show([{**row, "current": bool(row["current"])} for row in rows], output)
    elif rows:
        show(rows, output)
    else:
        say(f"There are no contexts in {contexts.file}; `penstock context set NAME` makes one.")


@app.command("show")
def show_context(
    name: Annotated[
        str | None, typer.Argument(autocompletion=context_names, show_default=False)
    ] = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Show a context, by default the current one; passwords are not shown."""
    contexts = Contexts.load()
    wanted = name or contexts.chosen
    if wanted is None:
        raise NotFoundError(f"there is no current context in {contexts.file}")
    found = _existing(contexts, wanted)
    show_document({"name": wanted, **_shown(found)}, output)


@app.command("set")
def set_context(
    name: _Name,
    connect: Annotated[
        str | None, typer.Option("--connect", "--url", help="A worker's address.")
    ] = None,
    user: Annotated[str | None, typer.Option(help="User name, for basic authentication.")] = None,
    password: Annotated[
        str | None, typer.Option(help="Its password; '${env:NAME}' reads a variable.")
    ] = None,
    ca_file: Annotated[
        Path | None, typer.Option(help="Authorities to trust, for a worker with https.")
    ] = None,
    secrets_token: Annotated[
        str | None, typer.Option(help="For a worker with penstock.secrets.shown=with-token.")
    ] = None,
    servers: Annotated[
        str | None,
        typer.Option("--bootstrap-server", "--bootstrap-servers", "-b", help="Its Kafka."),
    ] = None,
    offset_topic: Annotated[str | None, typer.Option(help="Its offset.storage.topic.")] = None,
    kafka: Annotated[
        list[str] | None, typer.Option(help="KEY=VALUE for clients of its Kafka; repeatable.")
    ] = None,
    registry: Annotated[
        list[str] | None, typer.Option(help="KEY=VALUE for its Schema Registry; repeatable.")
    ] = None,
    use: Annotated[bool, typer.Option("--use", help="Make it the current one.")] = False,
) -> None:
    """Make a context, or change some settings of one; an empty value removes a setting.

    `penstock context use NAME` makes it the current one. Comments in the file are not kept.
    """
    contexts = Contexts.load()
    texts = {
        "connect": connect,
        "user": user,
        "password": password,
        "ca-file": None if ca_file is None else str(ca_file),
        "secrets-token": secrets_token,
        "bootstrap-servers": servers,
        "offset-topic": offset_topic,
    }
    found = dict(contexts.known.get(name, {}))
    found = _changed(found, texts)
    for key, given in (("kafka", kafka), ("registry", registry)):
        table = _changed(found.get(key, {}), pairs(given, f"--{key}"))
        found = _changed(found, {key: table or ""})
    Context.of(name, _without_references(found), contexts.file)
    current = name if use else contexts.current
    save(contexts.file, current, {**contexts.known, name: found})
    say(f"context {name} is saved in {contexts.file}" + (" and is current" * (current == name)))
    if password and not password.startswith("${"):
        err.print(
            "The password is stored in clear text; --password '${env:NAME}' names a variable.",
            style="yellow",
            markup=False,
        )


@app.command("use")
def use_context(name: _Name) -> None:
    """Make a context the current one."""
    contexts = Contexts.load()
    _existing(contexts, name)
    save(contexts.file, name, contexts.known)
    say(f"the current context is {name}")


@app.command("delete")
def delete_context(name: _Name) -> None:
    """Delete a context; the cluster itself is not touched."""
    contexts = Contexts.load()
    _existing(contexts, name)
    current = None if contexts.current == name else contexts.current
    left = {each: found for each, found in contexts.known.items() if each != name}
    save(contexts.file, current, left)
    none_now = contexts.current == name
    say(f"context {name} is deleted" + ("; there is no current one now" if none_now else ""))


def _existing(contexts: Contexts, name: str) -> Mapping[str, Any]:
    if name not in contexts.known:
        known = ", ".join(sorted(contexts.known)) or "none"
        raise NotFoundError(f"there is no context {name} in {contexts.file}; there are: {known}")
    return dict(contexts.known[name])


def _changed(found: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The context with the given values; an empty one removes a key."""
    merged = {**found, **{key: value for key, value in given.items() if value is not None}}
    return {key: value for key, value in merged.items() if value != ""}


def _without_references(found: Mapping[str, Any]) -> dict[str, Any]:
    """For checking: its variables need not be set yet."""
    return {
        key: _without_references(value) if isinstance(value, Mapping) else str(value).lstrip("$")
        for key, value in found.items()
    }


def _shown(found: Mapping[str, Any]) -> dict[str, Any]:
    from penstock.tools.manager.secrets import SecretKeys

    secrets = SecretKeys()
    return {
        key: _shown(value) if isinstance(value, Mapping) else secrets.shown(key, str(value), {})
        for key, value in found.items()
    }
