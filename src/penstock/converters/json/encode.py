"""Whole columns of Connect data as JSON: expressions around Spark's to_json.

to_json is Jackson itself, so numbers and escapes come out as in Java. What it lacks is added
here: Decimals as the bytes of their digits, maps whose keys are no strings, defaults in place of
null, errors for nulls that may not be, and the escapes of characters beyond the first plane.
Figures are in docs/decisions/converters.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from penstock.codecs.json.write import NOT_A_TIME, NULL_FOR_REQUIRED, quoted
from penstock.columns.literals import literal
from penstock.converters.json.columns import children, unscaled_bytes
from penstock.kernel.data.schema import TIME, Schema, SchemaType, Struct
from penstock.kernel.java.to_string import MILLIS_OF_DAY

if TYPE_CHECKING:
    from pyspark.sql import Column

_OPTIONS: Final = {"ignoreNullFields": "false"}
_NESTED: Final = (Struct, Mapping, list, tuple)
_CONTAINERS: Final = frozenset({SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT})
#: The bytes that start a character beyond the first plane in UTF-8.
_LEADS: Final = (b"\xf0", b"\xf1", b"\xf2", b"\xf3", b"\xf4")
_PIECES: Final = r"[\x{10000}-\x{10FFFF}]|[^\x{10000}-\x{10FFFF}]+"


class JsonColumns:
    """Makes the expressions. `decimal_numbers`: Decimals as numbers, not as base64."""

    def __init__(self, *, decimal_numbers: bool, replace_null: bool) -> None:
        self._decimal_numbers = decimal_numbers
        self._replace_null = replace_null

    def member(self, schema: Schema | None, data: Column, name: str) -> Column:
        """`"name":<json>}` as binary: the data as the last member of an object."""
        if schema is None or self._by_hand(schema):
            head = F.lit(f"{quoted(name)}:")
            return _as_bytes(F.concat(head, self.text(schema, data), F.lit("}")), schema, data)
        whole = F.to_json(F.struct(self._ready(schema, data).alias(name)), _OPTIONS)
        return F.call_function("substring", _as_bytes(whole, schema, data), F.lit(2))

    def document(self, schema: Schema | None, data: Column) -> Column:
        """The JSON of the data alone, as binary."""
        if schema is None or self._by_hand(schema) or schema.type not in _CONTAINERS:
            return _as_bytes(self.text(schema, data), schema, data)
        whole = F.to_json(self._ready(schema, data), _OPTIONS)
        return _as_bytes(F.coalesce(whole, F.lit("null")), schema, data)

    def error(self, schema: Schema | None, data: Column) -> Column:
        """A string that is null for rows that can be written."""
        text = F.lit(None).cast("string")
        if schema is None:
            return text
        if times := _conditions(schema, data, _bad_time):
            text = F.when(reduce(or_, times), F.lit(NOT_A_TIME))
        if nulls := _conditions(schema, data, self._bad_null):
            text = F.when(reduce(or_, nulls), F.lit(NULL_FOR_REQUIRED)).otherwise(text)
        return text

    def _has_default(self, schema: Schema) -> bool:
        return self._replace_null and schema.default is not None

    def _bad_null(self, schema: Schema, data: Column) -> list[Column]:
        allowed = schema.optional or self._has_default(schema)
        return [] if allowed else [data.isNull()]

    def _filled(self, schema: Schema, data: Column) -> Column:
        if not self._has_default(schema):
            return data
        return F.coalesce(data, literal(schema, schema.default))

    def _ready(self, schema: Schema, data: Column) -> Column:
        """The data in such a form that to_json writes the right thing."""
        if self._is_ready(schema):
            return data
        data = self._filled(schema, data)
        if schema.is_decimal:
            return data if self._decimal_numbers else unscaled_bytes(data)
        items = schema.value_schema
        match schema.type:
            case SchemaType.ARRAY if items is not None:
                return F.transform(data, lambda item: self._ready(items, item))
            case SchemaType.MAP if items is not None:
                return F.transform_values(data, lambda _, item: self._ready(items, item))
            case SchemaType.STRUCT:
                members = (
                    self._ready(each.schema, data.getField(each.name)).alias(each.name)
                    for each in schema.fields
                )
                return F.when(data.isNotNull(), F.struct(*members))
        return data

    def _is_ready(self, schema: Schema) -> bool:
        if self._has_default(schema) or (schema.is_decimal and not self._decimal_numbers):
            return False
        return all(self._is_ready(each) for each in children(schema))

    def text(self, schema: Schema | None, data: Column) -> Column:
        """The JSON of the data as a string, put together here where to_json can't."""
        if schema is None:
            return F.to_json(data)
        if not self._by_hand(schema):
            whole = F.to_json(F.struct(self._ready(schema, data).alias("v")), _OPTIONS)
            return F.substr(whole, F.lit(6), F.length(whole) - 6)
        data = self._filled(schema, data)
        match schema.type:
            case SchemaType.STRUCT:
                text = self.struct_text(schema, data)
            case SchemaType.ARRAY:
                items = F.transform(data, lambda item: self.text(schema.value_schema, item))
                text = _joined("[", items, "]")
            case _:
                text = self._map_text(schema, data)
        return F.when(data.isNull(), F.lit("null")).otherwise(text)

    def struct_text(self, schema: Schema, data: Column) -> Column:
        members: list[Column] = []
        for number, each in enumerate(schema.fields):
            members.append(F.lit(f"{',' if number else ''}{quoted(each.name)}:"))
            members.append(self.text(each.schema, data.getField(each.name)))
        return F.concat(F.lit("{"), *members, F.lit("}"))

    def _map_text(self, schema: Schema, data: Column) -> Column:
        objects = self.is_object(schema)

        def entry(pair: Column) -> Column:
            key = self.text(schema.key_schema, pair.getField("key"))
            value = self.text(schema.value_schema, pair.getField("value"))
            return F.concat(key, F.lit(":"), value) if objects else self.pair_text(key, value)

        left, right = "{}" if objects else "[]"
        return _joined(left, F.transform(F.map_entries(data), entry), right)

    def _by_hand(self, schema: Schema) -> bool:
        """Whether there is something inside that to_json has no form for."""
        return self.is_foreign(schema) or any(map(self._by_hand, children(schema)))

    def is_foreign(self, schema: Schema) -> bool:
        """Whether to_json has no form for this very schema."""
        return schema.type is SchemaType.MAP and not self.is_object(schema)

    def is_object(self, schema: Schema) -> bool:
        """Whether a map is written as an object; else it is an array of pairs."""
        return schema.key_schema is not None and schema.key_schema.type is SchemaType.STRING

    def pair_text(self, key: Column, value: Column) -> Column:
        """An entry of a map that is not a JSON object."""
        return F.concat(F.lit("["), key, F.lit(","), value, F.lit("]"))


