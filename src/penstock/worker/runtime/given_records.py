"""Records for a preview: sent by a user, or taken from a topic."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from penstock.kernel.errors import BadRequestError

_TOPIC: Final = "preview"


@dataclass(frozen=True, slots=True)
class GivenRecord:
    """A record sent by a user, or taken from a topic. Satisfies KafkaRecord."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]] | None

    @classmethod
    def of(cls, document: Any, place: int) -> GivenRecord:
        """From the JSON of the REST API.

        Raises:
            BadRequestError: the JSON is not a record.
        """
        if not isinstance(document, dict):
            raise BadRequestError(f'record {place} must be an object such as {{"value": …}}')
        known = {"topic", "partition", "offset", "timestamp", "headers", *_DATA_KEYS}
        unknown = sorted(document.keys() - known)
        if unknown:
            raise BadRequestError(
                f"record {place} has unknown keys {', '.join(unknown)}; "
                f"use {', '.join(sorted(known))}"
            )
        headers = document.get("headers") or {}
        if not isinstance(headers, dict):
            raise BadRequestError(f"headers of record {place} must be an object of strings")
        return cls(
            topic=str(document.get("topic", _TOPIC)),
            partition=_number(document, "partition", 0, place),
            offset=_number(document, "offset", place, place),
            timestamp=_number(document, "timestamp", -1, place),
            key=_bytes(document, "key", place),
            value=_bytes(document, "value", place),
            headers=[
                (name, None if text is None else str(text).encode())
                for name, text in headers.items()
            ],
        )

    @classmethod
    def of_row(cls, row: Any) -> GivenRecord:
        """From a row of Spark's Kafka source."""
        return cls(
            topic=row.topic,
            partition=row.partition,
            offset=row.offset,
            timestamp=-1 if row.timestamp is None else row.timestamp,
            key=None if row.key is None else bytes(row.key),
            value=None if row.value is None else bytes(row.value),
            headers=[
                (each["key"], None if each["value"] is None else bytes(each["value"]))
                for each in row.headers or ()
            ],
        )

    def in_envelopes(self) -> GivenRecord:
        """The same record, with key and value as JsonConverter reads them with schemas.enable."""
        return replace(self, key=_in_envelope(self.key), value=_in_envelope(self.value))


_DATA_KEYS: Final = ("key", "value", "key_base64", "value_base64")


def _number(document: Mapping[str, Any], name: str, default: int, place: int) -> int:
    found = document.get(name)
    if found is None:
        return default
    if not isinstance(found, int) or isinstance(found, bool):
        raise BadRequestError(f"{name} of record {place} must be a whole number")
    return found


def _bytes(document: Mapping[str, Any], name: str, place: int) -> bytes | None:
    """A string as it is; anything else as JSON."""
    encoded = document.get(f"{name}_base64")
    if encoded is not None:
        try:
            return base64.b64decode(str(encoded), validate=True)
        except ValueError as error:
            raise BadRequestError(f"{name}_base64 of record {place}: {error}") from error
    found = document.get(name)
    if found is None:
        return None
    text = found if isinstance(found, str) else json.dumps(found, separators=(",", ":"))
    return text.encode()


def _in_envelope(raw: bytes | None) -> bytes | None:
    """What JsonConverter reads with schemas.enable: the same data, without a schema if it has none.

    A text that is no JSON is a text.
    """
    if raw is None:
        return None
    try:
        document = json.loads(raw)
    except ValueError:
        return f'{{"schema":null,"payload":{json.dumps(raw.decode())}}}'.encode()
    if isinstance(document, dict) and document.keys() == {"schema", "payload"}:
        return raw
    return b'{"schema":null,"payload":' + raw + b"}"
