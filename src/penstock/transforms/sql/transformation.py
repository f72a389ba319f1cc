"""Sql: computes fields, filters and routes records by a query over each record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from penstock.api.envelope import Envelope, Part
from penstock.api.plugin import CONNECT_VERSION
from penstock.api.transform import ColumnTransformation
from penstock.kernel.config import REQUIRED, Config, Importance, Type, key, non_empty
from penstock.kernel.data.schema import Field, Schema, SchemaType
from penstock.kernel.errors import ConfigError, DataError

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.columns.catalyst import Item, Select
    from penstock.transforms.sql.scope import Found, Scope

RELATION: Final = "record"
# They can call any static method in the JVM that all connectors share.
_REFUSED_FUNCTIONS: Final = frozenset({"reflect", "java_method", "try_reflect"})
_META: Final = frozenset({"_topic", "_partition", "_timestamp", "_key", "_headers"})
_VALUE: Final = "_value"


class SqlConfig(Config):
    """Keys of Sql."""

    query: str = key(
        Type.STRING,
        default=REQUIRED,
        importance=Importance.HIGH,
        valid=non_empty,
        doc="A query in Spark's SQL: SELECT … FROM record [WHERE …], or several of them joined by"
        " UNION ALL, each of which gives a record. The columns of record are the fields of the"
        " value, and _topic, _partition, _offset, _timestamp, _key, _value and _headers (a map of"
        " texts). What the query selects becomes the value; columns named _topic, _partition,"
        " _timestamp, _key, _headers or _value set these instead. Where _topic is null the topic"
        " stays. WHERE drops tombstones unless it says: OR _value IS NULL.",
    )


class Sql(ColumnTransformation):
    """A SELECT over each record: computed fields, filters, branches, several outputs."""

    Config = SqlConfig
    java_name = "penstock.transforms.Sql"
    version = CONNECT_VERSION
    checked_key = "query"

    def columns(self, envelope: Envelope) -> Sequence[Envelope]:
        from penstock.transforms.sql.scope import Scope

        return [
            _Output(envelope, select, Scope(envelope, select.alias)).envelope()
            for select in self._selects()
        ]

    def tombstones(self, envelope: Envelope) -> Sequence[Envelope]:
        """They need no types: a result computed from nulls alone is null or has its own type."""
        from penstock.transforms.sql.scope import NullScope

        return [
            _NullOutput(envelope, select, NullScope(envelope, select.alias)).envelope()
            for select in map(_without_fields, self._selects())
        ]

    def check(self) -> None:
        """Parse the query.

        Raises:
            ConfigError: it is not valid for any records.
        """
        self._selects()

    def _selects(self) -> tuple[Select, ...]:
        from penstock.columns.catalyst import Item, functions_in, selects_of

        selects = selects_of(self.config.query, RELATION)
        for select in selects:
            trees = [each.tree for each in select.items if isinstance(each, Item)]
            trees += [] if select.condition is None else [select.condition]
            for name in (name for tree in trees for name in functions_in(tree)):
                if name in _REFUSED_FUNCTIONS:
                    raise ConfigError(f"{name}() may not be used in a query")
        return selects


@dataclass(frozen=True, slots=True)
class _Computed:
    """A column of the result, and the fault of rows that have none.

    `about`: it sets a part of the record beside its fields.
    """

    name: str
    found: Found
    fault: Column | None = None
    about: bool = False


class _Output:
    """One SELECT, for records of one pair of schemas."""

    def __init__(self, envelope: Envelope, select: Select, scope: Scope) -> None:
        self._envelope = envelope
        self._select = select
        self._scope = scope

    def envelope(self) -> Envelope:
        from penstock.columns.faults import fail
        from penstock.transforms.sql.meta import with_meta

        computed = self._computed()
        envelope = self._filtered(self._envelope)
        for each in computed:
            if each.fault is not None:
                envelope = fail(envelope, each.fault.isNotNull(), each.fault)
        about = {each.name: each.found for each in computed if each.about}
        envelope = with_meta(envelope, about)
        data = [each for each in computed if not each.about]
        return envelope.replace(value=self._value(about.get(_VALUE), data))

    def _filtered(self, envelope: Envelope) -> Envelope:
        from pyspark.sql import functions as F

        from penstock.columns.catalyst import attempt, column_of
        from penstock.columns.faults import fail

        if self._select.condition is None:
            return envelope
        condition = column_of(self._select.condition, self._scope.column)
        if _types(self._envelope, [condition])[0].dataType.simpleString() != "boolean":
            raise DataError("the WHERE condition of the query is not a boolean")
        tried = attempt(F.struct(condition.alias("holds")))
        envelope = fail(envelope, tried.isNull(), "WHERE of the query can't be computed")
        return envelope.replace(keep=F.coalesce(tried.getField("holds"), tried.isNull()))

    def _computed(self) -> list[_Computed]:
        """The columns of the result; of two with one name the later, in the first's place."""
        found: dict[tuple[str, bool], _Computed] = {}
        items: list[tuple[str, Item | None]] = list(self._items())
        types = iter(_types(self._envelope, [self._sql(item) for _, item in items if item]))
        for name, item in items:
            if item is None:
                found[name, False] = _Computed(name, self._scope.data((_VALUE, name)))
            else:
                kind = next(types)
                made = self._kept(item) or self._made(item, kind)
                about = _is_about(name)
                made = replace(made, name=name.lower() if about else name, about=about)
                found[made.name, about] = made
        return list(found.values())

    def _items(self) -> Iterator[tuple[str, Item | None]]:
        from penstock.columns.catalyst import Star

        for item in self._select.items:
            if not isinstance(item, Star):
                yield item.name, item
                continue
            for field in self._scope.fields:
                if field.name not in item.without:
                    yield field.name, None

    def _sql(self, item: Item) -> Column:
        from penstock.columns.catalyst import column_of

        return column_of(item.tree, self._scope.column)

    def _kept(self, item: Item) -> _Computed | None:
        """A name alone: the data keeps its value and schema."""
        from penstock.transforms.sql.scope import ABOUT

        if item.path is None or item.path[0].lower() in ABOUT:
            return None
        return _Computed(item.name, self._scope.data(item.path))

    def _made(self, item: Item, kind: Any) -> _Computed:
        from pyspark.sql import functions as F

        from penstock.columns.catalyst import attempt
        from penstock.transforms.sql.results import in_flight
        from penstock.transforms.sql.scope import Found

        made = in_flight(item.name, kind.dataType, self._sql(item), optional=kind.nullable)
        tried = attempt(F.struct(made.column.alias("made")))
        fault = F.when(tried.isNull(), F.lit(f"{item.text} AS {item.name} can't be computed"))
        return _Computed(item.name, Found(made.schema, tried.getField("made")), fault)

    def _value(self, whole: Found | None, data: Sequence[_Computed]) -> Part:
        value = self._envelope.value
        if whole is not None:
            if data:
                raise DataError(f"{_VALUE} is the whole value; select no other fields beside it")
            return Part(whole.column, whole.schema)
        if not data and not self._left_out():
            return value  # Only the routing of the record changes.
        return self._object(data) if value.schema is None else self._struct(data, value.schema)

    def _struct(self, data: Sequence[_Computed], schema: Schema) -> Part:
        from penstock.transforms.structs import copied_schema, struct_of

        for each in data:
            if each.found.schema is None:
                raise DataError(f"{each.name} has no schema; use CAST({each.name} AS …)")
        fields = [Field(each.name, each.found.schema) for each in data if each.found.schema]
        base = schema if schema.type is SchemaType.STRUCT else Schema(SchemaType.STRUCT)
        columns = [(each.name, each.found.column) for each in data]
        present = self._envelope.value.column.isNotNull()
        return Part(struct_of(present, columns), copied_schema(base, fields))

    def _object(self, data: Sequence[_Computed]) -> Part:
        """Data without a schema: an object without one; with * added to the old members."""
        from pyspark.sql import functions as F

        from penstock.columns.catalyst import Star
        from penstock.columns.opened import new_map, with_members, without_members
        from penstock.transforms.requirements import is_map, is_null

        value = self._envelope.value
        found = new_map(~is_null(value), {})
        if any(isinstance(each, Star) for each in self._select.items):
            column = F.when(is_map(value), value.column).otherwise(found.column)
            found = replace(found, column=column)
        found = without_members(found, self._left_out())
        return with_members(found, {each.name: _as_variant(each.found) for each in data})

    def _left_out(self) -> list[str]:
        from penstock.columns.catalyst import Star

        stars = [each for each in self._select.items if isinstance(each, Star)]
        return [name for star in stars for name in star.without]


