"""JsonConverter: Connect data as JSON, with its schema beside it or without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.api.converter import Converter, HeaderConverter, Layout
from penstock.codecs.converter_key import ConverterConfig
from penstock.codecs.json import document
from penstock.codecs.json.document import MISSING, NOT_AN_ENVELOPE
from penstock.codecs.json.read import JsonReader
from penstock.codecs.json.schema_text import schema_of, schema_text
from penstock.codecs.json.write import JsonWriter
from penstock.converters.json.layouts import Layouts
from penstock.kernel.config import Importance, Type, Width, key, one_of_ignoring_case
from penstock.kernel.data.record import SchemaAndValue
from penstock.kernel.errors import ConfigError, DataError

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.kernel.data.schema import Schema


class JsonConverterConfig(ConverterConfig):
    """Keys of JsonConverter."""

    schemas_enable: bool = key(
        Type.BOOLEAN,
        default=True,
        importance=Importance.HIGH,
        group="Schemas",
        order=0,
        width=Width.MEDIUM,
        display="Enable Schemas",
        doc="Write the schema of each record in front of its data, and expect it when reading."
        " Without it, data that is read has no schema.",
    )
    schemas_cache_size: int = key(
        Type.INT,
        default=1000,
        importance=Importance.HIGH,
        group="Schemas",
        order=1,
        width=Width.MEDIUM,
        display="Schema Cache Size",
        doc="How many schemas this converter remembers.",
    )
    schema_content: str | None = key(
        Type.STRING,
        default=None,
        importance=Importance.HIGH,
        group="Schemas",
        order=2,
        width=Width.MEDIUM,
        display="Schema Content",
        doc="A schema, in the JSON form of this converter, for all records that are read: they"
        " then hold their data only, without a schema of their own. For sink connectors; has"
        " no effect unless schemas.enable is true.",
    )
    decimal_format: str = key(
        Type.STRING,
        default="BASE64",
        valid=one_of_ignoring_case("NUMERIC", "BASE64"),
        importance=Importance.LOW,
        group="Serialization",
        order=0,
        width=Width.MEDIUM,
        display="Decimal Format",
        doc="How Decimals are written: BASE64 (the bytes of the digits) or NUMERIC (a JSON"
        " number), in any case. Both are read.",
    )
    replace_null_with_default: bool = key(
        Type.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        group="Serialization",
        order=1,
        width=Width.MEDIUM,
        display="Replace null with default",
        doc="Whether a null becomes the default value of its field, if the field has one.",
    )


class JsonConverter(Converter, HeaderConverter):
    """Connect data as JSON; with schemas.enable as {"schema": ..., "payload": ...}."""

    Config = JsonConverterConfig
    java_name = "org.apache.kafka.connect.json.JsonConverter"

    def __init__(self, config: JsonConverterConfig, *, is_key: bool = False) -> None:
        super().__init__(config, is_key=is_key)
        self._options = {
            "decimal_numbers": config.decimal_format.upper() == "NUMERIC",
            "replace_null": config.replace_null_with_default,
        }
        self._writer = JsonWriter(**self._options)
        self._reader = JsonReader(replace_null=config.replace_null_with_default)
        self._layouts = Layouts(self._reader, config.schemas_cache_size)
        self._content = self._schema_content()
        self.uniform = not config.schemas_enable or self._content is not None

    def encode(self, schema: Schema | None, data: Column) -> Column:
        from penstock.converters.json.expressions import encode

        prefix = self._prefix(schema) if self.config.schemas_enable else None
        return encode(schema, data, prefix=prefix, **self._options)

    def layout(self, raw: bytes | None) -> Layout:
        if self.uniform:
            return Layout(self._content)
        if raw is None:
            return Layout(None)
        return self._layouts.of(raw) or self._irregular(raw)

    def decode(self, layout: Layout, raw: Column) -> Column:
        from penstock.converters.json.expressions import decode, decode_schemaless

        if layout.schema is not None:
            return decode(layout.schema, layout.tag, raw, **self._options)
        enveloped = self.config.schemas_enable
        return decode_schemaless(raw, tag=layout.tag if enveloped else None)

    def decode_one(self, raw: bytes | None) -> SchemaAndValue:
        if raw is None:
            return SchemaAndValue(None, None)
        node = document.parse(raw)
        schema = self._content
        if self.config.schemas_enable and schema is None:
            schema, node = self._opened(node)
        return SchemaAndValue(schema, self._reader.compile(schema)(node))

    def encode_one(self, schema: Schema | None, value: Any) -> bytes | None:
        if schema is None and value is None:
            return None
        payload = self._writer.text(schema, value)
        if not self.config.schemas_enable:
            return payload.encode()
        return f'{self._prefix(schema)}"payload":{payload}}}'.encode()

    def decode_header(self, raw: bytes | None) -> SchemaAndValue:
        return self.decode_one(raw)

    def encode_header(self, schema: Schema | None, value: Any) -> bytes | None:
        return self.encode_one(schema, value)

    def _prefix(self, schema: Schema | None) -> str:
        return f'{{"schema":{schema_text(schema, self._writer)},'

    def _opened(self, node: Any) -> tuple[Schema | None, Any]:
        if not isinstance(node, dict) or node.keys() != {"schema", "payload"}:
            raise DataError(NOT_AN_ENVELOPE)
        return schema_of(node["schema"], self._reader), node["payload"]

    def _irregular(self, raw: bytes) -> Layout:
        try:
            return Layout(self.decode_one(raw).schema, regular=False)
        except DataError:
            return Layout(None, regular=False)

    def _schema_content(self) -> Schema | None:
        text = self.config.schema_content
        if not text or not self.config.schemas_enable:
            return None
        try:
            node = document.parse(text.encode())
            return schema_of(None if node is MISSING else node, self._reader)
        except DataError as error:
            message = f"Invalid value {text} for configuration schema.content: {error}"
            raise ConfigError(message, {"schema.content": [message]}) from error
