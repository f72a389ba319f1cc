"""ReplaceField: excludes, includes or renames fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from penstock.api.envelope import Envelope, Part
from penstock.api.plugin import CONNECT_VERSION, Side
from penstock.api.transform import ColumnTransformation
from penstock.kernel.config import Config, Type, invalid, key, rule
from penstock.kernel.data.schema import Field, Schema, SchemaType
from penstock.kernel.errors import DataError
from penstock.transforms.field_path import (
    Steps,
    Tree,
    field_steps,
    field_syntax_key,
    tree_of,
)
from penstock.transforms.nested import by_parent, deepest_first, edited
from penstock.transforms.pairs import split_pair
from penstock.transforms.requirements import (
    java_class,
    not_a_struct,
    opened_or_fault,
)
from penstock.transforms.structs import copied_schema, field_value, replace_null_key, struct_of

_PURPOSE: Final = "field replacement"


def _pairs(name: str, value: object) -> dict[str, str]:
    found: dict[str, str] = {}
    for mapping in value if isinstance(value, list) else ():
        old, *new = split_pair(mapping)
        if len(new) != 1:
            raise invalid(name, value, f"Invalid rename mapping: {mapping}")
        found[old] = new[0]
    return found


def _check_pairs(name: str, value: object) -> None:
    _pairs(name, value)


class ReplaceFieldConfig(Config):
    """Keys of ReplaceField."""

    exclude: list[str] = key(
        Type.LIST, default=[], doc="Fields to leave out, even if they are included too."
    )
    include: list[str] = key(
        Type.LIST,
        default=[],
        doc="Fields to keep, and no others; empty keeps all. For a path, what it leads through"
        " stays too, with nothing else in it.",
    )
    renames: list[str] = key(
        Type.LIST,
        default=[],
        valid=rule(
            _check_pairs, "list of colon-delimited pairs, e.g. <code>foo:bar,abc:xyz</code>"
        ),
        doc="Fields to rename, as pairs old:new. For a path, new is the name of its last step.",
    )
    replace_null_with_default: bool = replace_null_key()
    field_syntax_version: str = field_syntax_key()


@dataclass(frozen=True, slots=True)
class Level:
    """The changes of the fields of one struct or map, by name."""

    include: frozenset[str]
    exclude: frozenset[str]
    renames: Mapping[str, str]

    def keeps(self, name: str) -> bool:
        included = not self.include or name in self.include
        return included and name not in self.exclude

    def schema(self, schema: Schema) -> Schema:
        fields = [
            Field(self.renames.get(field.name, field.name), field.schema)
            for field in schema.fields
            if self.keeps(field.name)
        ]
        return copied_schema(schema, fields)

    def source(self, schema: Schema, field: Field) -> Field:
        # As in Kafka, a field that already has the new name of another one is looked up by that
        # one's old name; if that is missing, no row can be transformed.
        originals = {new: old for old, new in self.renames.items()}
        original = originals.get(field.name, field.name)
        source = schema.field(original)
        if source is None:
            raise DataError(f"{original} is not a valid field name")
        return source

    def members(self, part: Part) -> Part:
        """An opened map with the members that stay, under their new names.

        Of members with the same new name, the last in the order of their old names stays.
        """
        from pyspark.sql import functions as F

        from penstock.columns.opened import member_of, with_some_members

        moved = {old: new for old, new in self.renames.items() if self.keeps(old) and old != new}
        staying = self._staying(part, frozenset(moved))
        found = {}
        for new in moved.values():
            values = {old: member_of(part, old) for old in moved if moved[old] == new}
            values[new] = member_of(staying, new)
            found[new] = F.coalesce(*[values[old] for old in sorted(values, reverse=True)])
        return with_some_members(staying, found)

    def _staying(self, part: Part, moved: Set[str]) -> Part:
        """The members that keep their names."""
        from penstock.columns.opened import only_members, without_members

        if self.include:
            return only_members(part, self.include - self.exclude - moved)
        return without_members(part, self.exclude | moved)


def _levels(config: ReplaceFieldConfig) -> list[tuple[Steps, Level]]:
    """The changes of each struct that a path leads into; the deepest first."""

    def steps(path: str) -> Steps:
        return field_steps(path, config.field_syntax_version)

    # A field that is kept keeps the structs around it.
    include = dict(_branches(tree_of(map(steps, config.include))))
    exclude = dict(by_parent(dict.fromkeys(map(steps, config.exclude))))
    pairs = _pairs("renames", config.renames)
    renames = dict(by_parent({steps(old): new for old, new in pairs.items()}))
    levels = {
        parents: Level(
            include.get(parents, frozenset()),
            frozenset(exclude.get(parents, ())),
            renames.get(parents, {}),
        )
        for parents in ((), *include, *exclude, *renames)
    }
    return deepest_first(levels.items())


def _branches(tree: Tree, parents: Steps = ()) -> Iterator[tuple[Steps, frozenset[str]]]:
    """Every struct that paths lead into, with the names of its fields on them."""
    if tree:
        yield parents, frozenset(tree)
    for name, inner in tree.items():
        if inner is not None:
            yield from _branches(inner, (*parents, name))


class ReplaceField(ColumnTransformation):
    """Filter or rename fields. Use ReplaceFieldKey or ReplaceFieldValue."""

    Config = ReplaceFieldConfig
    version = CONNECT_VERSION
    takes_opened = True
    side: ClassVar[Side]

    def __init__(self, config: ReplaceFieldConfig) -> None:
        super().__init__(config)
        self._levels = _levels(config)

    def columns(self, envelope: Envelope) -> Envelope:
        levels = [(parents, partial(self._replaced, level)) for parents, level in self._levels]
        replace_null = self.config.replace_null_with_default
        return edited(envelope, self.side, levels, replace_null=replace_null)

    def _replaced(self, level: Level, envelope: Envelope) -> Envelope:
        part = envelope.part(self.side)
        if part.schema is None:
            return self._without_schema(envelope, part, level)
        return self._with_schema(envelope, part, part.schema, level)

    def _with_schema(
        self, envelope: Envelope, part: Part, schema: Schema, level: Level
    ) -> Envelope:
        from penstock.columns.faults import fail
        from penstock.columns.literals import null_of

        present = part.column.isNotNull()
        try:
            if wrong := not_a_struct(schema, _PURPOSE):
                raise DataError(wrong)
            result = level.schema(schema)
            sources = [level.source(schema, field) for field in result.fields]
        except DataError as error:
            return fail(envelope, present, str(error))
        replace_null = self.config.replace_null_with_default
        columns = []
        for field, source in zip(result.fields, sources, strict=True):
            value = field_value(part.column, source, replace_null=replace_null)
            if wrong := _misfit(field, source.schema):
                envelope = fail(envelope, value.isNotNull(), wrong)
                value = null_of(field.schema)
            columns.append((field.name, value))
        return envelope.with_part(self.side, Part(struct_of(present, columns), result))

    def _without_schema(self, envelope: Envelope, part: Part, level: Level) -> Envelope:
        envelope, found = opened_or_fault(envelope, part, _PURPOSE)
        return envelope.with_part(self.side, level.members(found))


def _misfit(field: Field, given: Schema) -> str | None:
    """Java's error if a field gets a value of another one's schema; None if it is allowed."""
    wanted = field.schema
    if wanted == given:
        return None
    if java_class(wanted) != java_class(given):
        name = f' "{wanted.name}"' if wanted.name else ""
        return (
            f"Invalid Java object for schema{name} with type {wanted.type.name}:"
            f' class {java_class(given)} for field: "{field.name}"'
        )
    return "Struct schemas do not match." if wanted.type is SchemaType.STRUCT else None


class ReplaceFieldKey(ReplaceField):
    """ReplaceField for the key."""

    java_name = "org.apache.kafka.connect.transforms.ReplaceField$Key"
    side = Side.KEY


class ReplaceFieldValue(ReplaceField):
    """ReplaceField for the value."""

    java_name = "org.apache.kafka.connect.transforms.ReplaceField$Value"
    side = Side.VALUE
