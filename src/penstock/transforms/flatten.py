"""Flatten: makes nested fields of structs and maps fields of the data itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from penstock.api.envelope import Envelope, Part
from penstock.api.plugin import CONNECT_VERSION, Side
from penstock.api.transform import ColumnTransformation
from penstock.kernel.config import Config, Type, key
from penstock.kernel.data.schema import Field, Schema, SchemaType, Struct
from penstock.kernel.errors import DataError
from penstock.transforms.requirements import (
    is_map,
    not_a_struct,
    require_map_or_null,
)
from penstock.transforms.structs import copied_schema, field_value, struct_of

if TYPE_CHECKING:
    from pyspark.sql import Column

_PURPOSE: Final = "flattening"
_OBJECT: Final = "OBJECT<"


class FlattenConfig(Config):
    """Keys of Flatten."""

    delimiter: str = key(
        Type.STRING, default=".", doc="What stands between the names that a new name is made of."
    )


class Flatten(ColumnTransformation):
    """Make one level of nested data; arrays stay as they are. Use FlattenKey or FlattenValue."""

    Config = FlattenConfig
    version = CONNECT_VERSION
    side: ClassVar[Side]

    def columns(self, envelope: Envelope) -> Envelope:
        part = envelope.part(self.side)
        if part.schema is None:
            return self._without_schema(envelope, part)
        return self._with_schema(envelope, part, part.schema)

    def _with_schema(self, envelope: Envelope, part: Part, schema: Schema) -> Envelope:
        from penstock.columns.faults import fail

        present = part.column.isNotNull()
        try:
            if wrong := not_a_struct(schema, _PURPOSE):
                raise DataError(wrong)
            leaves = list(self._leaves(part.column, schema))
            result = copied_schema(schema, [field for field, _ in leaves])
        except DataError as error:
            return fail(envelope, present, str(error))
        columns = [(field.name, column) for field, column in leaves]
        return envelope.with_part(self.side, Part(struct_of(present, columns), result))

    def _leaves(
        self, value: Column, schema: Schema, prefix: str = ""
    ) -> Iterator[tuple[Field, Column]]:
        """The new fields; they inherit null and defaults of their structs."""
        for field in schema.fields:
            name = f"{prefix}{self.config.delimiter}{field.name}" if prefix else field.name
            inherited = _inherited(schema, field)
            if field.schema.type is SchemaType.MAP:
                raise DataError(
                    "Flatten transformation does not support MAP for record with schemas"
                    f" (for field {name})."
                )
            if field.schema.type is SchemaType.STRUCT:
                yield from self._leaves(value.getField(field.name), inherited, name)
            else:
                yield Field(name, inherited), field_value(value, field, replace_null=True)

    def _without_schema(self, envelope: Envelope, part: Part) -> Envelope:
        from pyspark.sql import functions as F

        from penstock.columns.let import let
        from penstock.columns.opened import all_members

        envelope = require_map_or_null(envelope, part, _PURPOSE)
        entries = F.aggregate(
            F.sequence(F.lit(1), _most_levels(part)),
            F.map_entries(all_members(part)),
            lambda found, _: F.when(F.exists(found, _is_nested), self._opened(found)).otherwise(
                found
            ),
        )
        flat = let(entries, lambda found: F.to_variant_object(F.map_from_entries(_last(found))))
        changed = F.when(is_map(part), flat).otherwise(part.column)
        return envelope.with_part(self.side, Part(changed, None))

    def _opened(self, entries: Column) -> Column:
        """The entries one level deeper: maps among them are replaced by their entries."""
        from pyspark.sql import functions as F

        return F.flatten(
            F.transform(
                entries,
                lambda entry: F.when(_is_nested(entry), self._inside(entry)).otherwise(
                    F.array(entry)
                ),
            )
        )

    def _inside(self, outer: Column) -> Column:
        from pyspark.sql import functions as F

        from penstock.columns.opened import all_members

        prefix = outer.getField("key")
        before = F.when(prefix == "", prefix).otherwise(
            F.concat(prefix, F.lit(self.config.delimiter))
        )
        return F.transform(
            F.map_entries(all_members(Part(outer.getField("value"), None))),
            lambda entry: F.struct(
                F.concat(before, entry.getField("key")).alias("key"),
                entry.getField("value").alias("value"),
            ),
        )


def _inherited(schema: Schema, field: Field) -> Schema:
    default = field.schema.default
    if default is None and schema.default is not None:
        default = _member(schema.default, field.name)
    optional = schema.optional or field.schema.optional
    return replace(field.schema, optional=optional, default=default)


def _member(struct: Struct | Mapping[str, Any], name: str) -> Any:
    members = struct.values if isinstance(struct, Struct) else struct
    return members.get(name)


def _is_nested(entry: Column) -> Column:
    return is_map(Part(entry.getField("value"), None))


def _most_levels(part: Part) -> Column:
    """An upper bound of the levels of the data: the number of all maps in it."""
    from pyspark.sql import functions as F

    from penstock.columns.let import let

    def count(shown: Column) -> Column:
        others = F.replace(shown, F.lit(_OBJECT), F.lit(""))
        return F.floor((F.length(shown) - F.length(others)) / len(_OBJECT)).cast("int")

    return let(F.schema_of_variant(part.column), count)


def _last(entries: Column) -> Column:
    """The entries, each name only once, the last one: Spark's maps allow no duplicates."""
    from pyspark.sql import functions as F

    names = F.transform(entries, lambda entry: entry.getField("key"))
    repeated = F.size(F.array_distinct(names)) < F.size(names)
    final = F.filter(
        entries,
        lambda entry, place: (
            ~F.array_contains(F.slice(names, place + 2, F.size(names)), entry.getField("key"))
        ),
    )
    return F.when(repeated, final).otherwise(entries)


class FlattenKey(Flatten):
    """Flatten for the key."""

    java_name = "org.apache.kafka.connect.transforms.Flatten$Key"
    side = Side.KEY


class FlattenValue(Flatten):
    """Flatten for the value."""

    java_name = "org.apache.kafka.connect.transforms.Flatten$Value"
    side = Side.VALUE
