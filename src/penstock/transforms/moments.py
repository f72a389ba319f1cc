"""Reads and writes timestamps for TimestampConverter, as columns of milliseconds since 1970."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from penstock.columns.faults import Outcome
from penstock.columns.java.calendar import day_of, truncated_div
from penstock.columns.java.casts import GREATEST_LONG, narrowed, times_saturated
from penstock.columns.java.date_format import formatted
from penstock.columns.java.date_parse import matches, parsed
from penstock.columns.let import let
from penstock.kernel.data.schema import DATE, TIME, TIMESTAMP, Schema, SchemaType
from penstock.kernel.errors import DataError
from penstock.kernel.java.to_string import MILLIS_OF_DAY
from penstock.transforms.requirements import java_class, variant_class

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.kernel.java.date_patterns import Piece

#: How many of a unit a millisecond has.
_FINER: Final = {"milliseconds": 1, "microseconds": 1000, "nanoseconds": 1_000_000}
_SECOND: Final = 1000
#: Timestamps of data without a schema are kept in microseconds; a Date may be a day earlier.
_LAST_MILLIS: Final = GREATEST_LONG // 1000 - MILLIS_OF_DAY
_TOO_FAR: Final = "Data without a schema can't hold a timestamp so far from 1970: "
#: The types of timestamps in schema_of_variant(); VOID is null.
_TIMES: Final = ("STRING", "BIGINT", "TIMESTAMP", "VOID")
_NO_FORMAT: Final = (
    'Cannot invoke "java.text.SimpleDateFormat.parse(String)" because "config.format" is null'
)


@dataclass(frozen=True, slots=True)
class MomentConverter:
    """Converts timestamps of any form to the target.

    Attributes:
        pieces: the parsed pattern; None if there is none.
        precision: the unit of numbers.
    """

    target: str
    pattern: str
    pieces: Sequence[Piece] | None
    precision: str

    def typed(self, schema: Schema, value: Column) -> Outcome:
        """Data with a schema.

        Raises:
            DataError: no value of this schema is a timestamp.
        """
        found = self._read(schema, value)
        if schema.type is SchemaType.STRING:
            return Outcome(let(found.value, self._written), found.fault)
        return Outcome(self._written(found.value), found.fault)

    def untyped(self, value: Column) -> Outcome:
        """A VARIANT as another one; a Date of Java is a timestamp there."""
        shown = F.schema_of_variant(value)
        text = F.when(shown == "STRING", F.try_variant_get(value, "$", "string"))
        read = self._of_text(text)
        number = self._of_number(F.try_variant_get(value, "$", "bigint"))
        moment = F.unix_millis(F.try_variant_get(value, "$", "timestamp"))
        millis = (
            F.when(shown == "STRING", read.value)
            .when(shown == "BIGINT", number)
            .when(shown == "TIMESTAMP", moment)
        )
        wrong = F.concat(
            F.lit("TimestampConverter does not support class "),
            variant_class(value),
            F.lit(" objects as timestamps"),
        )
        fault = F.coalesce(
            F.when(shown == "STRING", read.fault),
            F.when(value.isNotNull() & ~shown.isin(*_TIMES), wrong),
            let(millis, self._too_far),
        )
        return Outcome(let(millis, self._untyped_target), fault)

    def _read(self, schema: Schema, value: Column) -> Outcome:
        require_moment(schema)
        if schema.name in (DATE, TIME, TIMESTAMP):
            return _of_moment(schema, value)
        if schema.type is SchemaType.STRING:
            return self._of_text(value)
        return Outcome(self._of_number(value))

    def _of_text(self, text: Column) -> Outcome:
        if self.pieces is None:
            return _nothing(text, _NO_FORMAT)
        wrong = F.concat(
            F.lit("Could not parse timestamp: value ("),
            text,
            F.lit(f") does not match pattern ({self.pattern})"),
        )
        return Outcome(parsed(text, self.pieces), F.when(~matches(text, self.pieces), wrong))

    def _of_number(self, number: Column) -> Column:
        if self.precision == "seconds":
            return times_saturated(number, _SECOND)
        return truncated_div(number, _FINER[self.precision])

    def _written(self, millis: Column) -> Column:
        match self.target:
            case "string" if self.pieces is not None:
                return formatted(millis, self.pieces)
            case "unix":
                return self._number(millis)
            case "Date":
                return narrowed(day_of(millis), SchemaType.INT32)
            case "Time":
                return F.pmod(millis, F.lit(MILLIS_OF_DAY)).cast("int")
        return millis

    def _number(self, millis: Column) -> Column:
        if self.precision == "seconds":
            return truncated_div(millis, _SECOND)
        return times_saturated(millis, _FINER[self.precision])

    def _untyped_target(self, millis: Column) -> Column:
        written = self._written(millis)
        if self.target in ("string", "unix"):
            return written.cast("variant")
        as_millis = written.cast("bigint") * (MILLIS_OF_DAY if self.target == "Date" else 1)
        far = self._too_far(millis).isNotNull()
        return F.timestamp_millis(F.when(~far, as_millis)).cast("variant")

    def _too_far(self, millis: Column) -> Column:
        if self.target not in ("Date", "Timestamp"):
            return F.lit(None).cast("string")
        near = millis.between(-_LAST_MILLIS, _LAST_MILLIS)
        return F.when(~near, F.concat(F.lit(_TOO_FAR), millis.cast("string")))


def require_moment(schema: Schema) -> None:
    """DataError if no value of this schema is a timestamp."""
    known = schema.type in (SchemaType.STRING, SchemaType.INT64)
    if known or schema.name in (DATE, TIME, TIMESTAMP):
        return
    shown = f"{schema.name}:{schema.type.name}" if schema.name else schema.type.name
    raise DataError(
        f"Schema Schema{{{shown}}} does not correspond to a known timestamp type format"
    )


def _of_moment(schema: Schema, value: Column) -> Outcome:
    if schema.is_moment:
        millis = value.cast("bigint")
        return Outcome(millis * MILLIS_OF_DAY if schema.name == DATE else millis)
    kind = str(schema.name).rpartition(".")[2]
    found = java_class(Schema(schema.type))
    return _nothing(value, f"Expected {kind} to be a java.util.Date, but found class {found}")


def _nothing(value: Column, fault: str) -> Outcome:
    return Outcome(F.lit(None).cast("bigint"), F.when(value.isNotNull(), F.lit(fault)))
