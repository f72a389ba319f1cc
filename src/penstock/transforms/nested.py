"""Transformations of what is inside of the data: the same as of the data itself, one level down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from penstock.api.envelope import Envelope, Part
from penstock.data.schema import Field, Schema
from penstock.transforms.field_path import NESTED_ACCESS, Steps
from penstock.transforms.requirements import (
    is_map,
    not_a_struct,
    require_map_or_null,
    variant_map,
)
from penstock.transforms.structs import field_value, struct_of, with_entries
from penstock.transforms.variants import member

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.api.plugin import Side

Edit = Callable[[Envelope], Envelope]
"""Changes the key or value of an envelope."""

Setting = TypeVar("Setting")


def by_parent(settings: Mapping[Steps, Setting]) -> list[tuple[Steps, dict[str, Setting]]]:
    """What is set for each field, by the struct the field is in; the deepest struct first.

    In this order a path still leads where it led, whatever is done to what it goes through.
    """
    levels: dict[Steps, dict[str, Setting]] = {}
    for steps, setting in settings.items():
        levels.setdefault(steps[:-1], {})[steps[-1]] = setting
    return deepest_first(levels.items())


def deepest_first(levels: Iterable[tuple[Steps, Setting]]) -> list[tuple[Steps, Setting]]:
    return sorted(levels, key=lambda level: -len(level[0]))


def edited(
    envelope: Envelope,
    side: Side,
    levels: Sequence[tuple[Steps, Edit]],
    *,
    replace_null: bool,
    missing: str | None = None,
) -> Envelope:
    """An envelope whose key or value is edited where the parents lead, as if that were all of it.

    What is null on the way stays so. What is no struct or map there gets a fault.

    Args:
        levels: the ways and what is to be done at their ends, one after another.
        replace_null: whether other fields on the way that are null get their defaults.
        missing: the fault if the schema has no such way; None leaves the data as it is.
    """
    if all(not parents for parents, _ in levels):
        for _, edit in levels:
            envelope = edit(envelope)
        return envelope
    for parents, edit in levels:
        way = _Way(side, edit, replace_null, missing and f"{missing}: {'.'.join(parents)}")
        envelope = _apart(envelope, side, partial(way.follow, parents))
    return envelope


def _apart(envelope: Envelope, side: Side, edit: Edit) -> Envelope:
    """edit(envelope), for which the data has a name: it is used many times and made once."""
    from pyspark.sql import functions as F

    from penstock.columns.let import let

    part = envelope.part(side)
    schemas: list[Schema | None] = []

    def outcome(column: Column) -> Column:
        given = envelope.replace(fault=F.lit(None).cast("string"))
        after = edit(given.with_part(side, Part(column, part.schema)))
        changed = after.part(side)
        schemas.append(changed.schema)
        return F.struct(changed.column.alias("value"), after.fault.alias("fault"))

    made = let(part.column, outcome)
    fault = F.coalesce(envelope.fault, made.getField("fault"))
    return envelope.replace(fault=fault).with_part(side, Part(made.getField("value"), schemas[0]))


@dataclass(frozen=True, slots=True)
class _Way:
    """An edit of something inside of the data."""

    side: Side
    edit: Edit
    replace_null: bool
    missing: str | None

    def follow(self, parents: Sequence[str], envelope: Envelope) -> Envelope:
        """The envelope, edited where the parents lead."""
        if not parents:
            return self.edit(envelope)
        inner = partial(self.follow, parents[1:])
        part = envelope.part(self.side)
        if part.schema is None:
            return self._member(envelope, part, parents[0], inner)
        return self._field(envelope, part, part.schema, parents[0], inner)

    def _member(self, envelope: Envelope, part: Part, name: str, edit: Edit) -> Envelope:
        from pyspark.sql import functions as F

        found = member(part, name)
        envelope = require_map_or_null(envelope, found, NESTED_ACCESS)
        envelope, changed = self._edited(envelope, part, found, edit)
        if changed is None:
            return envelope
        whole = F.to_variant_object(with_entries(variant_map(part), {name: changed.column}))
        column = F.when(is_map(found), whole).otherwise(part.column)
        return envelope.with_part(self.side, Part(column, None))

    def _field(
        self, envelope: Envelope, part: Part, schema: Schema, name: str, edit: Edit
    ) -> Envelope:
        from penstock.columns.faults import fail

        present = part.column.isNotNull()
        if wrong := not_a_struct(schema, NESTED_ACCESS):
            return fail(envelope, present, wrong)
        field = schema.field(name)
        if field is None:
            return envelope if self.missing is None else fail(envelope, present, self.missing)
        value = field_value(part.column, field, replace_null=self.replace_null)
        if wrong := not_a_struct(field.schema, NESTED_ACCESS):
            return fail(envelope, value.isNotNull(), wrong)
        # Its default has the form from before, and null has become the default already.
        inner = Part(value, replace(field.schema, default=None))
        envelope, changed = self._edited(envelope, part, inner, edit)
        if changed is None or changed.schema is None:
            return envelope
        # A copy of a struct is not optional in Kafka, but what could be null still can.
        inner_schema = replace(changed.schema, optional=field.schema.optional)
        around = self._around(part, schema, Field(name, inner_schema), changed.column)
        return envelope.with_part(self.side, around)

    def _edited(
        self, envelope: Envelope, whole: Part, inner: Part, edit: Edit
    ) -> tuple[Envelope, Part | None]:
        """The envelope with the faults of an edit, and the new inner part; None if unchanged."""
        after = edit(envelope.with_part(self.side, inner))
        changed = after.part(self.side)
        return after.with_part(self.side, whole), None if changed is inner else changed

    def _around(self, part: Part, schema: Schema, changed: Field, value: Column) -> Part:
        """The struct with another value, of another schema, in the field of that name."""
        fields: list[Field] = []
        columns: list[tuple[str, Column]] = []
        for field in schema.fields:
            old = field_value(part.column, field, replace_null=self.replace_null)
            same = field.name != changed.name
            fields.append(field if same else changed)
            columns.append((field.name, old if same else value))
        column = struct_of(part.column.isNotNull(), columns)
        return Part(column, replace(schema, fields=tuple(fields), default=None))
