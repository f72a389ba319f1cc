"""What Confluent's `field_meta` option says of a field: parameters with no place in Protobuf.

The option is an extension. It is read and written as the bytes of FieldOptions, so that it need not
be linked into the options of the whole process.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FieldOptions,
    FileDescriptorProto,
)

_NUMBER: Final = 1088


def add_meta(options: FieldOptions, parameters: dict[str, str]) -> None:
    holder = _holder()()
    holder.meta.params.update(parameters)
    options.MergeFromString(holder.SerializeToString(deterministic=True))


def meta_of(options: FieldOptions) -> dict[str, str]:
    """The parameters of a field, none if it has no such option."""
    raw = options.SerializeToString()
    return dict(_holder().FromString(raw).meta.params) if raw else {}


@cache
def _holder() -> Any:
    """A message that has the extension as a plain field."""
    file = FileDescriptorProto(name="meta_holder.proto", syntax="proto3")
    meta = file.message_type.add(name="Meta")
    _add(meta, "doc", 1, FieldDescriptorProto.TYPE_STRING)
    entry = meta.nested_type.add(name="ParamsEntry")
    entry.options.map_entry = True
    _add(entry, "key", 1, FieldDescriptorProto.TYPE_STRING)
    _add(entry, "value", 2, FieldDescriptorProto.TYPE_STRING)
    parameters = _add(meta, "params", 2, FieldDescriptorProto.TYPE_MESSAGE)
    parameters.type_name, parameters.label = "ParamsEntry", FieldDescriptorProto.LABEL_REPEATED
    holder = file.message_type.add(name="Holder")
    _add(holder, "meta", _NUMBER, FieldDescriptorProto.TYPE_MESSAGE).type_name = "Meta"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("Holder"))


def _add(message: DescriptorProto, name: str, number: int, type_: int) -> FieldDescriptorProto:
    return message.field.add(
        name=name, number=number, type=type_, label=FieldDescriptorProto.LABEL_OPTIONAL
    )
