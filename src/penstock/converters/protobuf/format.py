"""Protobuf for the registry converters."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from penstock.codecs.registry.client import HEAD_SIZE, RegistrySchema
from penstock.converters.registry.format import Format

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.codecs.protobuf.files import MessageType, ProtoSchema
    from penstock.codecs.protobuf.options import ProtobufOptions
    from penstock.columns.faults import Outcome
    from penstock.kernel.data.schema import Schema


class ProtobufFormat(Format):
    """Files of Protobuf, and messages of one of their types behind its indexes.

    The protobuf package is imported when the first schema is there, not with the keys.
    """

    type = "PROTOBUF"

    def __init__(self, options: ProtobufOptions, cache_size: int) -> None:
        self._options = options
        remember = lru_cache(maxsize=cache_size)
        self._files = remember(_files)
        self._target = remember(self._find_target)

    def registry_schema(self, schema: Schema) -> RegistrySchema:
        from penstock.codecs.protobuf.from_connect import proto_file
        from penstock.codecs.protobuf.indexes import indexes_bytes
        from penstock.codecs.protobuf.print_file import proto_text

        file, index = proto_file(schema, self._options)
        return RegistrySchema(self.type, proto_text(file), part=indexes_bytes((index,)))

    def record_name(self, written: RegistrySchema) -> str | None:
        return self._message(written).name

    def part_size(self, payload: bytes) -> int:
        from penstock.codecs.protobuf.indexes import read_indexes

        return read_indexes(payload)[1]

    def connect_schema(self, written: RegistrySchema) -> Schema:
        from penstock.codecs.protobuf.to_connect import connect_schema

        return connect_schema(self._message(written).descriptor(), self._options)

    def encode(
        self, schema: Schema, written: RegistrySchema, data: Column, head: Column
    ) -> Outcome:
        from penstock.converters.protobuf import columns

        message, indexes = self._target(schema, written)
        return columns.encode(schema, message, data, head, indexes, self._options)

    def decode(self, schema: Schema, written: RegistrySchema, raw: Column) -> Outcome:
        from penstock.converters.protobuf import columns

        skip = HEAD_SIZE + len(written.part)
        return columns.decode(schema, self._message(written), raw, skip, self._options)

    def encode_one(self, schema: Schema, written: RegistrySchema, value: Any) -> bytes:
        from penstock.columns.single import array_of, only_row
        from penstock.converters.protobuf.encode import EncodeKernel

        message, indexes = self._target(schema, written)
        kernel = EncodeKernel(schema, message, self._options)
        encoded: bytes = only_row(kernel(array_of(schema, [value])))
        return indexes + encoded

    def decode_one(self, schema: Schema, written: RegistrySchema, payload: bytes) -> Any:
        import pyarrow as pa

        from penstock.columns.single import only_row, value_of
        from penstock.converters.protobuf.decode import DecodeKernel

        kernel = DecodeKernel(schema, self._message(written), self._options, skip=0)
        return value_of(schema, only_row(kernel(pa.array([payload], pa.binary()))))

    def _message(self, written: RegistrySchema) -> MessageType:
        from penstock.codecs.protobuf.indexes import read_indexes

        return self._files(written).message(read_indexes(written.part)[0])

    def _find_target(self, schema: Schema, written: RegistrySchema) -> tuple[MessageType, bytes]:
        """The message that data of a schema is written as, and the bytes of its indexes."""
        from penstock.converters.protobuf.encode import root_encoder

        if not written.part:
            written = replace(written, part=self._part_for(schema, written))
        message = self._message(written)
        root_encoder(schema, message, self._options)  # raises if the schemas do not fit
        return message, written.part

    def _part_for(self, schema: Schema, written: RegistrySchema) -> bytes:
        """The message of a file that others wrote: the one with the schema's name."""
        from penstock.codecs.protobuf.indexes import indexes_bytes

        own = self._message(self.registry_schema(schema)).name
        return indexes_bytes((self._files(written).place(own),))


def _files(written: RegistrySchema) -> ProtoSchema:
    from penstock.codecs.protobuf.files import ProtoSchema

    return ProtoSchema.parse(written.text, written.referred())
