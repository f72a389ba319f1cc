"""Whole columns of Protobuf messages as Connect data.

Messages are parsed by the protobuf package's own parser; their fields are then taken out column by
column. A wrong message makes a fault in its row alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError

from penstock.codecs.protobuf import moments
from penstock.codecs.protobuf.files import MessageType
from penstock.codecs.protobuf.from_connect import is_union
from penstock.codecs.protobuf.options import ProtobufOptions
from penstock.codecs.protobuf.to_connect import (
    WRAPPERS,
    is_optional,
    real_oneofs,
    union_field,
)
from penstock.columns.types import MAX_DECIMAL_DIGITS, arrow_type
from penstock.converters.protobuf.rows import Places, RowFaults, is_null, spread
from penstock.kernel.data.schema import DATE, TIME, TIMESTAMP, Schema, SchemaType

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

Messages = list[Any]
#: From the items of a field, none of them None, and their places to their data.
Decoder = Callable[[list[Any], Places], pa.Array]

_LIMIT: Final = 10**MAX_DECIMAL_DIGITS
_UNSIGNED: Final = frozenset({FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64})
_MOMENTS: Final = {
    DATE: (moments.DATE_FIELDS, moments.days_of, "a google.type.Date"),
    TIME: (moments.TIME_FIELDS, moments.millis_of_day, "a google.type.TimeOfDay"),
    TIMESTAMP: (
        moments.TIMESTAMP_FIELDS,
        moments.millis_since_1970,
        "a google.protobuf.Timestamp",
    ),
}
_NARROW: Final = {SchemaType.INT8: "i1", SchemaType.INT16: "i2", SchemaType.INT32: "i4"}


@dataclass(frozen=True, slots=True)
class DecodeKernel:
    """Reads messages of one type. `skip`: the bytes before each of them."""

    schema: Schema
    message: MessageType
    options: ProtobufOptions
    skip: int

    def __call__(self, raws: pa.Array) -> pa.Array:
        """struct<data, error> for each row; a null row gives nulls."""
        faults = RowFaults(len(raws))
        messages, places = self._parsed(raws, faults)
        present = np.zeros(len(raws), bool)
        present[places.rows] = True
        decode = _root(self.schema, self.message, self.options)
        return faults.applied(spread(decode(messages, places), present))

    def _parsed(self, raws: pa.Array, faults: RowFaults) -> tuple[Messages, Places]:
        places = Places(np.flatnonzero(~is_null(raws)), faults)
        payloads = [raw[self.skip :] for raw in raws.drop_null().to_pylist()]
        descriptor = self.message.descriptor()
        parse = message_factory.GetMessageClass(descriptor).FromString
        try:
            messages = list(map(parse, payloads))
        except DecodeError:
            messages = [_parsed_or_none(parse, payload) for payload in payloads]
        if _has_required(descriptor, set()):
            messages = [
                each if each is not None and each.IsInitialized() else None for each in messages
            ]
        good = np.array([each is not None for each in messages], bool)
        places.fault(~good, f"The bytes are not a Protobuf message of type {self.message.name}")
        return [each for each in messages if each is not None], places.only(good)


def _parsed_or_none(parse: Callable[[bytes], Any], payload: bytes) -> Any:
    try:
        return parse(payload)
    except DecodeError:
        return None


def _has_required(message: Descriptor, seen: set[str]) -> bool:
    """Whether a field of proto2 must be there, in the message or in one inside of it."""
    if message.full_name in seen:
        return False
    seen.add(message.full_name)
    return any(
        field.is_required
        or (field.message_type is not None and _has_required(field.message_type, seen))
        for field in message.fields
    )


@lru_cache(maxsize=100)
def _root(schema: Schema, message: MessageType, options: ProtobufOptions) -> Decoder:
    descriptor = message.descriptor()
    if schema.type is SchemaType.STRUCT:
        return _Decoders(options).struct(schema, descriptor)
    return _inside(_scalar(schema, descriptor.fields_by_name["value"]), "value")


class _Decoders:
    def __init__(self, options: ProtobufOptions) -> None:
        self._options = options

    def struct(self, schema: Schema, message: Descriptor) -> Decoder:
        unions = {union_field(each, self._options): each for each in real_oneofs(message)}
        columns = []
        for each in schema.fields:
            if is_union(each.schema) and each.name in unions:
                columns.append(self._union(each.schema, unions[each.name]))
            else:
                columns.append(self._column(each.schema, message.fields_by_name[each.name]))
        type_ = arrow_type(schema)

        def decode(messages: Messages, places: Places) -> pa.Array:
            arrays = [column(messages, places) for column in columns]
            if not arrays:
                return pa.array([{}] * len(messages), type_)
            return pa.StructArray.from_arrays(arrays, fields=list(type_))

        return decode

    def _union(self, schema: Schema, oneof: Any) -> Decoder:
        columns = [
            self._column(each.schema, oneof.containing_type.fields_by_name[each.name])
            for each in schema.fields
        ]
        type_, name = arrow_type(schema), oneof.name

        def decode(messages: Messages, places: Places) -> pa.Array:
            arrays = [column(messages, places) for column in columns]
            absent = [message.WhichOneof(name) is None for message in messages]
            mask = pa.array(absent, pa.bool_())
            return pa.StructArray.from_arrays(arrays, fields=list(type_), mask=mask)

        return decode

    def _column(self, schema: Schema, field: FieldDescriptor) -> Decoder:
        """From messages to the values of one of their fields."""
        if schema.type is SchemaType.MAP:
            return self._map(schema, field)
        if field.is_repeated:
            return self._list(schema, field)
        return self._single(schema, field)

    def _single(self, schema: Schema, field: FieldDescriptor) -> Decoder:
        decode, name = self._item(schema, field), field.name
        if not self._may_be_absent(schema, field):
            return _inside(decode, name)

        def decode_present(messages: Messages, places: Places) -> pa.Array:
            has = [message.HasField(name) for message in messages]
            present = np.array(has, bool)
            values = [
                getattr(each, name) for each, is_set in zip(messages, has, strict=True) if is_set
            ]
            return spread(decode(values, places.only(present)), present)

        return decode_present

    def _may_be_absent(self, schema: Schema, field: FieldDescriptor) -> bool:
        if field.containing_oneof is not None:
            return True
        if field.message_type is None:
            return is_optional(field, self._options)
        made = self._options.generate_struct_for_nulls and schema.type is SchemaType.STRUCT
        return not made

    def _list(self, schema: Schema, field: FieldDescriptor) -> Decoder:
        assert schema.value_schema is not None  # noqa: S101 - an array has one
        decode = self._item(schema.value_schema, field)
        get, type_ = attrgetter(field.name), arrow_type(schema)

        def decode_lists(messages: Messages, places: Places) -> pa.Array:
            lists = list(map(get, messages))
            sizes, offsets = _sizes(lists)
            items = decode(list(chain.from_iterable(lists)), places.repeated(sizes))
            return pa.ListArray.from_arrays(offsets, items).cast(type_)

        return decode_lists

    def _map(self, schema: Schema, field: FieldDescriptor) -> Decoder:
        keys, values, entry = schema.key_schema, schema.value_schema, field.message_type
        assert keys is not None  # noqa: S101 - a map has both
        assert values is not None  # noqa: S101
        parts = (keys, entry.fields_by_name["key"]), (values, entry.fields_by_name["value"])
        if entry.GetOptions().map_entry:
            return _declared_map(schema, field, *(self._item(*part) for part in parts))
        return _made_map(schema, field, *(self._column(*part) for part in parts))

    def _item(self, schema: Schema, field: FieldDescriptor) -> Decoder:
        """From what a field holds, or one item of it, to its data."""
        message = field.message_type
        if message is None:
            return _enum(schema, field) if field.enum_type is not None else _scalar(schema, field)
        if schema.is_decimal:
            return _decimal(schema)
        if schema.name in _MOMENTS and schema.is_moment:
            return _moment(schema)
        if schema.type is SchemaType.STRUCT:
            return self.struct(schema, message)
        assert message.full_name in WRAPPERS  # noqa: S101 - all others are structs
        return _inside(_scalar(schema, message.fields_by_name["value"]), "value")


def _declared_map(
    schema: Schema, field: FieldDescriptor, keys_of: Decoder, values_of: Decoder
) -> Decoder:
    get, type_ = attrgetter(field.name), arrow_type(schema)

    def decode(messages: Messages, places: Places) -> pa.Array:
        maps = list(map(get, messages))
        sizes, offsets = _sizes(maps)
        inner = places.repeated(sizes)
        keys = keys_of(list(chain.from_iterable(maps)), inner)
        values = values_of([each[key] for each in maps for key in each], inner)
        return pa.MapArray.from_arrays(offsets, keys, values).cast(type_)

    return decode


def _made_map(
    schema: Schema, field: FieldDescriptor, keys_of: Decoder, values_of: Decoder
) -> Decoder:
    """A map that is written as plain messages, as Connect's maps are."""
    get, type_ = attrgetter(field.name), arrow_type(schema)

    def decode(messages: Messages, places: Places) -> pa.Array:
        lists = [_last_of_each(get(message)) for message in messages]
        entries, (sizes, offsets) = list(chain.from_iterable(lists)), _sizes(lists)
        inner = places.repeated(sizes)
        keys, values = keys_of(entries, inner), values_of(entries, inner)
        if keys.null_count:
            good = ~is_null(keys)
            inner.fault(~good, f"The map {field.name} has a null key")
            owners = np.repeat(np.arange(len(lists)), sizes)[good]
            offsets = _offsets(np.bincount(owners, minlength=len(lists)))
            keys, values = keys.filter(pa.array(good)), values.filter(pa.array(good))
        return pa.MapArray.from_arrays(offsets, keys, values).cast(type_)

    return decode


