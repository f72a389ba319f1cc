"""`penstock preview`: a worker shows what a connector does to records, step by step."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from penstock.cli.options import grouped
from penstock.cli.output import out, say
from penstock.cli.target import ConnectCluster
from penstock.kernel.config.properties import load_connector_file
from penstock.kernel.errors import ConfigError

_SECONDS: Final = 120.0
_QUIET: Final = ("key_schema", "value_schema")

app = typer.Typer(rich_markup_mode=None)


@app.command()
@grouped
def preview(
    connector: Annotated[Path, typer.Argument(metavar="CONNECTOR.json|.properties")],
    records: Annotated[
        Path | None,
        typer.Option(help="Records to use: a JSON list, or one on each line. Default: its own."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many of its own.")] = 5,
    *,
    cluster: ConnectCluster,
    schemas: Annotated[bool, typer.Option("--schemas", help="Show schemas too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Show the worker's answer.")] = False,
) -> None:
    """Show what a connector does to records, after each transform; nothing is written.

    The status is 1 if a record failed.

    \b
    penstock preview orders-sink.json
    penstock preview orders-source.json --records samples.json
    echo '{"topic": "orders", "value": {"id": 1}}' | penstock preview sink.json --records /dev/stdin
    """
    file = load_connector_file(connector)
    given = None if records is None else _given(records)
    plugin = file.config.get("connector.class", "")
    with cluster.client(_SECONDS) as client:
        shown = client.preview(plugin, {**file.config, "name": file.name}, given, limit)
    if as_json:
        say(json.dumps({"records": shown}, indent=2, ensure_ascii=False))
    else:
        _show(shown, schemas=schemas)
    failed = any("error" in step for each in shown for step in each["steps"])
    raise typer.Exit(1 if failed else 0)


def _given(path: Path) -> list[Any]:
    """A JSON list, or a record on each line."""
    try:
        text = path.read_text(encoding="utf-8")
        if text.lstrip().startswith("["):
            return list(json.loads(text))
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{path}: not a JSON list or lines of JSON: {error}") from error


def _show(records: Sequence[Mapping[str, Any]], *, schemas: bool) -> None:
    if not records:
        say("There are no records to show; give some with --records FILE.")
    for number, record in enumerate(records, 1):
        out.rule(f"record {number}", align="left")
        before: Sequence[Mapping[str, Any]] = ()
        for step in record["steps"]:
            _show_step(step, before, schemas=schemas)
            before = step.get("records", ())


def _show_step(
    step: Mapping[str, Any], before: Sequence[Mapping[str, Any]], *, schemas: bool
) -> None:
    title = step["step"] if step["class"] is None else f"{step['step']}  {step['class']}"
    out.print(title, style="bold", markup=False)
    if "error" in step:
        error = step["error"]
        message = f"  {error['stage']} {error['class']}: {error['message']}"
        out.print(message, style="red", markup=False)
        return
    after = step["records"]
    if not after:
        out.print("  dropped", style="yellow")
    for place, record in enumerate(after):
        same = before[place] if len(before) == len(after) else {}
        for line in _changes(record, same, schemas=schemas):
            say(f"  {line}")


def _changes(
    record: Mapping[str, Any], before: Mapping[str, Any], *, schemas: bool
) -> Iterator[str]:
    """The changed parts of a record, one line each."""
    found = [
        f"{name}: {json.dumps(value, ensure_ascii=False)}"
        for name, value in record.items()
        if (schemas or name not in _QUIET) and (not before or before.get(name) != value)
    ]
    yield from found or ["unchanged"]
