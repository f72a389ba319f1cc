"""Avro for the registry converters."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from penstock.codecs.avro.fit import Fit, Fitting
from penstock.codecs.avro.from_connect import avro_text
from penstock.codecs.avro.model import NAMED, AvroType, parse
from penstock.codecs.avro.options import AvroOptions
from penstock.codecs.avro.read import Read, Reader, reader_of
from penstock.codecs.avro.to_connect import ToConnect
from penstock.codecs.avro.write import Write, writer_of
from penstock.codecs.registry.client import HEAD_SIZE, RegistrySchema
from penstock.converters.avro.spark_schema import message_schema
from penstock.converters.registry.format import Format
from penstock.kernel.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.columns.faults import Outcome
    from penstock.kernel.data.schema import Schema


class AvroFormat(Format):
    """Avro schemas, and data in Avro's binary form. `cache_size`: how much is remembered."""

    type = "AVRO"

    def __init__(self, options: AvroOptions, cache_size: int) -> None:
        self._options = options
        self._fitting = Fitting(options)
        remember = lru_cache(maxsize=cache_size)
        self._parsed = remember(_parsed)
        self._fit = remember(self._make_fit)
        self._read = remember(self._make_read)
        self._write = remember(self._make_write)

    def registry_schema(self, schema: Schema) -> RegistrySchema:
        return RegistrySchema(self.type, avro_text(schema, self._options))

    def record_name(self, written: RegistrySchema) -> str | None:
        type_ = self._parsed(written)
        type_ = type_.optional_of or type_
        return type_.name if type_.kind in NAMED else None

    def connect_schema(self, written: RegistrySchema) -> Schema:
        type_ = self._parsed(written)
        message_schema(type_, HEAD_SIZE)
        return ToConnect(self._options).schema(type_)

    def encode(
        self, schema: Schema, written: RegistrySchema, data: Column, head: Column
    ) -> Outcome:
        from penstock.converters.avro.encode import encode

        fit = self._fit(schema, written)
        return encode(fit, data, head, message_schema(self._parsed(written), HEAD_SIZE))

    def decode(self, schema: Schema, written: RegistrySchema, raw: Column) -> Outcome:
        from penstock.converters.avro.decode import decode

        type_ = self._parsed(written)
        fit = self._fit(schema, written)
        return decode(fit, raw, message_schema(type_, HEAD_SIZE), _unreadable(type_))

    def encode_one(self, schema: Schema, written: RegistrySchema, value: Any) -> bytes:
        out = bytearray()
        self._write(schema, written)(value, out)
        return bytes(out)

    def decode_one(self, schema: Schema, written: RegistrySchema, payload: bytes) -> Any:
        try:
            return self._read(schema, written)(Reader(payload))
        except DataError as error:
            raise DataError(f"{_unreadable(self._parsed(written))}: {error}") from error

    def _make_fit(self, schema: Schema, written: RegistrySchema) -> Fit:
        return self._fitting.fit(schema, self._parsed(written))

    def _make_read(self, schema: Schema, written: RegistrySchema) -> Read:
        return reader_of(self._fit(schema, written))

    def _make_write(self, schema: Schema, written: RegistrySchema) -> Write:
        return writer_of(self._fit(schema, written))


def _parsed(written: RegistrySchema) -> AvroType:
    return parse(written.text, dict(_references(written)))


def _references(written: RegistrySchema) -> list[tuple[str, str]]:
    """The schemas that this one builds on, by their names; all of them, however deep."""
    found: list[tuple[str, str]] = []
    for each in written.references:
        found += [*_references(each.schema), (each.name, each.schema.text)]
    return found


def _unreadable(type_: AvroType) -> str:
    shown = type_.name or type_.kind
    return f"Failed to deserialize data: the bytes are not Avro data of the schema {shown}"
