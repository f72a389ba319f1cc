"""`penstock preview`: what a connector makes of records, step by step, asked of a worker."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx

from penstock.cli.output import out, say
from penstock.config.properties import load_connector_file
from penstock.errors import ConfigError, SetupError

_SECONDS: Final = 120.0
_QUIET: Final = ("key_schema", "value_schema")


def run_preview(
    file: Path, records: Path | None, limit: int, url: str, *, schemas: bool, as_json: bool
) -> int:
    """Show the preview; the exit code is 1 if a record failed."""
    connector = load_connector_file(file)
    body: dict[str, Any] = {"config": {**connector.config, "name": connector.name}, "limit": limit}
    if records is not None:
        body["records"] = _given(records)
    shown = _asked(url, connector.config.get("connector.class", ""), body)
    if as_json:
        say(json.dumps(shown, indent=2, ensure_ascii=False))
    else:
        _show(shown["records"], schemas=schemas)
    return 1 if any("error" in step for each in shown["records"] for step in each["steps"]) else 0


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
        raise ConfigError(f"{path}: is neither a JSON list nor a record a line: {error}") from error


def _asked(url: str, plugin: str, body: Mapping[str, Any]) -> Any:
    address = f"{url.rstrip('/')}/connector-plugins/{quote(plugin, safe='')}/preview"
    try:
        answer = httpx.post(address, json=body, timeout=_SECONDS)
    except httpx.HTTPError as error:
        raise SetupError(
            f"no worker answers at {url} ({error}): start one with `penstock up`, or give --url"
        ) from error
    try:
        document = answer.json()
    except ValueError as error:
        raise SetupError(f"{url} answered {answer.status_code}, not as a worker does") from error
    if not answer.is_success:
        raise ConfigError(str(document.get("message", document)))
    return document


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
        told = f"  {error['stage']} {error['class']}: {error['message']}"
        out.print(told, style="red", markup=False)
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
    """What is new in a record, a line each."""
    found = [
        f"{name}: {json.dumps(value, ensure_ascii=False)}"
        for name, value in record.items()
        if (schemas or name not in _QUIET) and (not before or before.get(name) != value)
    ]
    yield from found or ["unchanged"]
