"""Connect schemas as .proto files."""

from __future__ import annotations

from typing import Any, Final

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from penstock.codecs.protobuf.files import known_file
from penstock.codecs.protobuf.meta import add_meta
from penstock.codecs.protobuf.names import checked, entry_name, scrubbed
from penstock.codecs.protobuf.options import (
    DATE_MESSAGE,
    DECIMAL_MESSAGE,
    ENUM,
    GENERAL_ENUM,
    GENERAL_UNION,
    TAG,
    TIME_MESSAGE,
    TIMESTAMP_MESSAGE,
    TYPE,
    UNION,
    ProtobufOptions,
)
from penstock.codecs.protobuf.parser import SCALARS
from penstock.kernel.data.schema import (
    DATE,
    DECIMAL,
    PRECISION,
    TIME,
    TIMESTAMP,
    Field,
    Schema,
    SchemaType,
)
from penstock.kernel.errors import DataError

_WRAPPERS_FILE: Final = "google/protobuf/wrappers.proto"
_LOGICAL: Final = {
    DECIMAL: (DECIMAL_MESSAGE, "confluent/type/decimal.proto"),
    DATE: (DATE_MESSAGE, "google/type/date.proto"),
    TIME: (TIME_MESSAGE, "google/type/timeofday.proto"),
    TIMESTAMP: (TIMESTAMP_MESSAGE, "google/protobuf/timestamp.proto"),
}
_SCALARS: Final = {
    SchemaType.INT8: "int32",
    SchemaType.INT16: "int32",
    SchemaType.INT32: "int32",
    SchemaType.INT64: "int64",
    SchemaType.FLOAT32: "float",
    SchemaType.FLOAT64: "double",
    SchemaType.BOOLEAN: "bool",
    SchemaType.STRING: "string",
    SchemaType.BYTES: "bytes",
}
_WRAPPERS: Final = {
    "int32": "Int32Value",
    "int64": "Int64Value",
    "uint32": "UInt32Value",
    "fixed32": "UInt32Value",
    "uint64": "UInt64Value",
    "fixed64": "UInt64Value",
    "float": "FloatValue",
    "double": "DoubleValue",
    "bool": "BoolValue",
    "string": "StringValue",
    "bytes": "BytesValue",
}
_SMALL: Final = {SchemaType.INT8: "int8", SchemaType.INT16: "int16"}
#: Numbers that Protobuf keeps for itself.
_RESERVED: Final = range(19_000, 20_000)


def proto_file(schema: Schema, options: ProtobufOptions) -> tuple[FileDescriptorProto, int]:
    """The file for data of a schema, and which of its messages the data is.

    Raises:
        DataError: there can be no Protobuf message of that schema.
    """
    if schema.type is SchemaType.STRUCT:
        return _FileBuilder(options).build(schema), 0
    if schema.type in (SchemaType.ARRAY, SchemaType.MAP):
        raise DataError(
            f"Unsupported root schema of type {schema.type.name}: a Protobuf message is a struct"
            " or a single value"
        )
    file = known_file(_WRAPPERS_FILE)
    assert file is not None  # noqa: S101 - the protobuf package has it
    wanted = _WRAPPERS[_SCALARS[schema.type]]
    return file, [each.name for each in file.message_type].index(wanted)


def is_enum(schema: Schema) -> bool:
    """Whether a string or an INT32 holds the symbols of an enum."""
    known = schema.type in (SchemaType.STRING, SchemaType.INT32)
    return known and any(schema.parameter(name) is not None for name in (GENERAL_ENUM, ENUM))


def is_union(schema: Schema) -> bool:
    """Whether a struct holds the fields of a oneof."""
    if schema.type is not SchemaType.STRUCT:
        return False
    named = (schema.name or "").startswith(UNION)
    return named or schema.parameter(GENERAL_UNION) is not None


def symbols_of(schema: Schema) -> dict[str, int]:
    """The numbers of an enum's symbols."""
    for parameter in (GENERAL_ENUM, ENUM):
        prefix = f"{parameter}."
        found = {
            name.removeprefix(prefix): int(number)
            for name, number in schema.parameters
            if name.startswith(prefix) and number.lstrip("-").isdecimal()
        }
        if found:
            return found
    return {}


