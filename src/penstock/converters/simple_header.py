"""SimpleHeaderConverter: header values as text, their types guessed again from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.api.converter import HeaderConverter
from penstock.converters.common import encoded
from penstock.kernel.config import Config
from penstock.kernel.data.record import SchemaAndValue
from penstock.kernel.java.connect_parse import parse_text
from penstock.kernel.java.connect_text import text_of

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.kernel.data.schema import Schema


class SimpleHeaderConverterConfig(Config):
    """It has no keys."""


class SimpleHeaderConverter(HeaderConverter):
    """Text in, and out the number, boolean, date, array or map that the text looks like."""

    Config = SimpleHeaderConverterConfig
    java_name = "org.apache.kafka.connect.storage.SimpleHeaderConverter"

    def encode(self, schema: Schema | None, data: Column) -> Column:
        from penstock.columns.java.connect_text import values_text

        return encoded(values_text(schema, data).cast("binary"), None)

    def decode_header(self, raw: bytes | None) -> SchemaAndValue:
        if raw is None:
            return SchemaAndValue(None, None)
        return parse_text(raw.decode("utf-8", "replace"))

    def encode_header(self, schema: Schema | None, value: Any) -> bytes | None:
        return None if value is None else text_of(schema, value).encode()
