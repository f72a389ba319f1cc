"""Protobuf messages as Connect schemas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto

from penstock.codecs.protobuf.meta import meta_of
from penstock.codecs.protobuf.names import map_name
from penstock.codecs.protobuf.options import (
    DATE_MESSAGE,
    DECIMAL_MESSAGE,
    GENERAL_UNION,
    TAG,
    TIME_MESSAGE,
    TIMESTAMP_MESSAGE,
    TYPE,
    UNION,
    ProtobufOptions,
)
from penstock.kernel.data.schema import (
    PRECISION,
    Field,
    Schema,
    SchemaType,
    date_schema,
    decimal_schema,
    time_schema,
    timestamp_schema,
)
from penstock.kernel.errors import DataError

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, OneofDescriptor

TYPE_NAMES: Final = {
    FieldDescriptor.TYPE_DOUBLE: "double",
    FieldDescriptor.TYPE_FLOAT: "float",
    FieldDescriptor.TYPE_INT64: "int64",
    FieldDescriptor.TYPE_UINT64: "uint64",
    FieldDescriptor.TYPE_INT32: "int32",
    FieldDescriptor.TYPE_FIXED64: "fixed64",
    FieldDescriptor.TYPE_FIXED32: "fixed32",
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_BYTES: "bytes",
    FieldDescriptor.TYPE_UINT32: "uint32",
    FieldDescriptor.TYPE_SFIXED32: "sfixed32",
    FieldDescriptor.TYPE_SFIXED64: "sfixed64",
    FieldDescriptor.TYPE_SINT32: "sint32",
    FieldDescriptor.TYPE_SINT64: "sint64",
}
_SCALARS: Final = {
    "double": SchemaType.FLOAT64,
    "float": SchemaType.FLOAT32,
    "bool": SchemaType.BOOLEAN,
    "string": SchemaType.STRING,
    "bytes": SchemaType.BYTES,
    **dict.fromkeys(("int32", "sint32", "sfixed32"), SchemaType.INT32),
    # Numbers without a sign need one bit more than Java's, and get the next type.
    **dict.fromkeys(("uint32", "fixed32", "int64", "uint64"), SchemaType.INT64),
    **dict.fromkeys(("sint64", "fixed64", "sfixed64"), SchemaType.INT64),
}
_PLAIN: Final = frozenset({"double", "float", "bool", "string", "bytes", "int32", "int64"})
_SMALL: Final = {"int8": SchemaType.INT8, "int16": SchemaType.INT16}
WRAPPERS: Final = {
    "google.protobuf.DoubleValue": SchemaType.FLOAT64,
    "google.protobuf.FloatValue": SchemaType.FLOAT32,
    "google.protobuf.Int64Value": SchemaType.INT64,
    "google.protobuf.UInt64Value": SchemaType.INT64,
    "google.protobuf.Int32Value": SchemaType.INT32,
    "google.protobuf.UInt32Value": SchemaType.INT64,
    "google.protobuf.BoolValue": SchemaType.BOOLEAN,
    "google.protobuf.StringValue": SchemaType.STRING,
    "google.protobuf.BytesValue": SchemaType.BYTES,
}


def connect_schema(
    message: Descriptor, options: ProtobufOptions, version: int | None = None
) -> Schema:
    """The schema of a message.

    Raises:
        DataError: the message contains itself, which no column can.
    """
    if options.wrapper_for_raw_primitives and message.full_name in WRAPPERS:
        return Schema(WRAPPERS[message.full_name], version=version)
    return replace(_Mapping(options).struct(message, ()), version=version)


def is_map(field: FieldDescriptor) -> bool:
    """Whether a repeated field holds the entries of a map, declared as one or made by Connect."""
    entry = field.message_type
    if entry is None or not field.is_repeated or not entry.name.endswith("Entry"):
        return False
    parts = list(entry.fields)
    return [part.name for part in parts] == ["key", "value"] and not any(
        part.is_repeated for part in parts
    )


def real_oneofs(message: Descriptor) -> list[OneofDescriptor]:
    """Without those that stand for a single optional field."""
    return [each for each in message.oneofs if not _is_synthetic(each)]


def plain_fields(message: Descriptor) -> list[FieldDescriptor]:
    """The fields that belong to no real oneof."""
    return [
        each
        for each in message.fields
        if each.containing_oneof is None or _is_synthetic(each.containing_oneof)
    ]


def union_field(oneof: OneofDescriptor, options: ProtobufOptions) -> str:
    """The name of the field that holds a oneof."""
    name = str(oneof.name)
    return f"{name}_{oneof.index}" if options.generate_index_for_unions else name


def is_optional(field: FieldDescriptor, options: ProtobufOptions) -> bool:
    """Whether a scalar that is not set is null, and not its default."""
    return _is_proto3_optional(field) or (options.optional_for_proto2 and _says_optional(field))


def _says_optional(field: FieldDescriptor) -> bool:
    """Whether `optional` stands before a scalar of a proto2 file: only there they have presence."""
    scalar = field.message_type is None and field.containing_oneof is None
    return scalar and field.has_presence and not field.is_required


def _is_synthetic(oneof: OneofDescriptor) -> bool:
    return len(oneof.fields) == 1 and _is_proto3_optional(oneof.fields[0])


def _is_proto3_optional(field: FieldDescriptor) -> bool:
    return field.name in _proto3_optional(field.containing_type)


@lru_cache(maxsize=1000)
def _proto3_optional(message: Descriptor) -> frozenset[str]:
    """The fields marked so; the descriptors of fields do not tell."""
    proto = DescriptorProto()
    message.CopyToProto(proto)
    return frozenset(each.name for each in proto.field if each.proto3_optional)


class _Mapping:
    def __init__(self, options: ProtobufOptions) -> None:
        self._options = options

    def struct(self, message: Descriptor, above: tuple[str, ...]) -> Schema:
        if message.full_name in above:
            raise DataError(
                f"The Protobuf message {message.full_name} contains itself;"
                " data of such a message can't be held in columns"
            )
        inside = (*above, message.full_name)
        fields: list[Field] = []
        for oneof in real_oneofs(message):
            if self._options.flatten_unions:
                fields += self._fields(oneof.fields, inside)
            else:
                name = union_field(oneof, self._options)
                fields.append(Field(name, self._union(oneof, inside)))
        fields += self._fields(plain_fields(message), inside)
        return Schema(SchemaType.STRUCT, name=self._name(message), fields=tuple(fields))

    def _fields(self, fields: Any, above: tuple[str, ...]) -> list[Field]:
        return [Field(each.name, self._field(each, above)) for each in fields]

    def _name(self, named: Any) -> str:
        full = self._options.enhanced_protobuf_schema_support
        return str(named.full_name if full else named.name)

    def _union(self, oneof: OneofDescriptor, above: tuple[str, ...]) -> Schema:
        general = self._options.generalized_sum_type_support
        return Schema(
            SchemaType.STRUCT,
            name=oneof.name if general else f"{UNION}.{self._name(oneof)}",
            parameters=((GENERAL_UNION, oneof.name),) if general else (),
            optional=True,
            fields=tuple(self._fields(oneof.fields, above)),
        )

    def _field(self, field: FieldDescriptor, above: tuple[str, ...]) -> Schema:
        schema = self._item(field, above)
        if field.is_repeated and schema.type is not SchemaType.MAP:
            schema = Schema(SchemaType.ARRAY, value_schema=schema.as_optional(), optional=True)
        if self._is_nullable(field):
            schema = schema.as_optional()
        return replace(schema, parameters=(*schema.parameters, (TAG, str(field.number))))

    def _is_nullable(self, field: FieldDescriptor) -> bool:
        options = self._options
        # What may be read as null is optional, also where Java forgets to say so.
        if field.containing_oneof is not None or is_optional(field, options):
            return True
        if options.optional_for_nullables:
            return _says_optional(field)
        return not options.wrapper_for_nullables

    def _item(self, field: FieldDescriptor, above: tuple[str, ...]) -> Schema:
        """The schema of a field, or of one item if it is repeated."""
        if field.enum_type is not None:
            return self._enum(field)
        if field.message_type is not None:
            return self._message(field, above).as_optional()
        name = TYPE_NAMES[field.type]
        type_ = _with_size(_SCALARS[name], field)
        kept = name in _PLAIN or type_ in _SMALL.values()
        return Schema(type_, parameters=() if kept else ((TYPE, name),))

    def _enum(self, field: FieldDescriptor) -> Schema:
        enum, parameter = field.enum_type, self._options.enum_parameter
        symbols = ((f"{parameter}.{each.name}", str(each.number)) for each in enum.values)
        return Schema(
            SchemaType.INT32 if self._options.int_for_enums else SchemaType.STRING,
            name=self._name(enum),
            parameters=((parameter, enum.name), *symbols),
            optional=True,
        )

    def _message(self, field: FieldDescriptor, above: tuple[str, ...]) -> Schema:
        message = field.message_type
        if logical := _LOGICAL.get(message.full_name):
            return logical(field)
        if self._options.wrapper_for_nullables and message.full_name in WRAPPERS:
            return Schema(_with_size(WRAPPERS[message.full_name], field))
        if is_map(field):
            return self._map(message, above)
        return self.struct(message, above)

    def _map(self, entry: Descriptor, above: tuple[str, ...]) -> Schema:
        key, value = (self._field(each, above) for each in entry.fields)
        name = map_name(self._name(entry))
        return Schema(SchemaType.MAP, name=name, key_schema=key, value_schema=value)


def _with_size(type_: SchemaType, field: FieldDescriptor) -> SchemaType:
    """INT32, or the smaller type that the field's options name."""
    if type_ is not SchemaType.INT32:
        return type_
    return _SMALL.get(meta_of(field.GetOptions()).get("connect.type", ""), type_)


def _decimal(field: FieldDescriptor) -> Schema:
    meta = meta_of(field.GetOptions())
    schema = decimal_schema(_whole(meta.get("scale")) or 0)
    precision = _whole(meta.get("precision"))
    if precision is None:
        return schema
    return replace(schema, parameters=(*schema.parameters, (PRECISION, str(precision))))


def _whole(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


_LOGICAL: Final[dict[str, Callable[[FieldDescriptor], Schema]]] = {
    DECIMAL_MESSAGE: _decimal,
    DATE_MESSAGE: lambda _: date_schema(),
    TIME_MESSAGE: lambda _: time_schema(),
    TIMESTAMP_MESSAGE: lambda _: timestamp_schema(),
}
