"""`penstock describe`: all that is known of a connector, without its passwords."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

from penstock.cli.connectors.choice import Names, choose
from penstock.cli.formats import Output, OutputOption, show_document
from penstock.cli.options import grouped
from penstock.cli.output import out, say
from penstock.cli.target import ConnectCluster
from penstock.kernel.errors import NotFoundError

if TYPE_CHECKING:
    from penstock.kernel.wire.models import ConnectorInfo, StateInfo
    from penstock.tools.client import Client
    from penstock.tools.manager.secrets import SecretKeys

T = TypeVar("T")

app = typer.Typer(rich_markup_mode=None)

_OFFSETS: Final = 10


@app.command()
@grouped
def describe(
    names: Names,
    trace: Annotated[bool, typer.Option("--trace", help="Whole stack traces.")] = False,
    *,
    cluster: ConnectCluster,
    output: OutputOption = Output.TABLE,
) -> None:
    """Show connectors: state, tasks with why they failed, topics, offsets and config.

    Passwords are not shown, whatever the server does.

    \b
    penstock describe orders-sink
    penstock describe 'jdbc_*' --trace
    penstock describe orders-sink -o yaml
    """
    from penstock.tools.manager.cluster import read_secrets

    with cluster.client() as client:
        chosen = choose(client, names)
        infos = [client.connector(name) for name in chosen.names]
        secrets = read_secrets(client, [each.config.get("connector.class", "") for each in infos])
        found = [_details(client, info, secrets) for info in infos]
    if output is not Output.TABLE:
        show_document(found, output)
    else:
        for number, each in enumerate(found):
            if number:
                say("")
            _show(each, trace=trace)
    chosen.finish()


def _details(client: Client, info: ConnectorInfo, secrets: SecretKeys) -> dict[str, Any]:
    name = info.name
    status = _or_none(lambda: client.status(name))
    offsets = _or_none(lambda: client.offsets(name))
    return {
        "name": name,
        "type": info.type,
        "state": _part(status.connector) if status else None,
        "tasks": [_part(task) for task in status.tasks] if status else [],
        # A server may not keep these, or be too old to have them.
        "topics": _or_none(lambda: client.topics(name)),
        "offsets": offsets.to_json()["offsets"] if offsets else None,
        "config": {
            key: secrets.shown(key, value, info.config)
            for key, value in sorted(info.config.items())
        },
    }


def _part(state: StateInfo) -> dict[str, Any]:
    from penstock.kernel.config.redaction import without_passwords

    return replace(state, trace=without_passwords(state.trace or "") or None).to_json()


def _or_none(ask: Callable[[], T]) -> T | None:
    """The server's answer, None if it is too old to have one."""
    from penstock.tools.client import ServerError

    try:
        return ask()
    except (NotFoundError, ServerError):
        return None


def _show(found: Mapping[str, Any], *, trace: bool) -> None:
    out.print(found["name"], style="bold", markup=False)
    for line in _lines(found, trace=trace):
        say(f"  {line}")


def _lines(found: Mapping[str, Any], *, trace: bool) -> Iterator[str]:
    state = found["state"]
    version = f" {state['version']}" if state and state.get("version") else ""
    yield f"type     {found['type']}, {found['config'].get('connector.class', '')}{version}"
    if state is None:
        yield "state    unknown: no worker has reported one yet"
    else:
        yield f"state    {_state(state)}"
        yield from (f"note     {note}" for note in state.get("notes", ()))
        yield from _trace(state, whole=trace)
    for task in found["tasks"]:
        yield f"task {task['id']:<3} {_state(task)}"
        yield from _trace(task, whole=trace)
        figures = task.get("figures") or {}
        yield from (f"           {name} {number}" for name, number in figures.items())
    if found["topics"] is not None:
        yield f"topics   {', '.join(found['topics']) or 'none yet'}"
    yield from _offsets(found["offsets"])
    yield "config"
    for key, value in found["config"].items():
        yield from _setting(key, value)


def _setting(key: str, value: object) -> Iterator[str]:
    """One line, or for a text of several lines, such as a query, the key and the lines below."""
    lines = str(value).splitlines()
    if len(lines) < 2:
        yield f"  {key} = {value}".rstrip("\n")
    else:
        yield f"  {key} ="
        yield from (f"      {line}" for line in lines)


def _state(state: Mapping[str, Any]) -> str:
    worker = f" on {state['worker_id']}" if state.get("worker_id") else ""
    return f"{state['state']}{worker}"


def _trace(state: Mapping[str, Any], *, whole: bool) -> Iterator[str]:
    from penstock.tools.client.arrival import reason

    lines = (state.get("trace") or "").rstrip().splitlines()
    shown = lines if whole else reason(state.get("trace"))
    yield from (f"           {line}" for line in shown)
    if len(shown) < len(lines):
        yield f"           … {len(lines) - len(shown)} more lines: --trace"


def _offsets(offsets: Sequence[Mapping[str, Any]] | None) -> Iterator[str]:
    if offsets is None:
        return
    yield f"offsets  {'' if offsets else 'none'}".rstrip()
    for each in offsets[:_OFFSETS]:
        partition, offset = (json.dumps(each[part]) for part in ("partition", "offset"))
        yield f"  {partition}  {offset}"
    if len(offsets) > _OFFSETS:
        yield f"  … {len(offsets) - _OFFSETS} more: penstock offsets show"
