"""Whole columns of Connect data as Protobuf messages.

Fields become columns of what the protobuf package takes for them, and each row of those becomes a
message. A value that can't be written makes a fault in its row alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor

from penstock.codecs.json.write import unscaled_bytes
from penstock.codecs.protobuf import moments
from penstock.codecs.protobuf.files import MessageType
from penstock.codecs.protobuf.from_connect import is_union, proto_name, symbols_of
from penstock.codecs.protobuf.options import (
    DATE_MESSAGE,
    DECIMAL_MESSAGE,
    TIME_MESSAGE,
    TIMESTAMP_MESSAGE,
    ProtobufOptions,
)
from penstock.codecs.protobuf.to_connect import TYPE_NAMES, WRAPPERS
from penstock.columns.single import plain
from penstock.converters.protobuf.rows import Places, RowFaults, is_null
from penstock.kernel.data.schema import DATE, TIME, TIMESTAMP, Field, Schema, SchemaType
from penstock.kernel.errors import DataError

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

#: From the items of a column and their places to what a message's constructor takes for each of
#: them; None leaves a field unset.
Encoder = Callable[[pa.Array, Places], list[Any]]
#: The same from a struct to one or more of a message's fields.
MemberEncoder = Callable[[pa.Array, Places], list[list[Any]]]

NULL_FOR_REQUIRED: Final = (
    "Conversion error: null value for field that is required and has no default value: "
)
_MOMENTS: Final = {
    DATE: (moments.DATE_FIELDS, moments.dates_of, DATE_MESSAGE),
    TIME: (moments.TIME_FIELDS, moments.times_of, TIME_MESSAGE),
    TIMESTAMP: (moments.TIMESTAMP_FIELDS, moments.timestamps_of, TIMESTAMP_MESSAGE),
}
_SMALL: Final = frozenset({SchemaType.INT8, SchemaType.INT16, SchemaType.INT32})
_WHOLE: Final = _SMALL | {SchemaType.INT64}
#: The Protobuf types that can hold a Connect type, whoever wrote the schema.
_TAKES: Final = {
    **dict.fromkeys(("int32", "sint32", "sfixed32"), _SMALL),
    **dict.fromkeys(("int64", "sint64", "sfixed64"), _WHOLE),
    **dict.fromkeys(("uint32", "fixed32", "uint64", "fixed64"), _WHOLE),
    "float": frozenset({SchemaType.FLOAT32}),
    "double": frozenset({SchemaType.FLOAT32, SchemaType.FLOAT64}),
    "bool": frozenset({SchemaType.BOOLEAN}),
    "string": frozenset({SchemaType.STRING}),
    "bytes": frozenset({SchemaType.BYTES}),
}
_UNSIGNED: Final = {"uint32": "u4", "fixed32": "u4", "uint64": "u8", "fixed64": "u8"}


@dataclass(frozen=True, slots=True)
class EncodeKernel:
    """Writes messages of one type."""

    schema: Schema
    message: MessageType
    options: ProtobufOptions

    def __call__(self, data: pa.Array) -> pa.Array:
        """struct<data, error> for each row; a null row gives nulls."""
        faults = RowFaults(len(data))
        places = Places(np.flatnonzero(~is_null(data)), faults)
        encode = root_encoder(self.schema, self.message, self.options)
        make = message_factory.GetMessageClass(self.message.descriptor())
        written: list[bytes | None] = [None] * len(data)
        encoded = encode(data.drop_null(), places)
        for row, values in zip(places.rows.tolist(), encoded, strict=True):
            if faults.has(row):
                continue
            try:
                written[row] = make(**values).SerializeToString()
            except (TypeError, ValueError) as error:
                faults.add(row, f"The Protobuf message {self.message.name} refuses it: {error}")
        return faults.applied(pa.array(written, pa.binary()))


@lru_cache(maxsize=100)
def root_encoder(schema: Schema, message: MessageType, options: ProtobufOptions) -> Encoder:
    """Makes the encoder.

    Raises:
        DataError: data of that schema does not fit the message.
    """
    descriptor = message.descriptor()
    if schema.type is SchemaType.STRUCT:
        return _Encoders(options).struct(schema, descriptor)
    if descriptor.full_name not in WRAPPERS:
        raise DataError(f"A {schema.type.name} can't be written as the message {message.name}")
    return _wrapped(_scalar("value", schema, descriptor.fields_by_name["value"]))


class _Encoders:
    def __init__(self, options: ProtobufOptions) -> None:
        self._options = options

    def struct(self, schema: Schema, message: Descriptor) -> Encoder:
        names: list[str] = []
        members: list[MemberEncoder] = []
        for place, each in enumerate(schema.fields):
            if is_union(each.schema):
                names += [proto_name(part.name, self._options) for part in each.schema.fields]
                members.append(self._union(place, each.schema, message))
            else:
                names.append(proto_name(each.name, self._options))
                members.append(self._member(place, each, message))

        def encode(array: pa.Array, places: Places) -> list[Any]:
            columns = [column for each in members for column in each(array, places)]
            if not columns:
                return [{} for _ in range(len(array))]
            return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

        return encode

    def _member(self, place: int, field: Field, message: Descriptor) -> MemberEncoder:
        encode = self._field(field, message)
        return lambda array, places: [encode(array.field(place), places)]

    def _union(self, place: int, schema: Schema, message: Descriptor) -> MemberEncoder:
        """A oneof: the first of its fields that is not null."""
        parts = [
            self._field(
                Field(each.name, replace(each.schema, optional=True, default=None)), message
            )
            for each in schema.fields
        ]

        def encode(array: pa.Array, places: Places) -> list[list[Any]]:
            union = array.field(place)
            taken = is_null(union)
            columns = []
            for number, encode_part in enumerate(parts):
                part = union.field(number)
                chosen = ~is_null(part) & ~taken
                values = encode_part(part, places)
                columns.append([v if its else None for v, its in zip(values, chosen, strict=True)])
                taken = taken | chosen
            places.fault(~taken, f"No field of the union {schema.name} has a value")
            return columns

        return encode

    def _field(self, field: Field, message: Descriptor) -> Encoder:
        schema, name = field.schema, proto_name(field.name, self._options)
        written = message.fields_by_name.get(name)
        if written is None:
            raise DataError(f"The Protobuf message {message.full_name} has no field {name}")
        complaint = None if schema.optional else f"{NULL_FOR_REQUIRED}{field.name}"
        return _with_nulls(schema, self._value(name, schema, written), complaint)

    def _value(self, name: str, schema: Schema, field: FieldDescriptor) -> Encoder:
        if schema.type is SchemaType.MAP:
            return self._map(name, schema, field)
        if schema.type is SchemaType.ARRAY:
            return self._list(name, schema, field)
        if field.is_repeated:
            raise _misfit(name, schema)
        return self._single(name, schema, field)

    def _single(self, name: str, schema: Schema, field: FieldDescriptor) -> Encoder:
        """One value, of a field or of an item of a repeated field."""
        message = field.message_type
        if schema.is_moment:
            return _moment(name, schema, field)
        if schema.is_decimal:
            return _decimal(name, schema, field)
        if schema.type is SchemaType.STRUCT:
            if message is None:
                raise _misfit(name, schema)
            return self.struct(schema, message)
        if message is not None and message.full_name in WRAPPERS:
            return _wrapped(_scalar(name, schema, message.fields_by_name["value"]))
        if field.enum_type is not None:
            return _enum(name, schema, field)
        return _scalar(name, schema, field)

    def _list(self, name: str, schema: Schema, field: FieldDescriptor) -> Encoder:
        items = schema.value_schema
        if items is None or not field.is_repeated:
            raise _misfit(name, schema)
        complaint = f"Field {name}: a repeated field of Protobuf can't contain null"
        encode = _with_nulls(items, self._single(name, items, field), complaint)

        def encode_lists(array: pa.Array, places: Places) -> list[Any]:
            offsets = array.offsets.to_numpy()
            inner = places.repeated(np.diff(offsets))
            return _cut(encode(_between(array.values, offsets), inner), offsets)

        return encode_lists

    def _map(self, name: str, schema: Schema, field: FieldDescriptor) -> Encoder:
        keys, values, entry = schema.key_schema, schema.value_schema, field.message_type
        if keys is None or values is None or entry is None or not field.is_repeated:
            raise _misfit(name, schema)
        key_of, value_of = (
            self._field(Field(part, of), entry) for part, of in (("key", keys), ("value", values))
        )
        declared = entry.GetOptions().map_entry

        def encode(array: pa.Array, places: Places) -> list[Any]:
            offsets = array.offsets.to_numpy()
            inner = places.repeated(np.diff(offsets))
            pairs = zip(
                key_of(_between(array.keys, offsets), inner),
                value_of(_between(array.items, offsets), inner),
                strict=True,
            )
            if declared:
                return [_known_pairs(each) for each in _cut(list(pairs), offsets)]
            return _cut([{"key": key, "value": value} for key, value in pairs], offsets)

        return encode


def _with_nulls(schema: Schema, encode: Encoder, complaint: str | None) -> Encoder:
    """Nulls become the default, or None, or a fault if there is a complaint about them."""
    default = plain(schema, schema.default)

    def encode_all(array: pa.Array, places: Places) -> list[Any]:
        if not array.null_count:
            return encode(array, places)
        absent = is_null(array)
        if default is not None:
            # Spark's lists and maps have other names for their parts than Arrow's own.
            filled = pa.concat_arrays([array, pa.array([default], array.type)])
            taken = np.where(absent, len(array), np.arange(len(array)))
            return encode(filled.take(pa.array(taken)), places)
        if complaint:
            places.fault(absent, complaint)
        values = iter(encode(array.drop_null(), places.only(~absent)))
        return [None if gone else next(values) for gone in absent]

    return encode_all


def _wrapped(encode: Encoder) -> Encoder:
    return lambda array, places: [{"value": v} for v in encode(array, places)]


def _scalar(name: str, schema: Schema, field: FieldDescriptor) -> Encoder:
    written = TYPE_NAMES.get(field.type, "")
    if schema.type not in _TAKES.get(written, ()):
        raise _misfit(name, schema)
    if unsigned := _UNSIGNED.get(written):
        # Java has no such numbers; it takes the low bits of its own.
        return lambda array, _: (
            array.to_numpy(zero_copy_only=False).astype("i8").astype(unsigned).tolist()
        )
    return lambda array, _: array.to_pylist()


def _enum(name: str, schema: Schema, field: FieldDescriptor) -> Encoder:
    if schema.type is SchemaType.INT32:
        return lambda array, _: array.to_pylist()
    if schema.type is not SchemaType.STRING:
        raise _misfit(name, schema)
    numbers = {each.name: each.number for each in field.enum_type.values} | symbols_of(schema)

    def encode(array: pa.Array, places: Places) -> list[Any]:
        found = [numbers.get(symbol) for symbol in array.to_pylist()]
        unknown = np.array([number is None for number in found], bool)
        places.fault(unknown, f"Field {name}: not a symbol of the enum {field.enum_type.name}")
        return found

    return encode


def _moment(name: str, schema: Schema, field: FieldDescriptor) -> Encoder:
    names, fields_of, message = _MOMENTS[schema.name or ""]
    if field.message_type is None or field.message_type.full_name != message:
        raise _misfit(name, schema)

    def encode(array: pa.Array, places: Places) -> list[Any]:
        fields, good = fields_of(array.to_numpy(zero_copy_only=False))
        places.fault(~good, f"Field {name}: the value is beyond what {message} can hold")
        columns = [each.tolist() for each in fields]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    return encode


def _decimal(name: str, schema: Schema, field: FieldDescriptor) -> Encoder:
    if field.message_type is None or field.message_type.full_name != DECIMAL_MESSAGE:
        raise _misfit(name, schema)
    scale = schema.scale
    return lambda array, _: [_decimal_fields(value, scale) for value in array.to_pylist()]


def _decimal_fields(value: Decimal, scale: int) -> dict[str, Any]:
    return {
        "value": unscaled_bytes(value, scale),
        "precision": len(value.as_tuple().digits),
        "scale": scale,
    }


def _between(items: pa.Array, offsets: np.ndarray) -> pa.Array:
    """The items that the lists with these offsets have."""
    return items.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))


def _cut(items: list[Any], offsets: np.ndarray) -> list[list[Any]]:
    places = (offsets - offsets[0]).tolist()
    return [items[start:end] for start, end in pairwise(places)]


def _known_pairs(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """What a declared map takes: a value that is not set is not there either."""
    return {key: value for key, value in pairs if key is not None and value is not None}


def _misfit(name: str, schema: Schema) -> DataError:
    what = schema.name or schema.type.name
    return DataError(f"Field {name} of type {what} can't be written in the form the schema has")
