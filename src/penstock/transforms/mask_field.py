"""MaskField: masks the values of fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from penstock.api.envelope import Envelope, Part
from penstock.api.plugin import CONNECT_VERSION, Side
from penstock.api.transform import ColumnTransformation
from penstock.kernel.config import Config, Importance, Type, key, non_empty, non_empty_list
from penstock.kernel.data.schema import Field, Schema
from penstock.kernel.errors import DataError
from penstock.kernel.java.hash_order import hash_order
from penstock.transforms.field_path import (
    NESTED_ACCESS,
    Tree,
    field_steps,
    field_syntax_key,
    tree_of,
)
from penstock.transforms.masks import masked, masked_by_schema
from penstock.transforms.requirements import (
    VARIANT_CLASSES,
    by_class,
    not_a_struct,
    opened_or_fault,
    require_data,
    variant_kind,
)
from penstock.transforms.structs import field_value, replace_null_key, struct_of
from penstock.transforms.variants import constant, member

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.columns.faults import Outcome

_PURPOSE: Final = "mask fields"


class MaskFieldConfig(Config):
    """Keys of MaskField."""

    fields: list[str] = key(
        Type.LIST, importance=Importance.HIGH, valid=non_empty_list, doc="The fields to mask."
    )
    replacement: str | None = key(
        Type.STRING,
        default=None,
        importance=Importance.LOW,
        valid=non_empty,
        doc="What numbers and texts become; without it they are 0 and empty.",
    )
    replace_null_with_default: bool = replace_null_key()
    field_syntax_version: str = field_syntax_key()


class MaskField(ColumnTransformation):
    """Put neutral values into fields. Use MaskFieldKey or MaskFieldValue."""

    Config = MaskFieldConfig
    version = CONNECT_VERSION
    takes_opened = True
    side: ClassVar[Side]

    def __init__(self, config: MaskFieldConfig) -> None:
        super().__init__(config)
        version = self.config.field_syntax_version
        # Kafka checks the members in this order and reports the first wrong one.
        paths = hash_order(self.config.fields)
        self._tree = tree_of(field_steps(path, version) for path in paths)

    def columns(self, envelope: Envelope) -> Envelope:
        part = envelope.part(self.side)
        envelope = require_data(envelope, part, _PURPOSE)
        if part.schema is None:
            return self._without_schema(envelope, part)
        return self._with_schema(envelope, part, part.schema)

    def _with_schema(self, envelope: Envelope, part: Part, schema: Schema) -> Envelope:
        from penstock.columns.faults import fail

        if wrong := not_a_struct(schema, _PURPOSE):
            return fail(envelope, part.column.isNotNull(), wrong)
        for condition, message in self._faults(part.column, schema, self._tree):
            envelope = fail(envelope, condition, message)
        return envelope.with_part(
            self.side, Part(self._struct(part.column, schema, self._tree), schema)
        )

    def _faults(self, value: Column, schema: Schema, tree: Tree) -> Iterator[tuple[Column, str]]:
        """The errors of fields that have a value, in the order of the fields."""
        for field in schema.fields:
            if field.name not in tree:
                continue
            column, inner = self._field(value, field), tree[field.name]
            wrong = self._wrong(field.schema, inner)
            if wrong is not None:
                yield column.isNotNull(), wrong
            elif inner is not None:
                yield from self._faults(column, field.schema, inner)

    def _struct(self, value: Column, schema: Schema, tree: Tree) -> Column:
        columns = []
        for field in schema.fields:
            column = self._field(value, field)
            if field.name in tree:
                column = self._changed(column, field.schema, tree[field.name])
            columns.append((field.name, column))
        return struct_of(value.isNotNull(), columns)

    def _field(self, value: Column, field: Field) -> Column:
        return field_value(value, field, replace_null=self.config.replace_null_with_default)

    def _changed(self, value: Column, schema: Schema, inner: Tree | None) -> Column:
        from pyspark.sql import functions as F

        from penstock.columns.literals import literal

        if self._wrong(schema, inner) is not None:
            return value
        if inner is not None:
            return self._struct(value, schema, inner)
        mask = masked_by_schema(schema, self.config.replacement)
        return F.when(value.isNotNull(), literal(schema, mask))

    def _wrong(self, schema: Schema, inner: Tree | None) -> str | None:
        """Why values of this schema can't be masked, or masked inside; None if they can."""
        if inner is not None:
            return not_a_struct(schema, NESTED_ACCESS)
        try:
            masked_by_schema(schema, self.config.replacement)
        except DataError as error:
            return str(error)
        return None

    def _without_schema(self, envelope: Envelope, part: Part) -> Envelope:
        envelope, found = opened_or_fault(envelope, part, _PURPOSE)
        envelope, changed = self._map(envelope, found, self._tree)
        return envelope.with_part(self.side, changed)

    def _map(self, envelope: Envelope, part: Part, tree: Tree) -> tuple[Envelope, Part]:
        """The opened map with masked members. One that is missing becomes null, as in Kafka."""
        from pyspark.sql import functions as F

        from penstock.columns.faults import fail_by
        from penstock.columns.opened import closed, with_members, with_some_members

        for name, inner in tree.items():
            found = member(part, name)
            if inner is None:
                outcome = self._masked(found)
                envelope = fail_by(envelope, outcome)
                part = with_members(part, {name: outcome.value})
            else:
                envelope, inside = opened_or_fault(envelope, found, NESTED_ACCESS)
                envelope, changed = self._map(envelope, inside, inner)
                value = F.coalesce(closed(changed).column, found.column)
                part = with_some_members(part, {name: value})
        return envelope, part

    def _masked(self, member: Part) -> Outcome:
        from penstock.columns.faults import Outcome

        masks, faults = self._by_class()
        kind = variant_kind(member.column)
        return Outcome(by_class(kind, masks), by_class(kind, faults))

    def _by_class(self) -> tuple[dict[str, Column], dict[str, Column]]:
        """The masks and the faults of members, by their classes."""
        from pyspark.sql import functions as F

        masks: dict[str, Column] = {}
        faults: dict[str, Column] = {}
        for name in VARIANT_CLASSES:
            try:
                masks[name] = constant(masked(name, self.config.replacement))
            except DataError as error:
                faults[name] = F.lit(str(error))
        return masks, faults


class MaskFieldKey(MaskField):
    """MaskField for the key."""

    java_name = "org.apache.kafka.connect.transforms.MaskField$Key"
    side = Side.KEY


class MaskFieldValue(MaskField):
    """MaskField for the value."""

    java_name = "org.apache.kafka.connect.transforms.MaskField$Value"
    side = Side.VALUE
