"""Floating point numbers as Java writes them: Double.toString() and Float.toString().

They have the fewest digits that identify them, as in Java 19 and later. (An older Java writes
more digits for a few values; Spark's columns do the same as their Java.)
"""

from __future__ import annotations

import math
import struct
from decimal import Decimal


def double_text(value: float) -> str:
    """Double.toString()."""
    return _special(value) or _java_form(value, _shortest_double(abs(value)))


def float_text(value: float) -> str:
    """Float.toString() of a value that is one of Java's floats."""
    return _special(value) or _java_form(value, _shortest_float(abs(value)))


def to_float32(value: float) -> float:
    """The nearest single precision number; infinite if it is too large."""
    try:
        narrowed: float = struct.unpack(">f", struct.pack(">f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return narrowed


def _special(value: float) -> str | None:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return None


def _java_form(value: float, shortest: str) -> str:
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if value == 0:
        return f"{sign}0.0"
    _, digits, exponent = Decimal(shortest).as_tuple()
    text = "".join(map(str, digits)).rstrip("0")
    point = len(digits) + int(exponent)  # the place of the decimal point in the digits
    if point <= -3 or point > 7:
        return f"{sign}{text[0]}.{text[1:] or '0'}E{point - 1}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{text}"
    return f"{sign}{text[:point].ljust(point, '0')}.{text[point:] or '0'}"


def _shortest_double(value: float) -> str:
    # Java compares texts of at least two digits: the smallest double is 4.9E-324, not 5E-324.
    two_digits = f"{value:.1e}"
    return two_digits if float(two_digits) == value else repr(value)


def _shortest_float(value: float) -> str:
    for digits in range(2, 10):
        text = f"{value:.{digits - 1}e}"
        if to_float32(float(text)) == value:
            return text
    return repr(value)
