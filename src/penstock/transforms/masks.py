"""Masks, by the class of the value in Java."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from penstock.kernel.data.schema import Schema
from penstock.kernel.errors import DataError
from penstock.kernel.java.numbers import to_float32
from penstock.transforms.requirements import java_class

_BITS: Final = {
    "java.lang.Byte": 8,
    "java.lang.Short": 16,
    "java.lang.Integer": 32,
    "java.lang.Long": 64,
}
_DECIMAL: Final = "java.math.BigDecimal"
_FLOAT: Final = "java.lang.Float"
_NEUTRAL: Final[Mapping[str, Any]] = {
    **dict.fromkeys(_BITS, 0),
    _FLOAT: 0.0,
    _DECIMAL: Decimal(0),
    "java.lang.Boolean": False,
    "java.lang.Double": 0.0,
    "java.lang.String": "",
    "java.util.ArrayList": [],
    "java.util.Date": 0,
    "java.util.HashMap": {},
}
#: The texts that BigDecimal's constructor accepts; Python's accepts more.
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,9})?")
_MOST_DIGITS: Final = 38


def masked(class_name: str, replacement: str | None) -> Any:
    """The mask of a value of this class.

    Raises:
        DataError: values of this class can't be masked, or not by this replacement.
    """
    if replacement is not None:
        return _replaced(class_name, replacement)
    if class_name not in _NEUTRAL:
        raise DataError(f"Cannot mask value of type: class {class_name}")
    return _NEUTRAL[class_name]


def masked_by_schema(schema: Schema, replacement: str | None) -> Any:
    """As masked(), for values of a schema.

    Raises:
        DataError: also for a replacement with more digits than a Decimal can have here.
    """
    value = masked(java_class(schema), replacement)
    if schema.is_decimal and not _fits(value, schema.scale):
        raise DataError(f"Replacement {replacement} is not a Decimal of scale {schema.scale}")
    return value


def _replaced(class_name: str, text: str) -> Any:
    if class_name == "java.lang.String":
        return text
    if class_name == _DECIMAL:
        return _number(text, "number")
    if class_name not in (*_BITS, _FLOAT, "java.lang.Double"):
        raise DataError(f"Cannot mask value of type class {class_name} with custom replacement.")
    number = _number(text, "a number")
    if class_name in _BITS:
        return _whole(number, _BITS[class_name])
    return to_float32(float(number)) if class_name == _FLOAT else float(number)


def _number(text: str, wanted: str) -> Decimal:
    if not _NUMBER.fullmatch(text):
        raise DataError(f"Unable to convert {text} (class java.lang.String) to {wanted}")
    return Decimal(text)


def _whole(number: Decimal, bits: int) -> int:
    """The lowest bits of the whole part, as a Java cast leaves them."""
    # Ten to the power of 64 has no bits below the 64th; larger powers may be too long to compute.
    if number.adjusted() < 0 or int(number.as_tuple().exponent) >= 64:
        return 0
    half = 1 << (bits - 1)
    return (int(number) + half) % (2 * half) - half


def _fits(number: Decimal, scale: int) -> bool:
    if not number:
        return True
    if not -scale <= number.adjusted() < _MOST_DIGITS - scale:
        return False
    numerator, denominator = number.as_integer_ratio()
    return bool(numerator * 10**scale % denominator == 0)
