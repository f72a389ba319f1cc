"""The fault of a row: null while it is good, else a text with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from penstock.api.envelope import Part, fail

if TYPE_CHECKING:
    from pyspark.sql import Column

    from penstock.api.envelope import Envelope
    from penstock.api.plugin import Side
    from penstock.kernel.data.schema import Schema

__all__ = ["Outcome", "fail", "fail_by", "with_outcome"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A new value for each row; `fault` says why there is none, and is null where there is."""

    value: Column
    fault: Column | None = None


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
