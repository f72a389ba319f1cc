"""One record in plain Python, for record transformations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, overload

from penstock.api.plugin import Side

if TYPE_CHECKING:
    from penstock.kernel.data.record import SchemaAndValue
    from penstock.kernel.data.schema import Schema


@dataclass(frozen=True, slots=True)
class Header:
    """A header with the value that the connector's header converter reads from its bytes."""

    key: str
    value: Any
    schema: Schema | None = None


RawHeader = tuple[str, bytes | None]
"""A header as it is in Kafka."""


class Headers(Sequence[Header]):
    """The headers of a record. Immutable: with_() and without() return new ones.

    Headers are decoded when they are read; others keep their bytes from Kafka.
    """

    __slots__ = ("_decode", "_items")

    def __init__(
        self,
        items: Iterable[RawHeader | Header] = (),
        decode: Callable[[bytes | None], SchemaAndValue] | None = None,
    ) -> None:
        self._items = tuple(items)
        self._decode = decode

    @overload
    def __getitem__(self, index: int) -> Header: ...

    @overload
    def __getitem__(self, index: slice) -> Headers: ...

    def __getitem__(self, index: int | slice) -> Header | Headers:
        if isinstance(index, slice):
            return Headers(self._items[index], self._decode)
        return self._decoded(self._items[index])

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"Headers({list(map(_name, self._items))})"

    @property
    def items(self) -> tuple[RawHeader | Header, ...]:
        """The headers; those from Kafka as bytes."""
        return self._items

    def last(self, key: str) -> Header | None:
        """The last header of that name, which overrides the others; None if there is none."""
        named = [item for item in self._items if _name(item) == key]
        return self._decoded(named[-1]) if named else None

    def all(self, key: str) -> Iterator[Header]:
        """Every header of that name, in order."""
        return (self._decoded(item) for item in self._items if _name(item) == key)

    def with_(self, key: str, value: Any, schema: Schema | None = None) -> Headers:
        """These headers and one more."""
        return Headers((*self._items, Header(key, value, schema)), self._decode)

    def without(self, key: str) -> Headers:
        """These headers without those of that name."""
        return Headers((item for item in self._items if _name(item) != key), self._decode)

    def _decoded(self, item: RawHeader | Header) -> Header:
        if isinstance(item, Header):
            return item
        key, raw = item
        if self._decode is None:
            return Header(key, raw)
        found = self._decode(raw)
        return Header(key, found.value, found.schema)


NO_HEADERS: Final = Headers()


def _name(item: RawHeader | Header) -> str:
    return item.key if isinstance(item, Header) else item[0]


@dataclass(frozen=True, slots=True)
class Record:
    """One record. Immutable: replace() and with_part() return new ones.

    Values with a schema: int, float, bool, str, bytes, list, dict (map), Struct; decimal.Decimal,
    datetime.date (Date), datetime.time (Time) and a datetime.datetime in UTC (Timestamp). A moment
    that Python's types can't hold, such as the year 10000, is the integer Connect encodes it with.
    Values without a schema: None, bool, int, float, str, bytes, datetime.datetime, list, dict.

    Attributes:
        partition: None lets the producer choose.
        offset: None in a source; it can't be changed.
        timestamp: milliseconds since 1970; None for "now".
        key_schema, value_schema: those before the transformation; None without a schema.
            RecordTransformation.schemas() returns those after it.
    """

    topic: str
    partition: int | None = None
    offset: int | None = None
    timestamp: int | None = None
    key: Any = None
    value: Any = None
    headers: Headers = NO_HEADERS
    key_schema: Schema | None = None
    value_schema: Schema | None = None

    def part(self, side: Side) -> Any:
        """The key or the value."""
        return self.key if side is Side.KEY else self.value

    def schema(self, side: Side) -> Schema | None:
        """The schema of the key or the value."""
        return self.key_schema if side is Side.KEY else self.value_schema

    def with_part(self, side: Side, data: Any) -> Record:
        """The same record with another key or value."""
        return replace(self, key=data) if side is Side.KEY else replace(self, value=data)

    def replace(self, **changes: Any) -> Record:
        """The same record with some of its parts changed."""
        return replace(self, **changes)
