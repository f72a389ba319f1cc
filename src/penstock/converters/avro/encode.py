"""Whole columns of Connect data as Avro: expressions around Spark's to_avro."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro

from penstock.codecs.avro.fit import FieldFit, Fit
from penstock.codecs.avro.model import Kind
from penstock.codecs.avro.write import NOT_A_TIME, NULL_FOR_REQUIRED, no_symbol, wrong_size
from penstock.columns.faults import Outcome
from penstock.columns.literals import literal
from penstock.columns.types import MAX_DECIMAL_DIGITS
from penstock.converters.avro.spark_schema import DATA, HEAD, decimal_digits
from penstock.kernel.data.schema import TIME, SchemaType
from penstock.kernel.java.to_string import MILLIS_OF_DAY

if TYPE_CHECKING:
    from pyspark.sql import Column

_WIDER: Final = {Kind.LONG: "bigint", Kind.DOUBLE: "double"}
_NARROW: Final = frozenset({SchemaType.INT8, SchemaType.INT16, SchemaType.INT32})

#: Where something is wrong with a row (true or false, never null), and what.
Fault = tuple["Column", str]


def encode(fit: Fit, data: Column, head: Column, schema: str) -> Outcome:
    """Messages of data that is not null. Where there is a fault they must not be computed."""
    message = F.struct(head.alias(HEAD), _ready(fit, data).alias(DATA))
    return Outcome(to_avro(message, schema), first_of(_faults(fit, data, "", known=True)))


def first_of(faults: Iterator[Fault]) -> Column | None:
    """The text of the first fault that a row has; None if there can be none."""
    found: Column | None = None
    for condition, text in faults:
        found = (F if found is None else found).when(condition, F.lit(text))
    return found


# ---------------------------------------------------------------------------------- the data


def _ready(fit: Fit, data: Column) -> Column:
    """The data in the form to_avro() takes for the type."""
    if _is_ready(fit):
        return data
    match fit.type.kind:
        case Kind.RECORD:
            fields = [_ready(each.fit, _value(each, data)).alias(each.name) for each in fit.fields]
            return F.when(data.isNotNull(), F.struct(*fields))
        case Kind.UNION:
            return F.when(data.isNotNull(), _union(fit, data))
        case Kind.ARRAY | Kind.MAP:
            return _container(fit, data)
    if fit.schema.is_decimal:
        return data.try_cast(f"decimal({decimal_digits(fit.type)},{fit.schema.scale})")
    return data.cast(_WIDER[fit.type.kind])


def _is_ready(fit: Fit) -> bool:
    match fit.type.kind:
        case Kind.RECORD:
            names = [each.name for each in fit.fields]
            return names == [each.name for each in fit.schema.fields] and all(
                each.source == each.name and each.default is None and _is_ready(each.fit)
                for each in fit.fields
            )
        case Kind.UNION:
            return False
        case Kind.ARRAY | Kind.MAP:
            return fit.keys is None and _is_ready(fit.item)
        case Kind.LONG:
            return fit.schema.type not in _NARROW
        case Kind.DOUBLE:
            return fit.schema.type is SchemaType.FLOAT64
    return not (fit.schema.is_decimal and fit.type.kind is Kind.FIXED)


def _value(field: FieldFit, data: Column) -> Column:
    """What is written into a field: the data's own, or the default."""
    if field.source is None:
        return literal(field.fit.schema, field.default)
    value = data.getField(field.source)
    if field.default is None:
        return value
    return F.coalesce(value, literal(field.fit.schema, field.default))


def _union(fit: Fit, data: Column) -> Column:
    values = [data.getField(each.name) for each in fit.fields]
    branches = [
        F.when(value.isNotNull(), F.struct(_ready(each.fit, value).alias(DATA)))
        for each, value in zip(fit.fields, values, strict=True)
    ]
    if len(branches) == 1:
        return branches[0]
    return F.struct(*[each.alias(f"member{number}") for number, each in enumerate(branches)])


def _container(fit: Fit, data: Column) -> Column:
    keys, items = fit.keys, fit.item
    if fit.type.kind is Kind.MAP:
        return F.transform_values(data, lambda _, item: _ready(items, item))
    if keys is None:
        return F.transform(data, lambda item: _ready(items, item))
    return F.transform(
        F.map_entries(data),
        lambda entry: F.struct(
            _ready(keys, entry.getField("key")).alias("key"),
            _ready(items, entry.getField("value")).alias("value"),
        ),
    )


# -------------------------------------------------------------------------------- the faults


def _faults(fit: Fit, data: Column, path: str, *, known: bool = False) -> Iterator[Fault]:
    """Everything that may be wrong. `known`: null is looked after already."""
    if fit.null_at is None and not known:
        yield data.isNull(), NULL_FOR_REQUIRED + _at(path)
    match fit.type.kind:
        case Kind.RECORD:
            for each in fit.fields:
                if each.source is not None:
                    inner = _faults(each.fit, _value(each, data), f"{path}.{each.name}")
                    yield from _within(data, inner)
        case Kind.UNION:
            yield from _within(data, _union_faults(fit, data, path))
        case Kind.ARRAY if fit.keys is None:
            yield from _any(fit.item, data, path)
        case Kind.ARRAY | Kind.MAP:
            if fit.keys is not None:
                yield from _any(fit.keys, F.map_keys(data), path)
            yield from _any(fit.item, F.map_values(data), path)
    for condition, text in _own_faults(fit, data):
        yield F.coalesce(condition, F.lit(False)), text + _at(path)


def _own_faults(fit: Fit, data: Column) -> Iterator[Fault]:
    if fit.type.kind is Kind.ENUM:
        yield ~data.isin(*fit.type.symbols), no_symbol(fit)
    if fit.type.kind is Kind.FIXED:
        if not fit.type.is_decimal:
            yield F.octet_length(data) != fit.type.size, wrong_size(fit)
        elif (digits := decimal_digits(fit.type)) < MAX_DECIMAL_DIGITS:
            limit = Decimal(10) ** (digits - fit.schema.scale)
            yield F.abs(data) >= F.lit(limit), wrong_size(fit)
    if fit.schema.is_moment and fit.schema.name == TIME:
        yield (data < 0) | (data > MILLIS_OF_DAY), NOT_A_TIME


def _union_faults(fit: Fit, data: Column, path: str) -> Iterator[Fault]:
    values = [data.getField(each.name) for each in fit.fields]
    if fit.null_at is None:
        yield reduce(and_, [each.isNull() for each in values]), NULL_FOR_REQUIRED + _at(path)
    for each, value in zip(fit.fields, values, strict=True):
        yield from _within(value, _faults(each.fit, value, f"{path}.{each.name}", known=True))


def _within(data: Column, faults: Iterator[Fault]) -> Iterator[Fault]:
    """Faults of parts, which only count where there is something to have them."""
    for condition, text in faults:
        yield data.isNotNull() & condition, text


def _any(items: Fit, array: Column, path: str) -> Iterator[Fault]:
    """The faults of items: one of the array has it."""
    here = f"{path}[]"
    texts = [text for _, text in _faults(items, F.lit(None), here)]
    for number, text in enumerate(texts):
        bad = F.exists(array, _fault_of_item(items, here, number))
        yield F.coalesce(bad, F.lit(False)), text


def _fault_of_item(items: Fit, path: str, number: int) -> Callable[[Column], Column]:
    return lambda item: list(_faults(items, item, path))[number][0]


def _at(path: str) -> str:
    return f": field {path.removeprefix('.')}" if path else ""
