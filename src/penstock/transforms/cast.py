"""Cast: other types for fields, or for the whole key or value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from penstock.api.envelope import Envelope, Part
from penstock.api.plugin import CONNECT_VERSION, Side
from penstock.api.transform import ColumnTransformation
from penstock.kernel.config import Config, Importance, Type, invalid, key, rule
from penstock.kernel.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Field, Schema, SchemaType
from penstock.kernel.errors import ConfigError, DataError
from penstock.kernel.java.hash_order import hash_order
from penstock.transforms.field_path import field_steps, field_syntax_key
from penstock.transforms.nested import by_parent, edited
from penstock.transforms.pairs import split_pair
from penstock.transforms.requirements import opened_or_fault
from penstock.transforms.structs import field_value, replace_null_key, struct_of

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.columns.faults import Outcome

_PURPOSE: Final = "cast types"
_WHOLE: Final = None
_TARGETS: Final = tuple(
    kind
    for kind in SchemaType
    if kind not in (SchemaType.BYTES, SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT)
)
#: The characters that String.trim() removes.
_BLANK: Final = "".join(map(chr, range(0x21)))

Casts = Mapping[str, SchemaType]


def _casts(name: str, value: object) -> dict[str | None, SchemaType]:
    """The targets by field; that of the whole value has no name."""
    mappings = value if isinstance(value, list) else []
    if not mappings:
        raise _wrong(name, "Must specify at least one field to cast.")
    found: dict[str | None, SchemaType] = {}
    for mapping in mappings:
        *field, target = split_pair(mapping)
        if len(field) > 1:
            # Kafka names this wrong key, too.
            raise invalid("renames", value, f"Invalid rename mapping: {mapping}")
        found[field[0].strip(_BLANK) if field else _WHOLE] = _target(name, target.strip(_BLANK))
    if _WHOLE in found and len(mappings) > 1:
        words = (
            "Cast transformations that specify a type to cast the entire value to may only"
            " specify a single cast in their spec"
        )
        raise _wrong(name, words)
    return found


def _target(name: str, text: str) -> SchemaType:
    kind = SchemaType.__members__.get(text.upper())
    if kind is None:
        # Kafka passes the exception as the value and the message as the key.
        words = (
            "Invalid value java.lang.IllegalArgumentException: No enum constant"
            f" org.apache.kafka.connect.data.Schema.Type.{text.upper()}"
            f" for configuration Invalid type found in casting spec: {text}"
        )
        raise _wrong(name, words)
    if kind not in _TARGETS:
        known = ", ".join(each.name for each in _TARGETS)
        words = (
            f"Cast transformation does not support casting to {kind.name};"
            f" supported types are [{known}]"
        )
        raise _wrong(name, words)
    return kind


def _wrong(name: str, words: str) -> ConfigError:
    return ConfigError(words, {name: (words,)})


def _check_casts(name: str, value: object) -> None:
    _casts(name, value)


class CastConfig(Config):
    """Keys of Cast."""

    spec: list[str] = key(
        Type.LIST,
        importance=Importance.HIGH,
        valid=rule(
            _check_casts, "list of colon-delimited pairs, e.g. <code>foo:bar,abc:xyz</code>"
        ),
        doc="Fields and the types they get, as pairs field:type; or one type for the whole key or"
        " value. The types are int8, int16, int32, int64, float32, float64, boolean and string."
        " Bytes can only become a string, in base64.",
    )
    replace_null_with_default: bool = replace_null_key()
    field_syntax_version: str = field_syntax_key()


class Cast(ColumnTransformation):
    """Change the type of fields or of all the data. Use CastKey or CastValue."""

    Config = CastConfig
    version = CONNECT_VERSION
    takes_opened = True
    side: ClassVar[Side]

    def __init__(self, config: CastConfig) -> None:
        super().__init__(config)
        casts = _casts("spec", self.config.spec)
        self._whole = casts.pop(_WHOLE, None)
        version = self.config.field_syntax_version
        self._levels = by_parent(
            {
                field_steps(path, version): target
                for path, target in casts.items()
                if path is not None
            }
        )

    def columns(self, envelope: Envelope) -> Envelope:
        if self._whole is not None:
            return self._cast_whole(envelope, self._whole)
        levels = [(parents, partial(self._cast_fields, casts)) for parents, casts in self._levels]
        replace_null = self.config.replace_null_with_default
        return edited(envelope, self.side, levels, replace_null=replace_null)

    def _cast_whole(self, envelope: Envelope, target: SchemaType) -> Envelope:
        from penstock.columns.faults import fail, with_outcome
        from penstock.columns.opened import closed
        from penstock.transforms.cast_values import cast, cast_variant

        part = closed(envelope.part(self.side))
        if part.schema is None:
            return with_outcome(envelope, self.side, cast_variant(part.column, target), None)
        try:
            result = _whole_schema(part.schema, target)
        except DataError as error:
            return fail(envelope, part.column.isNotNull(), str(error))
        return with_outcome(envelope, self.side, cast(part.schema, part.column, target), result)

    def _cast_fields(self, casts: Casts, envelope: Envelope) -> Envelope:
        part = envelope.part(self.side)
        if part.schema is None:
            return self._without_schema(envelope, part, casts)
        return self._with_schema(envelope, part, part.schema, casts)

    def _with_schema(
        self, envelope: Envelope, part: Part, schema: Schema, casts: Casts
    ) -> Envelope:
        from penstock.columns.faults import fail, fail_by

        try:
            result = _struct_schema(schema, casts)
        except DataError as error:
            return fail(envelope, part.column.isNotNull(), str(error))
        outcomes = {field.name: self._field(part.column, field, casts) for field in schema.fields}
        for each in outcomes.values():
            envelope = fail_by(envelope, each)
        columns = [(name, each.value) for name, each in outcomes.items()]
        struct = struct_of(part.column.isNotNull(), columns)
        return envelope.with_part(self.side, Part(struct, result))

    def _field(self, value: Column, field: Field, casts: Casts) -> Outcome:
        from pyspark.sql import functions as F

        from penstock.columns.faults import Outcome
        from penstock.transforms.cast_values import cast

        column = field_value(value, field, replace_null=self.config.replace_null_with_default)
        target = casts.get(field.name)
        if target is None:
            return Outcome(column)
        # A null struct has no fields, not even those with a default.
        return cast(field.schema, F.when(value.isNotNull(), column), target)

    def _without_schema(self, envelope: Envelope, part: Part, casts: Casts) -> Envelope:
        from penstock.columns.faults import fail_by
        from penstock.columns.opened import member_of, with_members
        from penstock.transforms.cast_values import cast_variant

        envelope, found = opened_or_fault(envelope, part, _PURPOSE)
        values = {}
        # Only the first fault is reported, and Java has the fields in the order of a HashMap.
        for name in hash_order(casts):
            outcome = cast_variant(member_of(found, name), casts[name])
            envelope = fail_by(envelope, outcome)
            values[name] = outcome.value
        return envelope.with_part(self.side, with_members(found, values))


def _struct_schema(schema: Schema, casts: Casts) -> Schema:
    if schema.type is not SchemaType.STRUCT:
        raise DataError("Cannot list fields on non-struct type")
    fields = [_field_schema(field, casts.get(field.name)) for field in schema.fields]
    # Kafka would cast the default of the struct too.
    _check_default(schema)
    return replace(schema, fields=tuple(fields))


def _field_schema(field: Field, target: SchemaType | None) -> Field:
    if target is None:
        return field
    default = _cast_default(field.schema, target)
    return Field(field.name, Schema(target, optional=field.schema.optional, default=default))


def _whole_schema(schema: Schema, target: SchemaType) -> Schema:
    default = _cast_default(schema, target)
    if default is not None and schema.name in (DATE, DECIMAL, TIME, TIMESTAMP):
        # The name stays, and with it the class that Java requires of a default.
        raise DataError("Invalid default value")
    return replace(
        schema, type=target, default=default, fields=(), key_schema=None, value_schema=None
    )


def _cast_default(schema: Schema, target: SchemaType) -> Any:
    if schema.default is None:
        return None
    from penstock.columns.constants import constant
    from penstock.columns.literals import literal
    from penstock.transforms.cast_values import cast

    _check_default(schema)
    return constant(cast(schema, literal(schema, schema.default), target))


def _check_default(schema: Schema) -> None:
    from penstock.transforms.cast_values import unsupported

    wrong = None if schema.default is None else unsupported(schema.type)
    if wrong is not None:
        raise DataError(wrong)


class CastKey(Cast):
    """Cast for the key."""

    java_name = "org.apache.kafka.connect.transforms.Cast$Key"
    side = Side.KEY


class CastValue(Cast):
    """Cast for the value."""

    java_name = "org.apache.kafka.connect.transforms.Cast$Value"
    side = Side.VALUE
