"""Headers of records in flight: an array of names and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column

    from penstock.api.envelope import Envelope


def appended(envelope: Envelope, headers: Sequence[tuple[str, Column]]) -> Envelope:
    """The record with more headers: names, and bytes from a header converter."""
    from pyspark.sql import functions as F

    from penstock.columns.faults import fail

    for _, raw in headers:
        envelope = fail(envelope, raw.getField("error").isNotNull(), raw.getField("error"))
    added = F.array(
        *[
            F.struct(F.lit(name).alias("key"), raw.getField("data").alias("value"))
            for name, raw in headers
        ]
    )
    whole = F.concat(F.coalesce(envelope.headers, F.array().cast(_TYPE)), added)
    return envelope.replace(headers=whole)


_TYPE = "array<struct<key:string,value:binary>>"