def _inside(decode: Decoder, name: str) -> Decoder:
    get = attrgetter(name)
    return lambda messages, places: decode(list(map(get, messages)), places)


def _sizes(lists: list[Any]) -> tuple[np.ndarray, pa.Array]:
    sizes = np.fromiter(map(len, lists), np.int64, len(lists))
    return sizes, _offsets(sizes)


def _offsets(sizes: np.ndarray) -> pa.Array:
    return pa.array(np.concatenate(([0], np.cumsum(sizes))).astype(np.int32))


def _last_of_each(entries: Any) -> list[Any]:
    """The last entry of each key counts."""
    return list({_comparable(entry.key): entry for entry in entries}.values())


def _comparable(key: Any) -> Any:
    is_message = hasattr(key, "SerializeToString")
    return key.SerializeToString(deterministic=True) if is_message else key


def _scalar(schema: Schema, field: FieldDescriptor) -> Decoder:
    type_ = arrow_type(schema)
    if field.type in _UNSIGNED:
        return lambda values, _: pa.array(np.array(values, "u8").view("i8"))
    if narrow := _NARROW.get(schema.type):
        # As Java's casts: only the low bits of what an INT8 or INT16 has no room for.
        return lambda values, _: pa.array(np.array(values, "i4").astype(narrow))
    if schema.type is SchemaType.STRING:
        return lambda values, _: pa.array(_texts(values), type_)
    return lambda values, _: pa.array(values, type_)


