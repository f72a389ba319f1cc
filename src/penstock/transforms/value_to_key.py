"""ValueToKey: makes the key of fields of the value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.api.envelope import Envelope, Part
from penstock.api.plugin import CONNECT_VERSION
from penstock.api.transform import ColumnTransformation
from penstock.kernel.config import Config, Importance, Type, key, non_empty_list
from penstock.kernel.data.schema import Field, Schema, struct_schema
from penstock.kernel.errors import DataError
from penstock.transforms.field_path import (
    field_steps,
    field_syntax_key,
    fields_on,
    member_at,
    value_at,
)
from penstock.transforms.requirements import (
    is_map,
    not_a_struct,
    require_data,
    require_map_or_null,
)
from penstock.transforms.structs import copied_schema, replace_null_key, struct_of

if TYPE_CHECKING:
    from pyspark.sql import Column

_PURPOSE: Final = "copying fields from value to key"


class ValueToKeyConfig(Config):
    """Keys of ValueToKey."""

    fields: list[str] = key(
        Type.LIST,
        importance=Importance.HIGH,
        valid=non_empty_list,
        doc="The fields of the value that the key gets; for a path, its last step is the name.",
    )
    replace_null_with_default: bool = replace_null_key()
    field_syntax_version: str = field_syntax_key()


class ValueToKey(ColumnTransformation):
    """Replace the key by one made of fields of the value."""

    Config = ValueToKeyConfig
    java_name = "org.apache.kafka.connect.transforms.ValueToKey"
    version = CONNECT_VERSION
    takes_opened = True

    def __init__(self, config: ValueToKeyConfig) -> None:
        super().__init__(config)
        version = self.config.field_syntax_version
        self._paths = {path: field_steps(path, version) for path in self.config.fields}

    def columns(self, envelope: Envelope) -> Envelope:
        envelope = require_data(envelope, envelope.value, _PURPOSE)
        if envelope.value.schema is None:
            return self._without_schema(envelope)
        return self._with_schema(envelope, envelope.value.schema)

    def _with_schema(self, envelope: Envelope, schema: Schema) -> Envelope:
        from penstock.columns.faults import fail

        value = envelope.value.column
        present = value.isNotNull()
        try:
            if wrong := not_a_struct(schema, _PURPOSE):
                raise DataError(wrong)
            chosen = [self._chosen(value, schema, path) for path in self.config.fields]
            result = copied_schema(struct_schema(), [field for field, _ in chosen])
        except DataError as error:
            return fail(envelope, present, str(error))
        columns = [(field.name, column) for field, column in chosen]
        return envelope.replace(key=Part(struct_of(present, columns), result))

    def _chosen(self, value: Column, schema: Schema, path: str) -> tuple[Field, Column]:
        fields = fields_on(schema, self._paths[path])
        if fields is None:
            raise DataError(f"Field does not exist: {path}")
        *above, field = fields
        if any(each.schema.optional for each in above):
            field = Field(field.name, field.schema.as_optional())
        replace_null = self.config.replace_null_with_default
        return field, value_at(value, fields, replace_null=replace_null)

    def _without_schema(self, envelope: Envelope) -> Envelope:
        from penstock.columns.opened import new_map

        value = envelope.value
        envelope = require_map_or_null(envelope, value, _PURPOSE)
        members: dict[str, Column] = {}
        for steps in self._paths.values():
            envelope, found = member_at(envelope, value, steps)
            members[steps[-1]] = found.column
        return envelope.replace(key=new_map(is_map(value), members))
