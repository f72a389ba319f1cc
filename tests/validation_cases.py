"""Answers of the real Kafka Connect to validate requests, from `cases/validation.json`.

The unit tests compare Penstock with them, a Kafka test compares them with the real Connect.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Json = dict[str, Any]

CASES: Json = json.loads(
    (Path(__file__).parent / "cases" / "validation.json").read_text(encoding="utf-8")
)
WORKERS: Json = CASES["workers"]


def expected(worker: str, case: Json, known: Iterable[str] | None = None) -> Json:
    """The whole answer of a case; plugins that are not `known` are not recommended."""
    base = WORKERS[worker]["bases"][case["plugin"]]
    places = {entry["definition"]["name"]: place for place, entry in enumerate(base["configs"])}
    found: list[Json] = []
    for item in case["configs"]:
        if isinstance(item, str):
            first, _, last = item.partition("..")
            found += base["configs"][places[first] : places[last] + 1]
        else:
            found.append(item)
    return {
        "name": case["config"]["connector.class"],
        "error_count": case["error_count"],
        "groups": case["groups"] or base["groups"],
        "configs": [_complete(entry, known) for entry in found],
    }


def undocumented(answer: Json) -> Json:
    """An answer without its documentation texts, which are our own."""
    return {**answer, "configs": [_undocumented(entry) for entry in answer["configs"]]}


def _complete(entry: Json, known: Iterable[str] | None) -> Json:
    """Put back what the file leaves out because it says nothing new."""
    value = dict(entry["value"])
    if entry["definition"]:
        value.setdefault("name", entry["definition"]["name"])
    recommended = value["recommended_values"]
    names = CASES["lists"][recommended] if isinstance(recommended, str) else recommended
    value["recommended_values"] = [
        name for name in names if known is None or not name.startswith("org.") or name in known
    ]
    return {"definition": entry["definition"], "value": value}


def _undocumented(entry: Json) -> Json:
    definition = entry["definition"]
    if definition is not None:
        assert definition["documentation"], definition["name"]
        definition = {name: of for name, of in definition.items() if name != "documentation"}
    return {"definition": definition, "value": entry["value"]}
