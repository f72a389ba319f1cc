"""Decimals as the bytes of their digits, whatever the precision Python computes with."""

from __future__ import annotations

from decimal import Decimal

from penstock.kernel.errors import DataError


def unscaled_bytes(value: Decimal, scale: int) -> bytes:
    """The fewest bytes of two's complement that hold a decimal's digits."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or exponent < -scale:
        raise DataError(f"Decimal {value} has more than {scale} digits after the point")
    number: int = int("".join(map(str, digits))) * 10 ** (exponent + scale)
    number = -number if sign else number
    size = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return number.to_bytes(size, "big", signed=True)


def decimal_of(raw: bytes, scale: int) -> Decimal:
    """The decimal whose digits these bytes are."""
    number = int.from_bytes(raw, "big", signed=True)
    return Decimal((number < 0, tuple(map(int, str(abs(number)))), -scale))
