"""InsertField: adds topic, partition, offset, timestamp or a constant as a field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from penstock.api.envelope import Envelope, Part
from penstock.api.plugin import CONNECT_VERSION, Side
from penstock.api.transform import ColumnTransformation
from penstock.kernel.config import Config, Type, invalid, key
from penstock.kernel.data.schema import Field, Schema, SchemaType, timestamp_schema
from penstock.kernel.errors import ConfigError, DataError
from penstock.transforms.field_path import Steps, field_steps, field_syntax_key
from penstock.transforms.nested import deepest_first, edited
from penstock.transforms.requirements import is_null, not_a_struct, opened_or_fault
from penstock.transforms.structs import copied_schema, field_value, replace_null_key, struct_of

if TYPE_CHECKING:
    from pyspark.sql import Column

_PURPOSE: Final = "field insertion"
_SUFFIX: Final = (
    "End it with ! to make the field required, or with ? to make it optional. For a path, the"
    " struct or map that it leads into has to be there."
)


class InsertFieldConfig(Config):
    """Keys of InsertField."""

    topic_field: str | None = key(
        Type.STRING, default=None, doc=f"The field that gets the topic. {_SUFFIX}"
    )
    partition_field: str | None = key(
        Type.STRING, default=None, doc=f"The field that gets the Kafka partition. {_SUFFIX}"
    )
    offset_field: str | None = key(
        Type.STRING, default=None, doc=f"The field that gets the offset, in sinks only. {_SUFFIX}"
    )
    timestamp_field: str | None = key(
        Type.STRING, default=None, doc=f"The field that gets the record's timestamp. {_SUFFIX}"
    )
    static_field: str | None = key(
        Type.STRING, default=None, doc=f"The field that gets static.value. {_SUFFIX}"
    )
    static_value: str | None = key(
        Type.STRING, default=None, doc="The text for the field named by static.field."
    )
    replace_null_with_default: bool = replace_null_key()
    field_syntax_version: str = field_syntax_key()


@dataclass(frozen=True, slots=True)
class Insertion:
    """One new field. `column` may be null for nothing to insert, unless it is `sure`."""

    steps: Steps
    optional: bool
    schema: Schema
    column: Column
    sure: bool

    @property
    def name(self) -> str:
        return self.steps[-1]

    @property
    def field(self) -> Field:
        return Field(self.name, self.schema.as_optional() if self.optional else self.schema)


class InsertField(ColumnTransformation):
    """Add fields that tell where a record came from. Use InsertFieldKey or InsertFieldValue."""

    Config = InsertFieldConfig
    version = CONNECT_VERSION
    takes_opened = True
    side: ClassVar[Side]

    def __init__(self, config: InsertFieldConfig) -> None:
        super().__init__(config)
        names = ("topic", "partition", "offset", "timestamp", "static")
        if all(getattr(self.config, f"{name}_field") is None for name in names):
            raise ConfigError("No field insertion configured")
        if self.config.static_field is not None and self.config.static_value is None:
            words = f"No value specified for static field: {self.config.static_field}"
            raise invalid("static.value", None, words)

    def columns(self, envelope: Envelope) -> Envelope:
        from penstock.columns.faults import fail

        part = envelope.part(self.side)
        changed = edited(
            envelope,
            self.side,
            [(parents, partial(self._inserted, new)) for parents, new in self._levels(envelope)],
            replace_null=self.config.replace_null_with_default,
            missing="Nothing to insert into, unknown field",
        )
        if self.config.offset_field is None:
            return changed
        return fail(changed, ~is_null(part) & envelope.offset.isNull(), _SINKS_ONLY)

    def _levels(self, envelope: Envelope) -> list[tuple[Steps, list[Insertion]]]:
        levels: dict[Steps, list[Insertion]] = {}
        for each in self._insertions(envelope):
            levels.setdefault(each.steps[:-1], []).append(each)
        return deepest_first(levels.items())

    def _inserted(self, insertions: list[Insertion], envelope: Envelope) -> Envelope:
        part = envelope.part(self.side)
        if part.schema is None:
            return self._without_schema(envelope, part, insertions)
        return self._with_schema(envelope, part, part.schema, insertions)

    def _with_schema(
        self, envelope: Envelope, part: Part, schema: Schema, insertions: list[Insertion]
    ) -> Envelope:
        from penstock.columns.faults import fail

        present = part.column.isNotNull()
        try:
            if wrong := not_a_struct(schema, _PURPOSE):
                raise DataError(wrong)
            fields = [*schema.fields, *(each.field for each in insertions)]
            result = copied_schema(schema, fields)
        except DataError as error:
            return fail(envelope, present, str(error))
        replace_null = self.config.replace_null_with_default
        columns = [
            (each.name, field_value(part.column, each, replace_null=replace_null))
            for each in schema.fields
        ]
        columns += [(each.name, each.column) for each in insertions]
        return envelope.with_part(self.side, Part(struct_of(present, columns), result))

    def _without_schema(
        self, envelope: Envelope, part: Part, insertions: list[Insertion]
    ) -> Envelope:
        envelope, found = opened_or_fault(envelope, part, _PURPOSE)
        return envelope.with_part(self.side, _put(found, insertions))

    def _insertions(self, envelope: Envelope) -> Iterator[Insertion]:
        from pyspark.sql import functions as F

        config = self.config
        text, number = Schema(SchemaType.STRING), Schema(SchemaType.INT32)
        for spec, schema, column, sure in (
            (config.topic_field, text, envelope.topic, True),
            (config.partition_field, number, envelope.partition, False),
            (config.offset_field, Schema(SchemaType.INT64), envelope.offset, True),
            (config.timestamp_field, timestamp_schema(), envelope.timestamp, False),
            (config.static_field, text, F.lit(config.static_value), True),
        ):
            if spec is not None:
                name = spec[:-1] if spec.endswith(("?", "!")) else spec
                steps = field_steps(name, config.field_syntax_version)
                yield Insertion(steps, not spec.endswith("!"), schema, column, sure)


def _put(found: Part, insertions: list[Insertion]) -> Part:
    """The opened map with these members; a missing optional one changes nothing."""
    from pyspark.sql import functions as F

    from penstock.columns.opened import member_of, with_members, with_some_members

    for each in insertions:
        value = each.column.cast("variant")
        if each.sure:
            found = with_members(found, {each.name: value})
        else:
            value = F.coalesce(value, member_of(found, each.name))
            found = with_some_members(found, {each.name: value})
    return found


_SINKS_ONLY: Final = (
    f"Only SinkRecord supported for [{_PURPOSE}],"
    " found: org.apache.kafka.connect.source.SourceRecord"
)


class InsertFieldKey(InsertField):
    """InsertField for the key."""

    java_name = "org.apache.kafka.connect.transforms.InsertField$Key"
    side = Side.KEY


class InsertFieldValue(InsertField):
    """InsertField for the value."""

    java_name = "org.apache.kafka.connect.transforms.InsertField$Value"
    side = Side.VALUE
