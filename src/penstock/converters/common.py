"""What all converters share: the key that says what a converter is for, and the form of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.config import Config, Importance, Type, key, one_of

if TYPE_CHECKING:
    from pyspark.sql import Column


class ConverterConfig(Config):
    """The worker fills in `converter.type`; users do not write it."""

    converter_type: str = key(
        Type.STRING,
        valid=one_of("key", "value", "header"),
        importance=Importance.LOW,
        doc="Which part of a record this converter is for. The worker sets it.",
    )


def encoded(data: Column, error: Column | None) -> Column:
    """The result of encode(): the bytes where there is no error."""
    from pyspark.sql import functions as F

    if error is None:
        return F.struct(data.alias("data"), F.lit(None).cast("string").alias("error"))
    return F.struct(F.when(error.isNull(), data).alias("data"), error.alias("error"))


def decoded(data: Column, error: Column | None = None, other: Column | None = None) -> Column:
    """The result of decode(). The data must be null already where there is an error."""
    from pyspark.sql import functions as F

    no_error = F.lit(None).cast("string")
    return F.struct(
        data.alias("data"),
        (no_error if error is None else error).alias("error"),
        (F.lit(False) if other is None else other).alias("other"),
    )
