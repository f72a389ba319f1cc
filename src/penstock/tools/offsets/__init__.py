"""Offsets of connectors, for operators: show, set, rewind, reset and undo.

May import the client, the broker's tools and the formats of worker.storage.
"""

from penstock.tools.offsets.journal import Entry, Journal
from penstock.tools.offsets.models import ChangeError, Kind, Move, Outcome, Place, StoredOffset, Via
from penstock.tools.offsets.offsets import DEFAULT_TOPIC, Offsets, Plan
from penstock.tools.offsets.requests import (
    ChangeRequest,
    put_back,
    reset,
    rewind,
    set_sink,
    set_source,
)
from penstock.tools.offsets.showing import Shown

__all__ = [
    "DEFAULT_TOPIC",
    "ChangeError",
    "ChangeRequest",
    "Entry",
    "Journal",
    "Kind",
    "Move",
    "Offsets",
    "Outcome",
    "Place",
    "Plan",
    "Shown",
    "StoredOffset",
    "Via",
    "put_back",
    "reset",
    "rewind",
    "set_sink",
    "set_source",
]
