"""Small expressions over Connect data that JSON needs."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from penstock.columns.types import MAX_DECIMAL_DIGITS
from penstock.kernel.data.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import Column

_WHOLE: Final = spark_types.DecimalType(MAX_DECIMAL_DIGITS, 0)


def children(schema: Schema) -> Iterator[Schema]:
    """The schemas of the fields, or of the items."""
    yield from (each.schema for each in schema.fields)
    yield from (each for each in (schema.key_schema, schema.value_schema) if each is not None)


def unscaled_bytes(data: Column) -> Column:
    """The fewest bytes of two's complement that hold a decimal's digits: BigInteger's form."""
    # All digits stand before the exponent that Java writes for small numbers outside ANSI mode.
    digits = F.replace(F.substring_index(data.cast("string"), "E", 1), F.lit("."), F.lit(""))
    small, large = digits.try_cast("bigint"), digits.try_cast(_WHOLE)
    return F.when(small.isNotNull(), _bytes_of_long(small)).otherwise(_bytes_of_decimal(large))


def _bytes_of_long(number: Column) -> Column:
    return F.call_function("substring", F.unhex(_hex(number, 16)), -_size(number))


def _bytes_of_decimal(number: Column) -> Column:
    """For numbers that need more than eight bytes."""
    low = F.pmod(number, _constant(2**64))
    # div cuts towards zero; two's complement needs the floor.
    floor = F.when((number < 0) & (low != 0), F.lit(1)).otherwise(F.lit(0))
    high = F.call_function("div", number, _constant(2**64)) - floor
    upper = F.call_function("div", low, _constant(2**32))
    lower = F.pmod(low, _constant(2**32)).cast("bigint")
    raw = F.unhex(F.concat(_hex(high, 16), _hex(upper, 8), _hex(lower, 8)))
    return F.call_function("substring", raw, -(_size(high) + 8))


def _hex(number: Column, digits: int) -> Column:
    return F.lpad(F.hex(number), digits, "0")


def _size(number: Column) -> Column:
    """The bytes that a long needs: those of its bits and one for the sign."""
    bits = F.shiftleft(number, 1).bitwiseXOR(F.shiftright(number, 63))
    return F.floor((F.length(F.hex(bits)) + 1) / 2).cast("int")


def _constant(number: int) -> Column:
    return F.lit(Decimal(number)).cast(_WHOLE)