class _NullOutput(_Output):
    """One SELECT, for records without a value."""

    def _sql(self, item: Item) -> Column:
        from pyspark.sql import functions as F

        from penstock.transforms.sql.meta import META_TYPES

        # An untyped null gets the required type.
        column, wanted = super()._sql(item), META_TYPES.get(item.name.lower())
        return column if wanted is None else F.coalesce(column, F.lit(None).cast(wanted.sql))

    def _kept(self, item: Item) -> _Computed | None:
        return super()._kept(item) if item.name.lower() in ("_key", _VALUE) else None


def _is_about(name: str) -> bool:
    return name.lower() in (*_META, _VALUE)


def _without_fields(select: Select) -> Select:
    """The SELECT for a record whose value stays null: without its fields."""
    from penstock.columns.catalyst import Item

    about = [each for each in select.items if isinstance(each, Item) and _is_about(each.name)]
    return replace(select, items=tuple(about))


def _types(envelope: Envelope, columns: Sequence[Column]) -> list[Any]:
    """The fields of a frame of these columns; runs no Spark job.

    Raises:
        DataError: SQL can't compute them from such records.
    """
    from penstock.columns.catalyst import analysed

    try:
        return analysed(columns, _row_type(envelope))
    except DataError as error:
        if "VARIANT" not in str(error):
            raise
        hint = "data without a schema has no types; set them by CAST(… AS DOUBLE)"
        raise DataError(f"{hint}. {error}") from error


def _row_type(envelope: Envelope) -> Any:
    from pyspark.sql import types as T

    from penstock.columns.types import spark_type
    from penstock.transforms.sql.results import nullable_type

    header = T.StructType().add("key", T.StringType()).add("value", T.BinaryType())
    row = (
        T.StructType()
        .add("topic", T.StringType(), nullable=False)
        .add("partition", T.IntegerType())
        .add("offset", T.LongType())
        .add("timestamp", T.LongType())
        .add("headers", T.ArrayType(header))
    )
    for name, part in (("key", envelope.key), ("value", envelope.value)):
        schema = part.schema
        # A tombstone has no value, but nothing is computed from it either.
        nullable = schema is None or schema.optional or name == "key"
        row.add(name, nullable_type(schema, spark_type(schema)), nullable=nullable)
    return row


def _as_variant(found: Found) -> Column:
    from pyspark.sql import functions as F

    if found.schema is None:
        return found.column
    if found.schema.type in (SchemaType.STRUCT, SchemaType.MAP, SchemaType.ARRAY):
        return F.to_variant_object(found.column)
    return found.column.cast("variant")