def is_wrapped(schema: Schema, options: ProtobufOptions) -> bool:
    """Whether a field is one of Google's messages around a scalar."""
    plain = schema.type in _SCALARS and not is_logical(schema) and not is_enum(schema)
    return options.wrapper_for_nullables and schema.optional and plain


def is_logical(schema: Schema) -> bool:
    """Whether a value has a message of its own. The name alone does not tell: Cast leaves it."""
    return schema.is_decimal or schema.is_moment


def proto_name(name: str, options: ProtobufOptions) -> str:
    """What a field, a message or an enum is called in the file."""
    return scrubbed(name) if options.scrub_invalid_names else checked(name)


class _FileBuilder:
    def __init__(self, options: ProtobufOptions) -> None:
        self._options = options
        self._file = FileDescriptorProto(name="schema.proto", syntax="proto3")
        self._unnamed = 0

    def build(self, schema: Schema) -> FileDescriptorProto:
        package, _, _ = self._given_name(schema.name).rpartition(".")
        if package:
            self._file.package = ".".join(
                proto_name(part, self._options) for part in package.split(".")
            )
        self._unnamed = 0
        message = self._file.message_type.add(name=self._type_name(schema.name))
        self._fill(message, schema)
        return self._file

    def _given_name(self, name: str | None) -> str:
        if name:
            return name
        self._unnamed += 1
        return f"ConnectDefault{self._unnamed}"

    def _type_name(self, name: str | None) -> str:
        return proto_name(self._given_name(name).rpartition(".")[2], self._options)

    def _fill(self, message: DescriptorProto, schema: Schema) -> None:
        numbers = _Numbers(schema)
        optional: list[FieldDescriptorProto] = []
        for each in schema.fields:
            if is_union(each.schema):
                self._add_oneof(message, each.schema, numbers)
                continue
            field = self._add_field(message, each, numbers)
            if field.proto3_optional:
                optional.append(field)
        for field in optional:
            field.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=f"_{field.name}")

    def _add_oneof(self, message: DescriptorProto, union: Schema, numbers: _Numbers) -> None:
        name = union.parameter(GENERAL_UNION) or (union.name or "").removeprefix(f"{UNION}.")
        index = len(message.oneof_decl)
        message.oneof_decl.add(name=self._type_name(name))
        for each in union.fields:
            if each.schema.type in (SchemaType.ARRAY, SchemaType.MAP):
                kind = each.schema.type.name
                raise DataError(f"Field {each.name} of a Protobuf oneof can't be of type {kind}")
            field = self._add_field(message, each, numbers)
            field.ClearField("proto3_optional")
            field.oneof_index = index

    def _add_field(
        self, message: DescriptorProto, each: Field, numbers: _Numbers
    ) -> FieldDescriptorProto:
        name = proto_name(each.name, self._options)
        if any(known.name == name for known in message.field):
            raise DataError(f"Two fields are called {name} in the Protobuf message {message.name}")
        field = message.field.add(name=name, number=numbers.of(each.schema))
        self._set_type(field, message, each.schema)
        return field

    def _set_type(
        self, field: FieldDescriptorProto, message: DescriptorProto, schema: Schema
    ) -> None:
        field.label = FieldDescriptorProto.LABEL_OPTIONAL
        if schema.type is SchemaType.ARRAY:
            field.label = FieldDescriptorProto.LABEL_REPEATED
            schema = _item(field.name, schema)
        elif schema.type is SchemaType.MAP:
            field.label = FieldDescriptorProto.LABEL_REPEATED
        elif self._options.optional_for_nullables and schema.optional:
            field.proto3_optional = True
        self._set_single(field, message, schema)

    def _set_single(
        self, field: FieldDescriptorProto, message: DescriptorProto, schema: Schema
    ) -> None:
        if is_logical(schema):
            self._refer(field, *_LOGICAL[schema.name or ""])
            if meta := _decimal_meta(schema):
                self._add_meta(field, meta)
        elif schema.type is SchemaType.STRUCT:
            field.type_name = self._nested(message, field.name, schema)
        elif schema.type is SchemaType.MAP:
            field.type_name = self._entry(message, schema)
        elif is_enum(schema):
            field.type_name = self._enum(message, schema)
        else:
            self._set_scalar(field, schema)

    def _set_scalar(self, field: FieldDescriptorProto, schema: Schema) -> None:
        name = _SCALARS[schema.type]
        if schema.type in (SchemaType.INT32, SchemaType.INT64):
            wanted = schema.parameter(TYPE) or name
            name = wanted if wanted in SCALARS else name
        if schema.type in _SMALL:
            self._add_meta(field, {"connect.type": _SMALL[schema.type]})
        if is_wrapped(schema, self._options):
            wrapper = _WRAPPERS.get(name, _WRAPPERS[_SCALARS[schema.type]])
            self._refer(field, f"google.protobuf.{wrapper}", _WRAPPERS_FILE)
        else:
            field.type = SCALARS[name]

    def _nested(self, message: DescriptorProto, field: str, schema: Schema) -> str:
        name = self._type_name(schema.name)
        if name == field:
            name += "Message"  # a field and a type can't have the same name
        nested = DescriptorProto(name=name)
        self._fill(nested, schema)
        return self._define(message.nested_type, nested)

    def _entry(self, message: DescriptorProto, schema: Schema) -> str:
        nested = DescriptorProto(name=entry_name(self._type_name(schema.name)))
        for number, (name, part) in enumerate(
            (("key", schema.key_schema), ("value", schema.value_schema)), start=1
        ):
            assert part is not None  # noqa: S101 - a map has both
            self._set_type(nested.field.add(name=name, number=number), nested, part)
            nested.field[-1].ClearField("proto3_optional")
        return self._define(message.nested_type, nested)

    def _enum(self, message: DescriptorProto, schema: Schema) -> str:
        named = schema.parameter(self._options.enum_parameter) or schema.name
        enum = EnumDescriptorProto(name=self._type_name(named))
        # The first symbol of a proto3 enum is zero.
        symbols = sorted(symbols_of(schema).items(), key=lambda pair: (pair[1] != 0, pair[1]))
        for symbol, number in symbols:
            enum.value.add(name=proto_name(symbol, self._options), number=number)
        return self._define(message.enum_type, enum)

    def _define(self, types: Any, new: Any) -> str:
        """Add a type to those of a message, unless it is there already."""
        known = next((each for each in types if each.name == new.name), None)
        if known is None:
            types.append(new)
        elif known != new:
            raise DataError(
                f"Two different schemas are called {new.name}; in Protobuf they need names of"
                " their own"
            )
        return str(new.name)

    def _refer(self, field: FieldDescriptorProto, type_name: str, file: str) -> None:
        field.type_name = f".{type_name}"
        self._import(file)

    def _add_meta(self, field: FieldDescriptorProto, parameters: dict[str, str]) -> None:
        add_meta(field.options, parameters)
        self._import("confluent/meta.proto")

    def _import(self, file: str) -> None:
        if file not in self._file.dependency:
            self._file.dependency.append(file)


def _item(field: str, schema: Schema) -> Schema:
    item = schema.value_schema
    if item is None or item.type in (SchemaType.ARRAY, SchemaType.MAP) or is_union(item):
        raise DataError(
            f"Field {field} is an array of arrays, maps or unions, which Protobuf does not have"
        )
    return item


def _decimal_meta(schema: Schema) -> dict[str, str]:
    if not schema.is_decimal:
        return {}
    found = {"precision": schema.parameter(PRECISION), "scale": schema.parameter("scale")}
    return {name: text for name, text in found.items() if text is not None}


class _Numbers:
    """The numbers of a message's fields: those they had, and the free ones for the others."""

    def __init__(self, schema: Schema) -> None:
        inner = [
            part
            for each in schema.fields
            for part in (each.schema.fields if is_union(each.schema) else (each,))
        ]
        self._used = {tag for each in inner if (tag := _tag(each.schema))}
        self._last = 0

    def of(self, schema: Schema) -> int:
        if tag := _tag(schema):
            return tag
        self._last += 1
        while self._last in self._used or self._last in _RESERVED:
            self._last += 1
        return self._last


def _tag(schema: Schema) -> int | None:
    text = schema.parameter(TAG)
    return int(text) if text and text.isdecimal() else None
