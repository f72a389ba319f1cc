"""Protobuf schemas as sets of files, in a form that travels to Spark's workers."""

from __future__ import annotations

import base64
import binascii
import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError

from penstock.codecs.protobuf.parser import parse_proto
from penstock.kernel.errors import DataError

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

_MAIN: Final = "schema.proto"
#: Files that every schema may import; Google's come from the packages that hold them.
_CONFLUENT: Final = {
    "confluent/meta.proto": """
        syntax = "proto3";
        package confluent;
        import "google/protobuf/descriptor.proto";
        message Meta {
          string doc = 1;
          map<string, string> params = 2;
          repeated string tags = 3;
        }
    """,
    "confluent/type/decimal.proto": """
        syntax = "proto3";
        package confluent.type;
        message Decimal {
          bytes value = 1;
          uint32 precision = 2;
          int32 scale = 3;
        }
    """,
}
_GOOGLE: Final = re.compile(r"google/(?:protobuf|type)/[a-z_]+\.proto")


@dataclass(frozen=True, slots=True)
class MessageType:
    """A message and the files that describe it, each behind those it imports."""

    files: tuple[bytes, ...]
    name: str

    def descriptor(self) -> Descriptor:
        """The message in a pool of its own; one for each process.

        Raises:
            DataError: the files contradict each other, or the message is not in them.
        """
        return _descriptor(self)


@dataclass(frozen=True, slots=True)
class ProtoSchema:
    """A schema of the registry: one file and those it imports."""

    files: tuple[bytes, ...]

    @classmethod
    def parse(cls, text: str, references: Mapping[str, str]) -> ProtoSchema:
        """A schema's text, and the texts of its references by the names they are imported with.

        Raises:
            DataError: it can't be read, or imports a missing file.
        """
        collected: dict[str, FileDescriptorProto] = {}
        _collect(_MAIN, _file(text, _MAIN), references, collected, ())
        return cls(tuple(each.SerializeToString() for each in collected.values()))

    @classmethod
    def of(cls, file: FileDescriptorProto) -> ProtoSchema:
        """A file that imports known files only."""
        collected: dict[str, FileDescriptorProto] = {}
        _collect(file.name, file, {}, collected, ())
        return cls(tuple(each.SerializeToString() for each in collected.values()))

    def place(self, name: str) -> int:
        """Where the message of that full name is in the file; the first one if none is."""
        file = FileDescriptorProto.FromString(self.files[-1])
        names = [".".join(filter(None, (file.package, each.name))) for each in file.message_type]
        return names.index(name) if name in names else 0

    def message(self, indexes: Sequence[int]) -> MessageType:
        """The message at these places: of the file, then of the message that stands there.

        Raises:
            DataError: there is none.
        """
        file = FileDescriptorProto.FromString(self.files[-1])
        messages, names = file.message_type, [file.package] if file.package else []
        for index in indexes:
            if not 0 <= index < len(messages):
                places = ", ".join(map(str, indexes))
                raise DataError(f"The Protobuf schema has no message at the indexes [{places}]")
            names.append(messages[index].name)
            messages = messages[index].nested_type
        return MessageType(self.files, ".".join(names))


def known_file(name: str) -> FileDescriptorProto | None:
    """A file that every schema may import; None if there is no such."""
    if text := _CONFLUENT.get(name):
        return parse_proto(text, name)
    if not _GOOGLE.fullmatch(name):
        return None
    try:
        module = importlib.import_module(f"{name.removesuffix('.proto').replace('/', '.')}_pb2")
    except ModuleNotFoundError:
        return None
    return FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)


def _file(text: str, name: str) -> FileDescriptorProto:
    """A file from its text, or from the base64 of its descriptor, which Python's clients write."""
    try:
        file = FileDescriptorProto.FromString(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError, DecodeError):
        return parse_proto(text, name)
    file.name = name
    return file


def _collect(
    name: str,
    file: FileDescriptorProto,
    references: Mapping[str, str],
    collected: dict[str, FileDescriptorProto],
    above: tuple[str, ...],
) -> None:
    """Put a file behind the files it imports."""
    for imported in file.dependency:
        if imported in above or imported == name:
            raise DataError(f"The Protobuf schema imports {imported}, which imports itself")
        if imported in collected:
            continue
        found = known_file(imported)
        if found is None:
            if imported not in references:
                text = f"The Protobuf schema imports {imported}, which is not in its references"
                raise DataError(text)
            found = _file(references[imported], imported)
        _collect(imported, found, references, collected, (*above, name))
    collected[name] = file


@lru_cache(maxsize=1000)
def _descriptor(message: MessageType) -> Descriptor:
    pool = descriptor_pool.DescriptorPool()
    try:
        for file in message.files:
            pool.AddSerializedFile(file)
        return pool.FindMessageTypeByName(message.name)
    except (TypeError, KeyError) as error:
        raise DataError(f"The Protobuf schema can't be used: {error}") from error
