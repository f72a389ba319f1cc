"""ExtractField: replaces the data by one of its fields."""

from __future__ import annotations

from typing import ClassVar, Final

from penstock.api.envelope import Envelope, Part
from penstock.api.plugin import CONNECT_VERSION, Side
from penstock.api.transform import ColumnTransformation
from penstock.kernel.config import Config, Type, key
from penstock.kernel.data.schema import Field, Schema
from penstock.kernel.errors import DataError
from penstock.transforms.field_path import (
    field_steps,
    field_syntax_key,
    fields_on,
    member_at,
    value_at,
)
from penstock.transforms.requirements import has_schema, not_a_struct, require_map_or_null
from penstock.transforms.structs import replace_null_key

_PURPOSE: Final = "field extraction"


class ExtractFieldConfig(Config):
    """Keys of ExtractField."""

    field: str = key(Type.STRING, doc="The field to take.")
    replace_null_with_default: bool = replace_null_key()
    field_syntax_version: str = field_syntax_key()


class ExtractField(ColumnTransformation):
    """Take one field out of the data. Use ExtractFieldKey or ExtractFieldValue."""

    Config = ExtractFieldConfig
    version = CONNECT_VERSION
    takes_opened = True
    side: ClassVar[Side]

    def __init__(self, config: ExtractFieldConfig) -> None:
        super().__init__(config)
        self._steps = field_steps(self.config.field, self.config.field_syntax_version)

    def columns(self, envelope: Envelope) -> Envelope:
        part = envelope.part(self.side)
        if part.schema is None:
            envelope = require_map_or_null(envelope, part, _PURPOSE)
            envelope, found = member_at(envelope, part, self._steps)
            return envelope.with_part(self.side, found)
        return self._with_schema(envelope, part, part.schema)

    def _with_schema(self, envelope: Envelope, part: Part, schema: Schema) -> Envelope:
        from penstock.columns.faults import fail

        if wrong := not_a_struct(schema, _PURPOSE):
            envelope = fail(envelope, part.column.isNotNull(), wrong)
        try:
            fields = self._fields(schema)
        except DataError as error:
            return fail(envelope, has_schema(envelope, part), str(error))
        replace_null = self.config.replace_null_with_default
        value = value_at(part.column, fields, replace_null=replace_null)
        return envelope.with_part(self.side, Part(value, fields[-1].schema))

    def _fields(self, schema: Schema) -> list[Field]:
        fields = fields_on(schema, self._steps)
        if fields is None:
            raise DataError(f"Unknown field: {self.config.field}")
        return fields


class ExtractFieldKey(ExtractField):
    """ExtractField for the key."""

    java_name = "org.apache.kafka.connect.transforms.ExtractField$Key"
    side = Side.KEY


class ExtractFieldValue(ExtractField):
    """ExtractField for the value."""

    java_name = "org.apache.kafka.connect.transforms.ExtractField$Value"
    side = Side.VALUE