def _texts(values: list[Any]) -> list[str]:
    """Texts of proto2 that are no UTF-8 come as bytes; Java puts a sign for what is wrong."""
    if bytes not in set(map(type, values)):
        return values
    return [each if isinstance(each, str) else each.decode(errors="replace") for each in values]


def _enum(schema: Schema, field: FieldDescriptor) -> Decoder:
    if schema.type is SchemaType.INT32:
        return lambda values, _: pa.array(values, pa.int32())
    enum = field.enum_type
    names = {number: each.name for number, each in enum.values_by_number.items()}

    unknown = f"UNKNOWN_ENUM_VALUE_{enum.name}_"
    return lambda values, _: pa.array(
        [names.get(each) or f"{unknown}{each}" for each in values], pa.string()
    )


def _moment(schema: Schema) -> Decoder:
    names, numbers_of, what = _MOMENTS[schema.name or ""]
    getters = [attrgetter(name) for name in names]
    type_ = arrow_type(schema)

    def decode(values: list[Any], places: Places) -> pa.Array:
        fields = [np.fromiter(map(get, values), np.int64, len(values)) for get in getters]
        numbers, good = numbers_of(fields)
        places.fault(~good, f"Not {what}: a part of it is out of range")
        return pa.array(numbers, type_)

    return decode


def _decimal(schema: Schema) -> Decoder:
    type_, scale = arrow_type(schema), schema.scale

    def decode(values: list[Any], places: Places) -> pa.Array:
        kept = bytearray()
        for row, each in zip(places.rows.tolist(), values, strict=True):
            number = _rescaled(int.from_bytes(each.value, "big", signed=True), scale - each.scale)
            if number is None:
                places.faults.add(row, _not_held(each.scale, scale))
            kept += (number or 0).to_bytes(16, "little", signed=True)
        return pa.Array.from_buffers(type_, len(values), [None, pa.py_buffer(bytes(kept))])

    return decode


def _rescaled(number: int, more_digits: int) -> int | None:
    """The number with so many more digits after the point; None if it can't be held."""
    if more_digits < 0:
        number, rest = divmod(number, 10**-more_digits) if more_digits > -1000 else (0, number)
        if rest:
            return None
    elif number:
        number = number * 10**more_digits if more_digits <= MAX_DECIMAL_DIGITS else _LIMIT
    return number if -_LIMIT < number < _LIMIT else None


def _not_held(found: int, scale: int) -> str:
    return (
        f"A Decimal of scale {found} can't be held as one of scale {scale} with"
        f" {MAX_DECIMAL_DIGITS} digits. The scale of a field is declared in its options:"
        ' [(confluent.field_meta).params = {key: "scale", value: "2"}]'
    )
