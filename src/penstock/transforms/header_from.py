"""HeaderFrom: moves or copies fields of the data to headers."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Final

from penstock.api.envelope import Envelope, Part
from penstock.api.plugin import CONNECT_VERSION, Side
from penstock.api.transform import ColumnTransformation
from penstock.kernel.config import Config, Importance, Type, key, non_empty_list, one_of
from penstock.kernel.data.schema import Field, Schema
from penstock.kernel.errors import ConfigError, DataError
from penstock.transforms.field_path import (
    NESTED_ACCESS,
    field_steps,
    field_syntax_key,
    fields_on,
    value_at,
)
from penstock.transforms.headers import appended
from penstock.transforms.nested import by_parent, edited
from penstock.transforms.requirements import (
    is_null,
    not_a_struct,
    require_data,
    require_map_or_null,
)
from penstock.transforms.structs import copied_schema, field_value, replace_null_key, struct_of
from penstock.transforms.variants import member

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
    field_syntax_version: str = field_syntax_key()


class HeaderFrom(ColumnTransformation):
    """Move or copy fields to headers. Use HeaderFromKey or HeaderFromValue."""

    Config = HeaderFromConfig
    version = CONNECT_VERSION
    takes_opened = True
    side: ClassVar[Side]

    def __init__(self, config: HeaderFromConfig) -> None:
        super().__init__(config)
        if len(config.fields) != len(config.headers):
            words = "'fields' config must have the same number of elements as 'headers' config."
            raise ConfigError(words)
        self._moves = config.operation == _MOVE
        self._purpose = f"header {config.operation}"
        version = config.field_syntax_version
        self._paths = {path: field_steps(path, version) for path in config.fields}
        self._levels = by_parent(dict.fromkeys(self._paths.values()))

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
            try:
                fields = self._fields(schema, name)
            except DataError as error:
                return fail(envelope, ~is_null(part), str(error))
            value = value_at(part.column, fields, replace_null=self._replace_null)
            own = fields[-1].schema
            if not any(field.schema.optional for field in fields):
                envelope = fail(envelope, value.isNull(), _null_refusal(own))
            headers.append((header, envelope.header_converter.encode(own, value)))
        return appended(self._moved(envelope), headers)

    @property
    def _replace_null(self) -> bool:
        replace_null: bool = self.config.replace_null_with_default
        return replace_null

    def _fields(self, schema: Schema, path: str) -> list[Field]:
        """The fields on a path; DataError if it does not exist."""
        fields = fields_on(schema, self._paths[path])
        if fields is None:
            raise DataError(f"{path} is not a valid field name")
        return fields

    def _moved(self, envelope: Envelope) -> Envelope:
        """The envelope; if fields are moved, without them."""
        if not self._moves:
            return envelope
        levels = [(parents, partial(self._without, list(names))) for parents, names in self._levels]
        return edited(envelope, self.side, levels, replace_null=self._replace_null)

    def _without(self, names: list[str], envelope: Envelope) -> Envelope:
        from penstock.columns.opened import opened, without_members

        part = envelope.part(self.side)
        if part.schema is None:
            return envelope.with_part(self.side, without_members(opened(part), names))
        kept = [field for field in part.schema.fields if field.name not in names]
        columns = [
            (field.name, field_value(part.column, field, replace_null=self._replace_null))
            for field in kept
        ]
        data = struct_of(part.column.isNotNull(), columns)
        return envelope.with_part(self.side, Part(data, copied_schema(part.schema, kept)))

    def _without_schema(self, envelope: Envelope, part: Part) -> Envelope:
        from penstock.columns.opened import member_of

        envelope = require_data(envelope, part, self._purpose)
        envelope = require_map_or_null(envelope, part, self._purpose)
        headers = []
        for path, header in zip(self.config.fields, self.config.headers, strict=True):
            *parents, name = self._paths[path]
            parent = part
            for step in parents:
                parent = member(parent, step)
                envelope = require_map_or_null(envelope, parent, NESTED_ACCESS)
            value = member_of(parent, name)
            headers.append((header, envelope.header_converter.encode(None, value)))
        return appended(self._moved(envelope), headers)


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
