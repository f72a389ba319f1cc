"""JSON with a JSON Schema, as the registry converters see it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from penstock.codecs.json_schema.data import JsonSchemaWriter
from penstock.codecs.json_schema.documents import Documents
from penstock.codecs.json_schema.from_connect import json_schema_text
from penstock.codecs.json_schema.options import JsonSchemaOptions
from penstock.codecs.json_schema.to_connect import connect_schema
from penstock.codecs.registry.client import RegistrySchema
from penstock.converters.registry.format import Format

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.columns.faults import Outcome
    from penstock.kernel.data.schema import Schema


class JsonSchemaFormat(Format):
    """The data is JSON text. It says nothing of the schema, so it is the same for any."""

    type = "JSON"

    def __init__(self, options: JsonSchemaOptions) -> None:
        self._options = options
        self._writer = JsonSchemaWriter(
            decimal_numbers=options.decimal_numbers, replace_null=options.default_for_null
        )

    def registry_schema(self, schema: Schema) -> RegistrySchema:
        return RegistrySchema(self.type, json_schema_text(schema, self._options))

    def record_name(self, written: RegistrySchema) -> str | None:
        node = json.loads(written.text)
        title = node.get("title") if isinstance(node, dict) else None
        return title if isinstance(title, str) else None

    def connect_schema(self, written: RegistrySchema) -> Schema:
        documents = Documents(written.text, written.referred())
        return connect_schema(documents, self._options)

    def encode(
        self,
        schema: Schema,
        written: RegistrySchema,  # noqa: ARG002 - see the class
        data: Column,
        head: Column,
    ) -> Outcome:
        from penstock.converters.json_schema import columns

        return columns.encode(schema, data, head, self._options)

    def decode(self, schema: Schema, written: RegistrySchema, raw: Column) -> Outcome:  # noqa: ARG002
        from penstock.converters.json_schema import columns

        return columns.decode(schema, raw, self._options)

    def encode_one(self, schema: Schema, written: RegistrySchema, value: Any) -> bytes:  # noqa: ARG002
        return self._writer.text(schema, value).encode()

    def decode_one(self, schema: Schema, written: RegistrySchema, payload: bytes) -> Any:  # noqa: ARG002
        import pyarrow as pa

        from penstock.columns.single import only_row, value_of
        from penstock.converters.json_schema.columns import reading

        rows = reading(schema, self._options)(pa.array([payload], pa.binary()))
        return value_of(schema, only_row(rows))