def _joined(left: str, items: Column, right: str) -> Column:
    return F.concat(F.lit(left), F.array_join(items, ","), F.lit(right))


def _has_rare_constants(schema: Schema) -> bool:
    """Whether a field's name, or a default, may bring characters that the data does not show."""
    names = "".join(each.name for each in schema.fields)
    default = schema.default
    texts = names + (default if isinstance(default, str) else "")
    if isinstance(default, _NESTED) or max(texts, default="") > "\uffff":
        return True
    return any(map(_has_rare_constants, children(schema)))


def _bad_time(schema: Schema, data: Column) -> list[Column]:
    if schema.name != TIME:
        return []
    return [F.coalesce((data < 0) | (data > MILLIS_OF_DAY), F.lit(False))]


def _conditions(
    schema: Schema, data: Column, own: Callable[[Schema, Column], list[Column]]
) -> list[Column]:
    """What `own` asks of each part of the data: conditions that are true or false, never null."""
    found = own(schema, data)
    for each in schema.fields:
        inner = _conditions(each.schema, data.getField(each.name), own)
        found += [data.isNotNull() & condition for condition in inner]
    is_map = schema.type is SchemaType.MAP
    parts = [(schema.key_schema, F.map_keys), (schema.value_schema, F.map_values)]
    for items, part in parts:
        if items is None or not _conditions(items, F.lit(None), own):
            continue
        array = part(data) if is_map else data
        bad = F.exists(array, _any(items, own))
        found.append(F.coalesce(bad, F.lit(False)))
    return found


def _any(
    items: Schema, own: Callable[[Schema, Column], list[Column]]
) -> Callable[[Column], Column]:
    return lambda item: reduce(or_, _conditions(items, item, own))


def _as_bytes(text: Column, schema: Schema | None, data: Column) -> Column:
    """UTF-8, with the characters beyond the first plane as the two escapes Jackson writes.

    Whether there are any is asked of the data: asked of the text, Spark would write the text
    anew for each question, which tripled the cost of a record.
    """
    if schema is None or _has_rare_constants(schema):
        return F.element_at(F.transform(F.array(text), lambda t: _escaped(t, _is_rare(t))), 1)
    strings = _conditions(schema, data, _rare_string)
    return _escaped(text, reduce(or_, strings)) if strings else text.cast("binary")


def _escaped(text: Column, rare: Column) -> Column:
    pieces = F.regexp_extract_all(text, F.lit(_PIECES), F.lit(0))
    escaped = F.array_join(F.transform(pieces, _escape), "").cast("binary")
    return F.when(rare, escaped).otherwise(text.cast("binary"))


def _rare_string(schema: Schema, data: Column) -> list[Column]:
    if schema.type is not SchemaType.STRING:
        return []
    return [F.coalesce(_is_rare(data), F.lit(False))]


def _is_rare(text: Column) -> Column:
    raw = text.cast("binary")
    leads = reduce(or_, (F.contains(raw, F.lit(lead)) for lead in _LEADS))
    # Most text is ASCII, which a count detects.
    return (F.octet_length(text) != F.length(text)) & leads


def _escape(piece: Column) -> Column:
    units = F.hex(F.encode(piece, "UTF-16BE"))
    pair = F.concat(F.lit("\\u"), F.substring(units, 1, 4), F.lit("\\u"), F.substring(units, 5, 4))
    return F.when((F.octet_length(piece) == 4) & (F.length(piece) == 1), pair).otherwise(piece)
