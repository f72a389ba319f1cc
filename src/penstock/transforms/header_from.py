"""HeaderFrom: fields of the data as headers."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from penstock.api.envelope import Envelope, Part
from penstock.api.plugin import CONNECT_VERSION, Side
from penstock.api.transform import ColumnTransformation
from penstock.config import Config, Importance, Type, key, non_empty_list, one_of
from penstock.data.schema import Field, Schema
from penstock.errors import ConfigError
from penstock.transforms.headers import appended
from penstock.transforms.requirements import (
    is_map,
    is_null,
    not_a_struct,
    require_data,
    require_map_or_null,
    variant_map,
)
from penstock.transforms.structs import copied_schema, field_value, replace_null_key, struct_of

if TYPE_CHECKING:
    from pyspark.sql import Column

_MOVE: Final = "move"


class HeaderFromConfig(Config):
    """Keys of HeaderFrom."""

    fields: list[str] = key(
        Type.LIST,
        importance=Importance.HIGH,
        valid=non_empty_list,
        doc="The fields whose values become headers.",
    )
    headers: list[str] = key(
        Type.LIST,
        importance=Importance.HIGH,
        valid=non_empty_list,
        doc="The names of the headers, in the order of the fields.",
    )
    operation: str = key(
        Type.STRING,
        importance=Importance.HIGH,
        valid=one_of(_MOVE, "copy"),
        doc="Whether the fields leave the data (move) or stay in it (copy).",
    )
    replace_null_with_default: bool = replace_null_key()


class HeaderFrom(ColumnTransformation):
    """Move or copy fields to headers. Use HeaderFromKey or HeaderFromValue."""

    Config = HeaderFromConfig
    version = CONNECT_VERSION
    side: ClassVar[Side]

    def __init__(self, config: HeaderFromConfig) -> None:
        super().__init__(config)
        if len(config.fields) != len(config.headers):
            words = "'fields' config must have the same number of elements as 'headers' config."
            raise ConfigError(words)
        self._moves = config.operation == _MOVE
        self._purpose = f"header {config.operation}"

    def columns(self, envelope: Envelope) -> Envelope:
        part = envelope.part(self.side)
        if part.schema is None:
            return self._without_schema(envelope, part)
        return self._with_schema(envelope, part, part.schema)

    def _with_schema(self, envelope: Envelope, part: Part, schema: Schema) -> Envelope:
        from penstock.columns.faults import fail

        envelope = require_data(envelope, part, self._purpose)
        if wrong := not_a_struct(schema, self._purpose):
            return fail(envelope, ~is_null(part), wrong)
        headers = []
        for name, header in zip(self.config.fields, self.config.headers, strict=True):
            field = schema.field(name)
            if field is None:
                return fail(envelope, ~is_null(part), f"{name} is not a valid field name")
            value = self._value(part.column, field)
            if not field.schema.optional:
                envelope = fail(envelope, value.isNull(), _null_refusal(field.schema))
            headers.append((header, envelope.header_converter.encode(field.schema, value)))
        if self._moves:
            envelope = envelope.with_part(self.side, self._without_fields(part, schema))
        return appended(envelope, headers)

    def _without_fields(self, part: Part, schema: Schema) -> Part:
        kept = [field for field in schema.fields if field.name not in self.config.fields]
        columns = [(field.name, self._value(part.column, field)) for field in kept]
        data = struct_of(part.column.isNotNull(), columns)
        return Part(data, copied_schema(schema, kept))

    def _value(self, value: Column, field: Field) -> Column:
        return field_value(value, field, replace_null=self.config.replace_null_with_default)

    def _without_schema(self, envelope: Envelope, part: Part) -> Envelope:
        from pyspark.sql import functions as F

        envelope = require_data(envelope, part, self._purpose)
        envelope = require_map_or_null(envelope, part, self._purpose)
        found = variant_map(part)
        headers = [
            (header, envelope.header_converter.encode(None, F.try_element_at(found, F.lit(name))))
            for name, header in zip(self.config.fields, self.config.headers, strict=True)
        ]
        if self._moves:
            moved = self.config.fields
            kept = F.map_filter(found, lambda name, _: ~name.isin(moved))
            changed = F.when(is_map(part), F.to_variant_object(kept)).otherwise(part.column)
            envelope = envelope.with_part(self.side, Part(changed, None))
        return appended(envelope, headers)


def _null_refusal(schema: Schema) -> str:
    shown = f"{schema.name}:{schema.type.name}" if schema.name else schema.type.name
    return f"A null value requires an optional schema but was Schema{{{shown}}}"


class HeaderFromKey(HeaderFrom):
    """HeaderFrom for the key."""

    java_name = "org.apache.kafka.connect.transforms.HeaderFrom$Key"
    side = Side.KEY


class HeaderFromValue(HeaderFrom):
    """HeaderFrom for the value."""

    java_name = "org.apache.kafka.connect.transforms.HeaderFrom$Value"
    side = Side.VALUE
