"""Values as text, as Java's toString() writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from penstock.kernel.data.schema import DATE, TIME, TIMESTAMP, Schema, SchemaType, Struct
from penstock.kernel.java.numbers import double_text, float_text

#: The class of a value of each type, as Java's error texts name it.
JAVA_CLASSES: Final = {
    SchemaType.INT8: "java.lang.Byte",
    SchemaType.INT16: "java.lang.Short",
    SchemaType.INT32: "java.lang.Integer",
    SchemaType.INT64: "java.lang.Long",
    SchemaType.FLOAT32: "java.lang.Float",
    SchemaType.FLOAT64: "java.lang.Double",
    SchemaType.BOOLEAN: "java.lang.Boolean",
    SchemaType.STRING: "java.lang.String",
    SchemaType.BYTES: "[B",
    SchemaType.ARRAY: "java.util.ArrayList",
    SchemaType.MAP: "java.util.HashMap",
    SchemaType.STRUCT: "org.apache.kafka.connect.data.Struct",
}

MILLIS_OF_DAY: Final = 86_400_000
_DAYS: Final = ("Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed")
_MONTHS: Final = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip
#: The day Java's calendar changes from Julian to Gregorian dates: 15 October 1582.
GREGORIAN_START: Final = -141_427


def decimal_text(value: Decimal) -> str:
    """BigDecimal.toString(); Python uses another case, and the exponent for other numbers."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # noqa: S101 - a BigDecimal is never infinite
    unscaled = "".join(map(str, digits))
    adjusted = exponent + len(digits) - 1
    if exponent > 0 or adjusted < -6:
        fraction = f".{unscaled[1:]}" if len(unscaled) > 1 else ""
        text = f"{unscaled[0]}{fraction}"
        text += f"E{adjusted:+d}" if adjusted else ""
    elif exponent == 0:
        text = unscaled
    else:
        padded = unscaled.rjust(1 - exponent, "0")
        text = f"{padded[:exponent]}.{padded[exponent:]}"
    return f"-{text}" if sign and value else text


def boolean_text(value: bool) -> str:  # noqa: FBT001 - it is the value itself
    return "true" if value else "false"


def value_text(schema: Schema | None, value: Any) -> str:
    """toString() of a Connect value.

    Dates are in UTC. A byte array becomes its hexadecimal digits (Java prints its address).
    """
    if value is None:
        return "null"
    if isinstance(value, int) and _is_temporal(schema):
        return date_text(_millis(schema, value))
    if isinstance(value, float) and schema is not None and schema.type is SchemaType.FLOAT32:
        return float_text(value)
    if to_text := _TEXTS.get(type(value)):
        return to_text(value)
    return _container_text(schema, value)


def date_text(millis: int) -> str:
    """java.util.Date.toString() in UTC."""
    days, rest = divmod(millis, MILLIS_OF_DAY)
    year, month, day = civil_date(days)
    seconds = rest // 1000
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{_DAYS[days % 7]} {_MONTHS[month - 1]} {day:02d} {clock} UTC {year}"


def civil_date(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day since 1970, in Java's mixed calendar."""
    # Counted from 1 March of year 0, so that a leap day is the last day of its year.
    if days >= GREGORIAN_START:
        era, of_era = divmod(days + 719_468, 146_097)
        year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
        of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
        year = year_of_era + era * 400
    else:
        era, of_era = divmod(days + 719_470, 1461)
        year_of_era = (of_era - of_era // 1460) // 365
        of_year = of_era - 365 * year_of_era
        year = year_of_era + era * 4
    shifted = (5 * of_year + 2) // 153
    day = of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year + (month <= 2), month, day


def epoch_day(year: int, month: int, day: int) -> int:
    """The day since 1970 of a date in Java's mixed calendar; month and day may overflow."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    shifted_year = year - (month <= 2)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5
    start = 365 * shifted_year + shifted_year // 4 + of_year
    gregorian = start - shifted_year // 100 + shifted_year // 400 - 719_468 + day - 1
    return gregorian if gregorian >= GREGORIAN_START else start - 719_470 + day - 1


def _is_temporal(schema: Schema | None) -> bool:
    return schema is not None and schema.name in (DATE, TIME, TIMESTAMP)


def _millis(schema: Schema | None, value: int) -> int:
    return value * MILLIS_OF_DAY if schema is not None and schema.name == DATE else value


def _struct_text(value: Struct) -> str:
    present = (
        f"{field.name}={value_text(field.schema, value.values[field.name])}"
        for field in value.schema.fields
        if value.values.get(field.name) is not None
    )
    return f"Struct{{{','.join(present)}}}"


def _container_text(schema: Schema | None, value: Any) -> str:
    items = schema.value_schema if schema is not None else None
    if isinstance(value, Mapping):
        keys = schema.key_schema if schema is not None else None
        entries = (f"{value_text(keys, k)}={value_text(items, v)}" for k, v in value.items())
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(value_text(items, item) for item in value)}]"
    return str(value)


_TEXTS: Final[Mapping[type, Callable[[Any], str]]] = {
    bool: boolean_text,
    float: double_text,
    Decimal: decimal_text,
    bytes: bytes.hex,
    Struct: _struct_text,
}
