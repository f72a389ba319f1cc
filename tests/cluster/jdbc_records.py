"""Records as JsonConverter writes them with their schemas, for sinks into databases."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

CONVERTERS = {
    "key.converter": "org.apache.kafka.connect.converters.LongConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "true",
}
_TYPES = {int: "int64", str: "string"}


def encoded(rows: Iterable[Mapping[str, Any] | None]) -> Iterator[bytes | None]:
    """A row's fields become optional ones, but for `id`; None is a tombstone."""
    heads: dict[tuple[str, ...], str] = {}
    for row in rows:
        if row is None:
            yield None
            continue
        names = tuple(row)
        if names not in heads:
            heads[names] = json.dumps({"schema": _schema(row), "payload": None})[: -len("null}")]
        yield f"{heads[names]}{json.dumps(row, ensure_ascii=False)}}}".encode()


def _schema(row: Mapping[str, Any]) -> dict[str, Any]:
    fields = [
        {"field": name, "type": _TYPES[type(value)], "optional": name != "id"}
        for name, value in row.items()
    ]
    return {"type": "struct", "optional": True, "fields": fields}


def key(number: int) -> bytes:
    """What LongConverter writes."""
    return number.to_bytes(8, "big", signed=True)
