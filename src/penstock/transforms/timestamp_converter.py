"""TimestampConverter: converts timestamps to texts, numbers or Connect's own types."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from penstock.api.envelope import Envelope, Part
from penstock.api.plugin import CONNECT_VERSION, Side
from penstock.api.transform import ColumnTransformation
from penstock.kernel.config import Config, Importance, Type, key, one_of, rule
from penstock.kernel.data.schema import (
    Field,
    Schema,
    SchemaType,
    Struct,
    date_schema,
    time_schema,
    timestamp_schema,
)
from penstock.kernel.errors import ConfigError, DataError
from penstock.kernel.java.date_patterns import pieces_of
from penstock.transforms.date_pattern import PATTERN_DOC, check_letters, java_pattern_error
from penstock.transforms.field_path import field_steps, field_syntax_key
from penstock.transforms.nested import edited
from penstock.transforms.requirements import (
    has_schema,
    not_a_struct,
    opened_or_fault,
)
from penstock.transforms.structs import field_value, replace_null_key, struct_of

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.columns.faults import Outcome
    from penstock.transforms.moments import MomentConverter

_PURPOSE: Final = "converting timestamp formats"
_TARGET_SCHEMAS: Final = {
    "string": Schema(SchemaType.STRING),
    "unix": Schema(SchemaType.INT64),
    "Date": date_schema(),
    "Time": time_schema(),
    "Timestamp": timestamp_schema(),
}


def _check_format(name: str, value: object) -> None:
    pattern = str(value)
    wrong = java_pattern_error(pattern)
    if wrong is not None:
        # Kafka passes the exception as the value and the message as the key.
        words = (
            f"Invalid value java.lang.IllegalArgumentException: {wrong} for configuration"
            " TimestampConverter requires a SimpleDateFormat-compatible pattern for string"
            f" timestamps: {pattern}"
        )
        raise ConfigError(words, {name: (words,)})
    check_letters(name, pattern)


class TimestampConverterConfig(Config):
    """Keys of TimestampConverter."""

    field: str = key(
        Type.STRING,
        default="",
        importance=Importance.HIGH,
        doc="The field to convert; empty if the whole key or value is a timestamp.",
    )
    target_type: str = key(
        Type.STRING,
        importance=Importance.HIGH,
        valid=one_of(*_TARGET_SCHEMAS),
        doc="What becomes of the timestamp: string, unix, Date, Time or Timestamp.",
    )
    format: str = key(
        Type.STRING,
        default="",
        valid=rule(_check_format, "pattern of SimpleDateFormat"),
        doc=f"How texts are written and read. {PATTERN_DOC} Names of zones other than UTC and GMT"
        " can't be read, nor can texts that tell the day by its week only.",
    )
    unix_precision: str = key(
        Type.STRING,
        default="milliseconds",
        importance=Importance.LOW,
        valid=one_of("nanoseconds", "microseconds", "milliseconds", "seconds"),
        doc="What numbers count since 1970, both read and written. All is kept in milliseconds in"
        " between, so what is finer is lost.",
    )
    replace_null_with_default: bool = replace_null_key()
    field_syntax_version: str = field_syntax_key()


class TimestampConverter(ColumnTransformation):
    """Convert a timestamp. Use TimestampConverterKey or TimestampConverterValue."""

    Config = TimestampConverterConfig
    version = CONNECT_VERSION
    takes_opened = True
    side: ClassVar[Side]

    def __init__(self, config: TimestampConverterConfig) -> None:
        super().__init__(config)
        if self.config.target_type == "string" and not self.config.format.strip():
            words = (
                "TimestampConverter requires format option to be specified when using string"
                " timestamps"
            )
            raise ConfigError(words, {"format": (words,)})
        *self._parents, self._name = field_steps(config.field, config.field_syntax_version)

    def columns(self, envelope: Envelope) -> Envelope:
        levels = [(tuple(self._parents), self._converted)]
        replace_null = self.config.replace_null_with_default
        return edited(envelope, self.side, levels, replace_null=replace_null)

    def _converted(self, envelope: Envelope) -> Envelope:
        part = envelope.part(self.side)
        if part.schema is None:
            return self._without_schema(envelope, part)
        return self._with_schema(envelope, part, part.schema)

    def _converter(self) -> MomentConverter:
        from penstock.transforms.moments import MomentConverter

        config = self.config
        pieces = pieces_of(config.format) if config.format.strip() else None
        return MomentConverter(config.target_type, config.format, pieces, config.unix_precision)

    def _with_schema(self, envelope: Envelope, part: Part, schema: Schema) -> Envelope:
        from penstock.columns.faults import fail, with_outcome

        if self._name and (wrong := not_a_struct(schema, _PURPOSE)):
            envelope = fail(envelope, part.column.isNotNull(), wrong)
        try:
            result = self._struct_schema(schema) if self._name else self._whole_schema(schema)
        except DataError as error:
            return fail(envelope, has_schema(envelope, part), str(error))
        try:
            outcome = self._outcome(part.column, schema)
        except DataError as error:
            return fail(envelope, part.column.isNotNull(), str(error))
        return with_outcome(envelope, self.side, outcome, result)

    def _outcome(self, value: Column, schema: Schema) -> Outcome:
        return self._struct(value, schema) if self._name else self._converter().typed(schema, value)

    def _struct(self, struct: Column, schema: Schema) -> Outcome:
        from pyspark.sql import functions as F

        from penstock.columns.faults import Outcome

        present, fault = struct.isNotNull(), None
        columns = []
        for field in schema.fields:
            value = field_value(struct, field, replace_null=self.config.replace_null_with_default)
            if field.name == self._name:
                # A null struct has no fields, not even those with a default.
                outcome = self._converter().typed(field.schema, F.when(present, value))
                value, fault = outcome.value, outcome.fault
            columns.append((field.name, value))
        return Outcome(struct_of(present, columns), fault)

    def _target(self, schema: Schema) -> Schema:
        return replace(_TARGET_SCHEMAS[self.config.target_type], optional=schema.optional)

    def _whole_schema(self, schema: Schema) -> Schema:
        from penstock.transforms.moments import require_moment

        require_moment(schema)
        return self._target(schema)

    def _struct_schema(self, schema: Schema) -> Schema:
        if schema.type is not SchemaType.STRUCT:
            raise DataError("Cannot list fields on non-struct type")
        fields = tuple(
            Field(field.name, self._target(field.schema)) if field.name == self._name else field
            for field in schema.fields
        )
        result = replace(schema, fields=fields, default=None)
        return replace(result, default=self._default(schema, result))

    def _default(self, schema: Schema, result: Schema) -> Struct | None:
        """The default of a struct, converted as the values are."""
        if schema.default is None:
            return None
        from penstock.columns.constants import constant
        from penstock.columns.literals import literal

        values = {name: schema.default[name] for name in schema.default}
        field = schema.field(self._name)
        if field is not None:
            default = literal(field.schema, values[field.name])
            values[field.name] = constant(self._converter().typed(field.schema, default))
        return Struct(result, values)

    def _without_schema(self, envelope: Envelope, part: Part) -> Envelope:
        from penstock.columns.faults import fail_by, with_outcome
        from penstock.columns.opened import closed, member_of, with_members

        name = self._name
        if not name:
            outcome = self._converter().untyped(closed(part).column)
            return with_outcome(envelope, self.side, outcome, None)
        envelope, found = opened_or_fault(envelope, part, _PURPOSE)
        outcome = self._converter().untyped(member_of(found, name))
        changed = with_members(found, {name: outcome.value})
        return fail_by(envelope, outcome).with_part(self.side, changed)


class TimestampConverterKey(TimestampConverter):
    """TimestampConverter for the key."""

    java_name = "org.apache.kafka.connect.transforms.TimestampConverter$Key"
    side = Side.KEY


class TimestampConverterValue(TimestampConverter):
    """TimestampConverter for the value."""

    java_name = "org.apache.kafka.connect.transforms.TimestampConverter$Value"
    side = Side.VALUE
