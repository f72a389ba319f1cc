"""Java's conversions between numbers, and from texts to numbers, as columns.

None of them throws, whether Spark's ANSI mode is on or off.
"""

from __future__ import annotations

import unicodedata
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from penstock.columns.types import SPARK_TYPES
from penstock.kernel.data.schema import SchemaType

if TYPE_CHECKING:
    from pyspark.sql import Column

_BITS: Final = {
    SchemaType.INT8: 8,
    SchemaType.INT16: 16,
    SchemaType.INT32: 32,
    SchemaType.INT64: 64,
}
INTEGERS: Final = frozenset(_BITS)
FLOATS: Final = frozenset({SchemaType.FLOAT32, SchemaType.FLOAT64})

LEAST_LONG: Final = -(2**63)
GREATEST_LONG: Final = 2**63 - 1
_LEAST_INT: Final = -(2**31)
_GREATEST_INT: Final = 2**31 - 1
_WORD: Final = Decimal(2**64)
_INTEGER: Final = r"\A[+-]?[0-9]+\z"
# What Double.parseDouble() takes for no number, while Spark would; trim() takes off all up to " ".
_SPACE: Final = r"[\x00-\x20]*"
_SPARKS_OWN: Final = rf"(?i)\A{_SPACE}[+-]?(inf|infinity|nan){_SPACE}\z"
_JAVAS: Final = rf"\A{_SPACE}[+-]?(Infinity|NaN){_SPACE}\z"


def long_of_float(value: Column) -> Column:
    """(long) of a float or a double: towards zero, the nearest long if there is none, NaN is 0."""
    return (
        F.when(F.isnan(value), F.lit(0).cast("bigint"))
        .when(value >= float(2**63), F.lit(GREATEST_LONG))
        .when(value < float(LEAST_LONG), F.lit(LEAST_LONG))
        .otherwise(value.try_cast("bigint"))
    )


def long_of_decimal(value: Column) -> Column:
    """BigDecimal.longValue(): towards zero, then the lowest 64 bits."""
    whole = F.when(value < 0, F.ceil(value)).otherwise(F.floor(value))
    word = F.lit(_WORD)
    rest = whole.cast("decimal(38,0)") % word
    lowest = (
        F.when(rest > GREATEST_LONG, rest - word)
        .when(rest < LEAST_LONG, rest + word)
        .otherwise(rest)
    )
    return F.coalesce(value.try_cast("bigint"), lowest.try_cast("bigint"))


def narrowed(value: Column, target: SchemaType) -> Column:
    """The lowest bits of a bigint, as the integer type of that many bits."""
    spare = 64 - _BITS[target]
    if not spare:
        return value
    return F.shiftright(F.shiftleft(value, spare), spare).cast(SPARK_TYPES[target])


def int_of_float(value: Column, target: SchemaType) -> Column:
    """A float or a double as one of the integer types; those below int are cut off an int."""
    whole = long_of_float(value)
    if target is SchemaType.INT64:
        return whole
    limited = F.greatest(F.least(whole, F.lit(_GREATEST_INT)), F.lit(_LEAST_INT))
    # greatest() and least() pass over nulls.
    return narrowed(F.when(value.isNotNull(), limited.cast("bigint")), target)


def parsed_integer(text: Column, target: SchemaType) -> Column:
    """Integer.parseInt() and similar; null if the text is not such a number."""
    digits = ascii_digits(text)
    return F.when(digits.rlike(_INTEGER), digits.try_cast(SPARK_TYPES[target]))


def parsed_float(text: Column, target: SchemaType) -> Column:
    """Double.parseDouble() or Float.parseFloat(); null if the text is not a number."""
    wrong = text.rlike(_SPARKS_OWN) & ~text.rlike(_JAVAS)
    return F.when(~wrong, text.try_cast(SPARK_TYPES[target]))


def ascii_digits(text: Column) -> Column:
    """The text with the digits of all scripts as those that Spark reads; Java reads them all."""
    foreign, plain = _digits()
    return F.when(text.rlike(r"[^\x00-\x7f]"), F.translate(text, foreign, plain)).otherwise(text)


@cache
def _digits() -> tuple[str, str]:
    # Java looks at one char at a time, so digits beyond the first plane are none.
    found = [char for char in map(chr, range(0x80, 0x10000)) if unicodedata.category(char) == "Nd"]
    return "".join(found), "".join(str(unicodedata.decimal(char)) for char in found)


def int_value(text: Column) -> Column:
    """Number.intValue() of digits: the lowest bits of a long, the nearest int if it is none."""
    number = ascii_digits(text).try_cast("bigint")
    beyond = F.when(text.startswith("-"), F.lit(_LEAST_INT)).otherwise(F.lit(_GREATEST_INT))
    return F.coalesce(narrowed(number, SchemaType.INT32), F.when(text.isNotNull(), beyond))


def times_saturated(value: Column, factor: int) -> Column:
    """TimeUnit's multiplication: too large numbers become the largest."""
    limit = GREATEST_LONG // factor
    return (
        F.when(value > limit, F.lit(GREATEST_LONG))
        .when(value < -limit, F.lit(LEAST_LONG))
        .otherwise(value * factor)
    )
