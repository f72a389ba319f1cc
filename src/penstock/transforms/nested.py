"""Applies transformations to nested structs and maps as if they were the data itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.api.envelope import Envelope, Part
from penstock.kernel.data.schema import Field, Schema
from penstock.transforms.field_path import NESTED_ACCESS, Steps
from penstock.transforms.requirements import (
    is_map,
    not_a_struct,
    require_map_or_null,
)
from penstock.transforms.structs import field_value, struct_of
from penstock.transforms.variants import member

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.api.plugin import Side

Edit = Callable[[Envelope], Envelope]
"""Changes the key or value of an envelope."""

Setting = TypeVar("Setting")


def by_parent(settings: Mapping[Steps, Setting]) -> list[tuple[Steps, dict[str, Setting]]]:
    """The settings of fields, by the struct that has the field; the deepest struct first.

    In this order the paths stay valid while the structs on them change.
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
    """An envelope whose key or value is edited at the end of the parents' path.

    Null on the way stays null. Something other than a struct or map there gets a fault.

    Args:
        levels: the paths and the edits at their ends, in order.
        replace_null: whether other null fields on the way get their defaults.
        missing: the fault if the schema has no such path; None leaves the data as it is.
    """
    if all(not parents for parents, _ in levels):
        for _, edit in levels:
            envelope = edit(envelope)
        return envelope
    from penstock.columns.opened import without_opened

    envelope = without_opened(envelope)
    inners = [
        (
            parents,
            _NestedEdit(side, edit, replace_null, missing and f"{missing}: {'.'.join(parents)}"),
        )
        for parents, edit in levels
    ]
    if len(inners) == 1:
        return _edited_once(envelope, side, *inners[0])
    made = _Made(envelope, side)
    for parents, inner in inners:
        made.then(parents, inner)
    return made.envelope()


def _edited_once(envelope: Envelope, side: Side, parents: Steps, inner: _NestedEdit) -> Envelope:
    whole = envelope.part(side)

    def end(changed: Part | None, fault: Column) -> Envelope:
        return envelope.replace(fault=fault).with_part(side, changed or whole)

    edited_once: Envelope = inner.follow(parents, envelope, end, lambda value, use: use(value))
    return edited_once


class _Made:
    """Data and fault of each row, as one column that edits change one after another.

    Edits use the data many times, so each gets it under a name (columns/let.py): otherwise the
    expression of the last one would contain all others many times.
    """

    def __init__(self, envelope: Envelope, side: Side) -> None:
        self._envelope, self._side = envelope, side
        self._schema = envelope.part(side).schema
        self._pair = _pair(envelope.part(side).column, envelope.fault)

    def then(self, parents: Steps, inner: _NestedEdit) -> None:
        from penstock.columns.let import let

        def use(pair: Column) -> Column:
            whole = Part(pair.getField("value"), self._schema)
            given = self._envelope.replace(fault=pair.getField("fault"))
            given = given.with_part(self._side, whole)
            column: Column = inner.follow(parents, given, self._ended(whole), let)
            return column

        self._pair = let(self._pair, use)

    def _ended(self, whole: Part) -> Ending:
        def end(changed: Part | None, fault: Column) -> Column:
            part = whole if changed is None else changed
            self._schema = part.schema
            return _pair(part.column, fault)

        return end

    def envelope(self) -> Envelope:
        part = Part(self._pair.getField("value"), self._schema)
        fault = self._pair.getField("fault")
        return self._envelope.replace(fault=fault).with_part(self._side, part)


Ending = Callable[["Part | None", "Column"], Any]
"""Makes the result from the edited inner data (None: not edited) and the row's fault."""

Naming = Callable[["Column", Callable[["Column"], Any]], Any]
"""Passes a value to its use, maybe under a name."""


def _pair(value: Column, fault: Column) -> Column:
    from pyspark.sql import functions as F

    return F.struct(value.alias("value"), fault.alias("fault"))


@dataclass(frozen=True, slots=True)
class _NestedEdit:
    """An edit of nested data."""

    side: Side
    edit: Edit
    replace_null: bool
    missing: str | None

    def follow(self, parents: Sequence[str], envelope: Envelope, end: Ending, name: Naming) -> Any:
        """The result of `end` for the data, edited at the end of the parents' path."""
        part = envelope.part(self.side)
        if not parents:
            from penstock.columns.opened import closed

            after = self.edit(envelope)
            changed = closed(after.part(self.side))
            return end(None if changed is part else changed, after.fault)
        if part.schema is None:
            return self._member(envelope, part, parents, end, name)
        return self._field(envelope, part, parents, end, name)

    def _member(
        self, envelope: Envelope, part: Part, parents: Sequence[str], end: Ending, name: Naming
    ) -> Any:
        def use(column: Column) -> Any:
            found = Part(column, None)
            given = require_map_or_null(envelope, found, NESTED_ACCESS)

            def put_back(changed: Part | None, fault: Column) -> Any:
                whole = changed and _with_member(part, parents[0], found, changed)
                return end(whole, fault)

            return self.follow(parents[1:], given.with_part(self.side, found), put_back, name)

        return name(member(part, parents[0]).column, use)

    def _field(
        self, envelope: Envelope, part: Part, parents: Sequence[str], end: Ending, name: Naming
    ) -> Any:
        from penstock.columns.faults import fail

        schema = _known(part)
        present = part.column.isNotNull()
        if wrong := not_a_struct(schema, NESTED_ACCESS):
            return end(None, fail(envelope, present, wrong).fault)
        field = schema.field(parents[0])
        if field is None:
            given = envelope if self.missing is None else fail(envelope, present, self.missing)
            return end(None, given.fault)
        value = field_value(part.column, field, replace_null=self.replace_null)
        if wrong := not_a_struct(field.schema, NESTED_ACCESS):
            return end(None, fail(envelope, value.isNotNull(), wrong).fault)

        def put_back(changed: Part | None, fault: Column) -> Any:
            return end(changed and self._with_field(part, field, changed), fault)

        # Its default has the old schema, and null was replaced by the default already.
        inner = Part(value, replace(field.schema, default=None))
        return self.follow(parents[1:], envelope.with_part(self.side, inner), put_back, name)

    def _with_field(self, part: Part, changed: Field, inner: Part) -> Part:
        """The struct with another value, maybe of another schema, in one of its fields."""
        schema = _known(part)
        # A copied struct is not optional in Kafka, but one that could be null still can.
        inner_schema = replace(_known(inner), optional=changed.schema.optional)
        fields: list[Field] = []
        columns: list[tuple[str, Column]] = []
        for field in schema.fields:
            old = field_value(part.column, field, replace_null=self.replace_null)
            same = field is not changed
            fields.append(field if same else Field(field.name, inner_schema))
            columns.append((field.name, old if same else inner.column))
        column = struct_of(part.column.isNotNull(), columns)
        return Part(column, replace(schema, fields=tuple(fields), default=None))


def _known(part: Part) -> Schema:
    assert part.schema is not None  # noqa: S101 - what has none goes by members
    return part.schema


def _with_member(part: Part, name: str, found: Part, changed: Part) -> Part:
    """The map with the found member replaced by the changed one, if that is a map."""
    from pyspark.sql import functions as F

    from penstock.columns.opened import closed, opened, with_members

    whole = closed(with_members(opened(part), {name: changed.column})).column
    return Part(F.when(is_map(found), whole).otherwise(part.column), None)
