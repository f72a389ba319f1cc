"""SetSchemaMetadata: changes the name or version of the schema."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from penstock.api.envelope import Envelope, Part
from penstock.api.plugin import CONNECT_VERSION, Side
from penstock.api.transform import ColumnTransformation
from penstock.kernel.config import Config, Importance, Type, key
from penstock.kernel.data.schema import Schema, SchemaType
from penstock.kernel.errors import ConfigError
from penstock.transforms.requirements import has_schema, is_null
from penstock.transforms.structs import field_value, replace_null_key, struct_of

if TYPE_CHECKING:
    from pyspark.sql import Column

_PURPOSE: Final = "updating schema metadata"


class SetSchemaMetadataConfig(Config):
    """Keys of SetSchemaMetadata."""

    schema_name: str | None = key(
        Type.STRING, default=None, importance=Importance.HIGH, doc="The name the schema gets."
    )
    schema_version: int | None = key(
        Type.INT, default=None, importance=Importance.HIGH, doc="The version the schema gets."
    )
    replace_null_with_default: bool = replace_null_key()


class SetSchemaMetadata(ColumnTransformation):
    """Name the schema or its version. Use SetSchemaMetadataKey or SetSchemaMetadataValue."""

    Config = SetSchemaMetadataConfig
    version = CONNECT_VERSION
    side: ClassVar[Side]

    def __init__(self, config: SetSchemaMetadataConfig) -> None:
        super().__init__(config)
        if self.config.schema_name is None and self.config.schema_version is None:
            raise ConfigError("Neither schema name nor version configured")

    def columns(self, envelope: Envelope) -> Envelope:
        from penstock.columns.faults import fail

        part = envelope.part(self.side)
        if part.schema is None:
            return fail(envelope, ~is_null(part), f"Schema required for [{_PURPOSE}]")
        if part.schema.type is not SchemaType.STRUCT:
            wrong = "Cannot list fields on non-struct type"
            return fail(envelope, has_schema(envelope, part), wrong)
        changed = Part(self._value(part.column, part.schema), self._changed(part.schema))
        return envelope.with_part(self.side, changed)

    def _changed(self, schema: Schema) -> Schema:
        name, version = self.config.schema_name, self.config.schema_version
        return replace(
            schema,
            name=schema.name if name is None else name,
            version=schema.version if version is None else version,
        )

    def _value(self, value: Column, schema: Schema) -> Column:
        replace_null = self.config.replace_null_with_default
        columns = [
            (field.name, field_value(value, field, replace_null=replace_null))
            for field in schema.fields
        ]
        return struct_of(value.isNotNull(), columns)


class SetSchemaMetadataKey(SetSchemaMetadata):
    """SetSchemaMetadata for the key."""

    java_name = "org.apache.kafka.connect.transforms.SetSchemaMetadata$Key"
    side = Side.KEY


class SetSchemaMetadataValue(SetSchemaMetadata):
    """SetSchemaMetadata for the value."""

    java_name = "org.apache.kafka.connect.transforms.SetSchemaMetadata$Value"
    side = Side.VALUE
