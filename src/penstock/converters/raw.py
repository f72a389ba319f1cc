"""ByteArrayConverter: bytes as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.api.converter import Converter, HeaderConverter, Layout
from penstock.codecs.converter_key import ConverterConfig
from penstock.codecs.json.write import java_class
from penstock.converters.common import decoded, encoded
from penstock.kernel.data.record import SchemaAndValue
from penstock.kernel.data.schema import OPTIONAL_BYTES_SCHEMA, SchemaType
from penstock.kernel.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.kernel.data.schema import Schema


class ByteArrayConverterConfig(ConverterConfig):
    """Keys of ByteArrayConverter."""


class ByteArrayConverter(Converter, HeaderConverter):
    """Bytes pass unchanged; anything else is an error."""

    Config = ByteArrayConverterConfig
    java_name = "org.apache.kafka.connect.converters.ByteArrayConverter"
    uniform = True

    def __init__(self, config: ByteArrayConverterConfig, *, is_key: bool = False) -> None:
        super().__init__(config, is_key=is_key)

    def encode(self, schema: Schema | None, data: Column) -> Column:
        from pyspark.sql import functions as F

        if schema is not None and schema.type is SchemaType.BYTES and not schema.is_decimal:
            return encoded(data, None)
        refused = F.lit(_refusal(schema))
        # Java refuses a schema of another type even for null; without a schema null passes.
        error = refused if _wrong_type(schema) else F.when(data.isNotNull(), refused)
        return encoded(F.lit(None).cast("binary"), error)

    def layout(self, raw: bytes | None) -> Layout:  # noqa: ARG002 - all bytes have this one
        return Layout(OPTIONAL_BYTES_SCHEMA)

    def decode(self, layout: Layout, raw: Column) -> Column:  # noqa: ARG002 - there is one
        return decoded(raw)

    def decode_one(self, raw: bytes | None) -> SchemaAndValue:
        return SchemaAndValue(OPTIONAL_BYTES_SCHEMA, raw)

    def encode_one(self, schema: Schema | None, value: Any) -> bytes | None:
        if _wrong_type(schema):
            raise DataError(_refusal(schema))
        if value is None or isinstance(value, bytes):
            return value
        raise DataError(f"ByteArrayConverter is not compatible with objects of {_type_of(value)}")

    def decode_header(self, raw: bytes | None) -> SchemaAndValue:
        return self.decode_one(raw)

    def encode_header(self, schema: Schema | None, value: Any) -> bytes | None:
        return self.encode_one(schema, value)


def _wrong_type(schema: Schema | None) -> bool:
    return schema is not None and schema.type is not SchemaType.BYTES


def _refusal(schema: Schema | None) -> str:
    if schema is None:
        return "ByteArrayConverter is not compatible with objects without a schema"
    if schema.is_decimal:
        kind = "type class java.math.BigDecimal"
        return f"ByteArrayConverter is not compatible with objects of {kind}"
    return f"Invalid schema type for ByteArrayConverter: {schema.type.name}"


def _type_of(value: Any) -> str:
    return f"type {java_class(value)}"
