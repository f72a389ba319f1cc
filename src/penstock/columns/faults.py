"""The fault of a row: null while it is good, else a text that says what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.api.envelope import Envelope


def fail(envelope: Envelope, condition: Column, message: Column | str) -> Envelope:
    """Mark the rows that meet the condition as faulty; a fault they had already stays."""
    text = F.lit(message) if isinstance(message, str) else message
    return envelope.replace(fault=F.coalesce(envelope.fault, F.when(condition, text)))
