"""Shared by all converters: the form of their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column


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
