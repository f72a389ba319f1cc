"""The requirements of transformations on their data, and the faults of rows that miss them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from penstock.kernel.data.schema import DATE, TIME, TIMESTAMP, Schema, SchemaType
from penstock.kernel.java.to_string import JAVA_CLASSES

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.api.envelope import Envelope, Part


# By variant_kind(): the class that JsonConverter gives such a value in Java.
_VARIANT_CLASSES: Final[Mapping[str, str]] = {
    "STRING": "java.lang.String",
    "BIGINT": "java.lang.Long",
    "BOOLEAN": "java.lang.Boolean",
    "DECIMAL": "java.lang.Double",
    "DOUBLE": "java.lang.Double",
    "FLOAT": "java.lang.Float",
    "OBJECT": "java.util.HashMap",
    "ARRAY": "java.util.ArrayList",
    "BINARY": "[B",
    "TIMESTAMP": "java.util.Date",
    "TIMESTAMP_NTZ": "java.util.Date",
    "VOID": "null",
}
_OTHER_CLASS: Final = "java.lang.Object"

#: Every class that variant_class() may name, but for null's.
VARIANT_CLASSES: Final = tuple(
    dict.fromkeys([*(name for name in _VARIANT_CLASSES.values() if name != "null"), _OTHER_CLASS])
)


def java_class(schema: Schema) -> str:
    """The class of Java's objects for values of a schema."""
    if schema.is_decimal:
        return "java.math.BigDecimal"
    if schema.name in (DATE, TIME, TIMESTAMP):
        return "java.util.Date"
    return JAVA_CLASSES[schema.type]


def is_null(part: Part) -> Column:
    """True where Java would see null; never null itself."""
    if part.schema is not None:
        return part.column.isNull()
    from pyspark.sql import functions as F

    return part.column.isNull() | F.coalesce(F.is_variant_null(part.column), F.lit(False))


def not_a_struct(schema: Schema, purpose: str) -> str | None:
    """The fault of every value of this schema if a Struct is required; None if it is one."""
    if schema.type is SchemaType.STRUCT:
        return None
    return f"Only Struct objects supported for [{purpose}], found: {java_class(schema)}"


def is_map(part: Part) -> Column:
    """Whether data without a schema is a map; false for null."""
    from penstock.columns.opened import has_members

    return has_members(part.column)


def variant_kind(value: Column) -> Column:
    """The type of data without a schema in one word, such as BIGINT, DECIMAL, OBJECT or VOID."""
    from pyspark.sql import functions as F

    shown = F.coalesce(F.schema_of_variant(value), F.lit("VOID"))
    return F.substring_index(F.substring_index(shown, "<", 1), "(", 1)


def variant_class(value: Column) -> Column:
    """The class of Java's object for data without a schema; the text "null" for null."""
    from pyspark.sql import functions as F

    names = {*VARIANT_CLASSES, "null"}
    return by_class(variant_kind(value), {name: F.lit(name) for name in names})


def by_class(kind: Column, columns: Mapping[str, Column]) -> Column:
    """The column of the class that a variant_kind() has in Java; null if it has none."""
    from pyspark.sql import functions as F

    # One lookup in a constant: a chain of conditions would compute the kind in each of them.
    entries = [
        part
        for shown, name in _VARIANT_CLASSES.items()
        if name in columns
        for part in (F.lit(shown), columns[name])
    ]
    found = F.try_element_at(F.create_map(*entries), kind)
    if _OTHER_CLASS not in columns:
        return found
    return F.when(kind.isin(list(_VARIANT_CLASSES)), found).otherwise(columns[_OTHER_CLASS])


def require_map_or_null(envelope: Envelope, part: Part, purpose: str) -> Envelope:
    """A fault for data without a schema that is neither a map nor null."""
    if part.opened is not None:
        return envelope
    from pyspark.sql import functions as F

    from penstock.columns.faults import fail

    message = F.concat(F.lit(not_a_map(purpose, "")), variant_class(part.column))
    return fail(envelope, ~is_null(part) & ~is_map(part), message)


def opened_or_fault(envelope: Envelope, part: Part, purpose: str) -> tuple[Envelope, Part]:
    """Data without a schema as an opened map; a fault if it is neither a map nor null."""
    from penstock.columns.opened import opened

    return require_map_or_null(envelope, part, purpose), opened(part)


def has_schema(envelope: Envelope, part: Part) -> Column:
    """Whether Java would see the schema of data that has one.

    In Java, a record without bytes has no schema, so in a sink null has none, even if other
    records have one. A source may give null a schema, and ours all do.
    """
    return part.column.isNotNull() | envelope.offset.isNull()


def require_data(envelope: Envelope, part: Part, purpose: str) -> Envelope:
    """A fault for null; without a schema (see has_schema) it is reported as not a map."""
    from pyspark.sql import functions as F

    from penstock.columns.faults import fail

    bare = not_a_map(purpose, "null")
    if part.schema is None:
        return fail(envelope, is_null(part), bare)
    typed = f"Only Struct objects supported for [{purpose}], found: null"
    message = F.when(has_schema(envelope, part), F.lit(typed)).otherwise(F.lit(bare))
    return fail(envelope, is_null(part), message)


def not_a_map(purpose: str, found: str) -> str:
    """The fault of data without a schema that is an object of this class, not a map."""
    return f"Only Map objects supported in absence of schema for [{purpose}], found: {found}"
