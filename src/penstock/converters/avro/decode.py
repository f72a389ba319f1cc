"""Whole columns of Avro as Connect data: expressions around Spark's from_avro."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, reduce
from operator import or_
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from penstock.codecs.avro.fit import Fit
from penstock.codecs.avro.model import Kind
from penstock.codecs.avro.read import NULL_KEY
from penstock.columns.faults import Outcome
from penstock.columns.types import spark_type
from penstock.converters.avro.spark_schema import DATA, HEAD
from penstock.kernel.data.schema import SchemaType

if TYPE_CHECKING:
    from pyspark.sql import Column

_SMALL: Final = {SchemaType.INT8: (24, "tinyint"), SchemaType.INT16: (16, "smallint")}


def decode(fit: Fit, raw: Column, schema: str, problem: str) -> Outcome:
    """The data of messages; `problem` is the fault of bytes that can't be read."""
    read = from_avro(raw, schema, {"mode": "PERMISSIVE"})
    # Unreadable bytes become a message of nulls, and every good one has a head.
    broken = raw.isNotNull() & read.getField(HEAD).isNull()
    fault = F.when(broken, F.lit(problem))
    data = read.getField(DATA)
    if not (null_keys := list(_null_keys(fit, data))):
        return Outcome(_shaped(fit, data), fault)
    bad = reduce(or_, null_keys)
    return Outcome(F.when(~bad, _shaped(fit, data)), fault.when(bad, F.lit(NULL_KEY)))


def _shaped(fit: Fit, data: Column) -> Column:
    """The result of from_avro() in the form of the Connect schema."""
    if _is_shaped(fit):
        return data
    match fit.type.kind:
        case Kind.RECORD:
            fields = [
                _shaped(each.fit, data.getField(each.name)).alias(each.source or each.name)
                for each in fit.fields
            ]
            return F.when(data.isNotNull(), F.struct(*fields))
        case Kind.UNION:
            return F.when(data.isNotNull(), _branches(fit, data))
        case Kind.ARRAY | Kind.MAP:
            return _container(fit, data)
    if fit.schema.is_decimal:
        return data.cast(spark_type(fit.schema))
    # Java keeps the low bits; a cast would throw.
    bits, name = _SMALL[fit.schema.type]
    return F.shiftright(F.shiftleft(data, bits), bits).cast(name)


def _is_shaped(fit: Fit) -> bool:
    match fit.type.kind:
        case Kind.RECORD:
            return all(_is_shaped(each.fit) for each in fit.fields)
        case Kind.UNION:
            return False
        case Kind.ARRAY | Kind.MAP:
            return fit.keys is None and _is_shaped(fit.item)
        case Kind.INT:
            return fit.schema.type not in _SMALL
    return not (fit.schema.is_decimal and fit.type.kind is Kind.FIXED)


def _branches(fit: Fit, data: Column) -> Column:
    """The struct with a field for each type of a union."""
    return F.struct(
        *[
            _shaped(each.fit, member.getField(DATA)).alias(each.name)
            for each, member in zip(fit.fields, _members(fit, data), strict=True)
        ]
    )


def _members(fit: Fit, data: Column) -> list[Column]:
    if len(fit.fields) == 1:
        return [data]
    return [data.getField(f"member{number}") for number in range(len(fit.fields))]


def _container(fit: Fit, data: Column) -> Column:
    keys, items = fit.keys, fit.item
    if fit.type.kind is Kind.MAP:
        return F.transform_values(data, lambda _, item: _shaped(items, item))
    if keys is None:
        return F.transform(data, lambda item: _shaped(items, item))
    entries = F.transform(
        data,
        lambda entry: F.struct(
            _shaped(keys, entry.getField("key")).alias("key"),
            _shaped(items, entry.getField("value")).alias("value"),
        ),
    )
    return F.map_from_entries(entries)


def _null_keys(fit: Fit, data: Column) -> Iterator[Column]:
    """Where a map has a key that is null, which columns can't hold: true or false."""
    match fit.type.kind:
        case Kind.RECORD:
            for each in fit.fields:
                yield from _null_keys(each.fit, data.getField(each.name))
        case Kind.UNION:
            for each, member in zip(fit.fields, _members(fit, data), strict=True):
                yield from _null_keys(each.fit, member.getField(DATA))
        case Kind.ARRAY if fit.keys is not None:
            yield from _any(data, partial(_entry_null_keys, fit.keys, fit.item))
        case Kind.ARRAY:
            yield from _any(data, partial(_null_keys, fit.item))
        case Kind.MAP:
            yield from _any(F.map_values(data), partial(_null_keys, fit.item))


def _entry_null_keys(keys: Fit, values: Fit, entry: Column) -> Iterator[Column]:
    key = entry.getField("key")
    if keys.null_at is not None:
        yield key.isNull()
    yield from _null_keys(keys, key)
    yield from _null_keys(values, entry.getField("value"))


def _any(array: Column, found: Callable[[Column], Iterator[Column]]) -> Iterator[Column]:
    """Whether one of the items matches; None if none can."""
    if list(found(F.lit(None))):
        bad = F.exists(array, lambda item: reduce(or_, found(item)))
        yield F.coalesce(bad, F.lit(False))
