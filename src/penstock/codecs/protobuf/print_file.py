"""A file descriptor as the text of a .proto file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from penstock.codecs.protobuf.meta import meta_of
from penstock.codecs.protobuf.parser import SCALARS

_NAMES: Final = {number: name for name, number in SCALARS.items()}
_INDENT: Final = "  "


def proto_text(file: FileDescriptorProto) -> str:
    """The text of a proto3 file, as far as schemas made of Connect's need it."""
    lines = ['syntax = "proto3";']
    if file.package:
        lines += ["", f"package {file.package};"]
    if file.dependency:
        lines += ["", *(f'import "{each}";' for each in file.dependency)]
    for message in file.message_type:
        lines += ["", *_message(message)]
    return "\n".join(lines) + "\n"


def _message(message: DescriptorProto) -> Iterator[str]:
    yield f"message {message.name} {{"
    yield from _indented(_members(message))
    yield "}"


def _members(message: DescriptorProto) -> Iterator[str]:
    printed: set[int] = set()
    for field in message.field:
        if not field.HasField("oneof_index") or field.proto3_optional:
            yield _field(field)
        elif field.oneof_index not in printed:
            printed.add(field.oneof_index)
            yield from _oneof(message, field.oneof_index)
    for nested in message.nested_type:
        yield from _message(nested)
    for enum in message.enum_type:
        yield from _enum(enum)


def _oneof(message: DescriptorProto, index: int) -> Iterator[str]:
    yield f"oneof {message.oneof_decl[index].name} {{"
    inside = [each for each in message.field if each.HasField("oneof_index")]
    yield from _indented(_field(each) for each in inside if each.oneof_index == index)
    yield "}"


def _enum(enum: EnumDescriptorProto) -> Iterator[str]:
    yield f"enum {enum.name} {{"
    yield from _indented(f"{each.name} = {each.number};" for each in enum.value)
    yield "}"


def _field(field: FieldDescriptorProto) -> str:
    label = ""
    if field.label == FieldDescriptorProto.LABEL_REPEATED:
        label = "repeated "
    elif field.proto3_optional:
        label = "optional "
    type_ = (
        _NAMES[field.type] if field.HasField("type") and field.type in _NAMES else field.type_name
    )
    return f"{label}{type_} {field.name} = {field.number}{_options(field.options)};"


def _options(options: Any) -> str:
    meta = meta_of(options)
    if not meta:
        return ""
    entries = ", ".join(f'{{key: "{key}", value: "{meta[key]}"}}' for key in sorted(meta))
    return f" [(confluent.field_meta) = {{params: [{entries}]}}]"


def _indented(lines: Iterator[str]) -> Iterator[str]:
    return (_INDENT + line for line in lines)
