"""Lines of text as records to write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from penstock.kafka.clients import NewRecord
from penstock.kernel.errors import BadRequestError, DataError, PenstockError
from penstock.tools.broker.encodings import BASE64, Encoder, Form, encoder, parsed_json

Header = tuple[str, bytes | None]
_MEMBERS: Final = ("key", "value", "headers", "partition", "timestamp")
#: `consume` writes these too: the record's old place, which is ignored.
_PASSED_OVER: Final = ("topic", "offset", "timestamp_type")


@dataclass(frozen=True, slots=True)
class Lines:
    """How lines become records.

    Attributes:
        topic: where they go.
        keys: makes bytes of keys.
        values: makes bytes of values.
        key: the key of all records.
        separator: between the key and the value in a line.
        headers: of each record.
        partition: of all records; if None, by their keys.
        null_empty: empty keys and values are null.
        is_json: each line is an object with key, value, headers, partition and timestamp; the key
            and the partition of all records override those of a line.
    """

    topic: str
    keys: Encoder
    values: Encoder
    key: str | None = None
    separator: str = ""
    headers: Sequence[Header] = ()
    partition: int | None = None
    null_empty: bool = False
    is_json: bool = False

    def records(self, lines: Iterable[str], source: str = "") -> Iterator[NewRecord]:
        """A record for each line; `source` names them in errors.

        Raises:
            DataError: a line can't be used; the text has its number.
        """
        for number, line in enumerate(lines, start=1):
            try:
                yield self._of_json(line) if self.is_json else self._of_text(line)
            except PenstockError as error:
                raise DataError(f"{source}line {number}: {error}") from error

    def _of_text(self, line: str) -> NewRecord:
        key, value = self.key, line
        if self.separator:
            key, found, value = line.partition(self.separator)
            if not found:
                raise BadRequestError(f"no separator {self.separator!r} between key and value")
        return NewRecord(
            self.topic,
            self._bytes(key, self.keys),
            self._bytes(value, self.values),
            tuple(self.headers),
            self.partition,
        )

    def _bytes(self, text: str | None, encode: Encoder) -> bytes | None:
        if text is None or (self.null_empty and not text):
            return None
        return encode.of_text(text)

    def _of_json(self, line: str) -> NewRecord:
        node = parsed_json(line)
        if not isinstance(node, dict):
            raise DataError("not an object with key and value")
        if unknown := sorted(node.keys() - {*_MEMBERS, *_PASSED_OVER}):
            raise DataError(f"{unknown[0]} is unknown; there are {', '.join(_MEMBERS)}")
        own_key, own_partition = _of_node(node.get("key"), self.keys), _whole(node, "partition")
        return NewRecord(
            self.topic,
            own_key if self.key is None else self._bytes(self.key, self.keys),
            _of_node(node.get("value"), self.values),
            (*self.headers, *_headers(node.get("headers"))),
            own_partition if self.partition is None else self.partition,
            _whole(node, "timestamp"),
        )


def _of_node(node: Any, encode: Encoder) -> bytes | None:
    return None if node is None else encode.of_node(node)


def _whole(node: dict[str, Any], name: str) -> int | None:
    number = node.get(name)
    if number is None:
        return None
    if type(number) is not int or number < 0:
        raise DataError(f"{name} must be a whole number, not {number!r}")
    return number


def _headers(node: Any) -> Iterator[Header]:
    """From an object; or from a list of objects with key and value, as a name may occur twice."""
    if node is None:
        return
    entries = node.items() if isinstance(node, dict) else map(_entry, _listed(node))
    for name, value in entries:
        yield name, _header_bytes(name, value)


def _listed(node: Any) -> list[Any]:
    if not isinstance(node, list):
        raise DataError('headers must be {"name": "text"} or [{"key": "name", "value": "text"}]')
    return node


def _entry(node: Any) -> tuple[str, Any]:
    if not isinstance(node, dict) or not isinstance(node.get("key"), str):
        raise DataError('a header must be {"key": "name", "value": "text"}')
    return node["key"], node.get("value")


def _header_bytes(name: str, value: Any) -> bytes | None:
    if value is None or isinstance(value, str):
        return None if value is None else value.encode()
    if isinstance(value, dict) and value.keys() == {BASE64}:
        return encoder(Form.BYTES).of_node(value)
    raise DataError(f"header {name} must be a text, null or {{{BASE64!r}: …}}")
