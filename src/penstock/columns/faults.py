"""The fault of a row: null while it is good, else a text that says what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from penstock.api.envelope import Part

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.api.envelope import Envelope
    from penstock.api.plugin import Side
    from penstock.data.schema import Schema


@dataclass(frozen=True, slots=True)
class Outcome:
    """A new value for each row; `fault` says why there is none, and is null where there is."""

    value: Column
    fault: Column | None = None


def fail(envelope: Envelope, condition: Column, message: Column | str) -> Envelope:
    """Mark the rows that meet the condition as faulty; a fault they had already stays."""
    text = F.lit(message) if isinstance(message, str) else message
    return envelope.replace(fault=F.coalesce(envelope.fault, F.when(condition, text)))


def fail_by(envelope: Envelope, outcome: Outcome) -> Envelope:
    """Mark the rows whose outcome is a fault."""
    if outcome.fault is None:
        return envelope
    return envelope.replace(fault=F.coalesce(envelope.fault, outcome.fault))


def with_outcome(
    envelope: Envelope, side: Side, outcome: Outcome, schema: Schema | None
) -> Envelope:
    """The outcome as the new key or value."""
    return fail_by(envelope, outcome).with_part(side, Part(outcome.value, schema))
