"""Resolves the names in a query, for records of one pair of schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from penstock.api.envelope import Part
from penstock.kernel.data.schema import DATE, TIMESTAMP, Field, Schema, SchemaType
from penstock.kernel.errors import DataError
from penstock.transforms.variants import member

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.api.envelope import Envelope

Path = tuple[str, ...]

TOPIC, PARTITION, OFFSET, TIMESTAMP_OF = "_topic", "_partition", "_offset", "_timestamp"
KEY, VALUE, HEADERS = "_key", "_value", "_headers"

_COLUMNS: Final[Mapping[str, Callable[[Envelope], Column]]] = {
    TOPIC: lambda envelope: envelope.topic,
    PARTITION: lambda envelope: envelope.partition,
    OFFSET: lambda envelope: envelope.offset,
    TIMESTAMP_OF: lambda envelope: F.timestamp_millis(envelope.timestamp),
    HEADERS: lambda envelope: _headers_map(envelope.headers),
}
#: The parts of a record beside its data.
ABOUT: Final = frozenset(_COLUMNS)


@dataclass(frozen=True, slots=True)
class Found:
    """Data of a record. Without a schema it is a VARIANT."""

    schema: Schema | None
    column: Column

    @property
    def as_sql(self) -> Column:
        """The data in its SQL type."""
        name = None if self.schema is None or not self.schema.is_moment else self.schema.name
        if name == TIMESTAMP:
            return F.timestamp_millis(self.column)
        return F.date_from_unix_date(self.column) if name == DATE else self.column


class Scope:
    """The fields of the value by name, and the rest of the record with an underscore."""

    def __init__(self, envelope: Envelope, alias: str) -> None:
        self._envelope = envelope
        self._alias = alias.lower()

    @property
    def fields(self) -> tuple[Field, ...]:
        schema = self._envelope.value.schema
        return () if schema is None else schema.fields

    def column(self, path: Path) -> Column | None:
        """The column of a name in the query.

        Raises:
            DataError: records of this schema have no such name.
        """
        about = _COLUMNS.get(path[0].lower())
        if about is None:
            return self.data(path).as_sql
        column = about(self._envelope)
        for name in path[1:]:
            column = column.getItem(name)
        return column

    def data(self, path: Path) -> Found:
        """The key, the value or a part of them; raises as column()."""
        parts = {KEY: self._envelope.key, VALUE: self._envelope.value}
        first, *rest = self._without_alias(path)
        part = parts.get(first.lower())
        if part is None:
            part, rest = self._envelope.value, [first, *rest]
        found = Found(part.schema, part.column)
        for name in rest:
            found = _member(found, name)
        return found

    def _without_alias(self, path: Path) -> Path:
        is_alias = path[0].lower() == self._alias and _field(self.fields, path[0]) is None
        return path[1:] if is_alias and len(path) > 1 else path


class NullScope(Scope):
    """For records without a value: all of it is null, which fits any type."""

    def column(self, path: Path) -> Column | None:
        return None if self._is_of_value(path) else super().column(path)

    def data(self, path: Path) -> Found:
        if self._is_of_value(path):
            return Found(None, F.lit(None).cast("variant"))
        return super().data(path)

    def _is_of_value(self, path: Path) -> bool:
        first = self._without_alias(path)[0].lower()
        return first != KEY and first not in ABOUT


def _member(found: Found, name: str) -> Found:
    if found.schema is None:
        return Found(None, member(Part(found.column, None), name).column)
    if found.schema.type is SchemaType.MAP and found.schema.value_schema is not None:
        return Found(found.schema.value_schema, F.try_element_at(found.column, F.lit(name)))
    field = _field(found.schema.fields, name)
    if field is None:
        known = ", ".join(each.name for each in found.schema.fields) or "no fields"
        about = ", ".join([*_COLUMNS, KEY, VALUE])
        raise DataError(f"the query names {name}; the record has {known}, and {about}")
    return Found(field.schema, found.column.getField(field.name))


def _field(fields: tuple[Field, ...], name: str) -> Field | None:
    """By its exact name, else as in SQL, ignoring case."""
    exact = [field for field in fields if field.name == name]
    alike = [field for field in fields if field.name.lower() == name.lower()]
    return exact[0] if exact else alike[0] if len(alike) == 1 else None


def _headers_map(headers: Column) -> Column:
    """Texts by name; of several with one name the last, as in Connect's lastWithName()."""

    def is_last(header: Column, place: Column) -> Column:
        later = F.slice(headers, place + 2, F.size(headers))
        return ~F.exists(later, lambda other: other.getField("key") == header.getField("key"))

    def text(header: Column) -> Column:
        return F.struct(
            header.getField("key").alias("key"),
            header.getField("value").cast("string").alias("value"),
        )

    entries = F.transform(F.filter(headers, is_last), text)
    return F.coalesce(F.map_from_entries(entries), F.create_map().cast("map<string,string>"))
