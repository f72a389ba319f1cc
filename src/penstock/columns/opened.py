"""Opened maps: data without a schema on its way between transformations that look into it.

To make a VARIANT of a map and a map of a VARIANT costs more than most of what is done to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from penstock.api.envelope import Part

if TYPE_CHECKING:
    from penstock.api.envelope import Envelope


def closed(part: Part) -> Part:
    """The same, as a VARIANT if it is an opened map."""
    return Part(F.to_variant_object(part.column), None) if part.opened else part


def without_opened(envelope: Envelope) -> Envelope:
    """The same record with its opened maps closed."""
    return envelope.replace(key=closed(envelope.key), value=closed(envelope.value))
