"""How far connectors are, for operators: show it, set it, go back, and undo that."""

from penstock.offsets.journal import Entry, Journal
from penstock.offsets.models import ChangeError, Held, Kind, Move, Outcome, Place, Via
from penstock.offsets.offsets import DEFAULT_TOPIC, Offsets, Plan
from penstock.offsets.showing import Shown
from penstock.offsets.wishes import Wish, put_back, reset, rewind, set_sink, set_source

__all__ = [
    "DEFAULT_TOPIC",
    "ChangeError",
    "Entry",
    "Held",
    "Journal",
    "Kind",
    "Move",
    "Offsets",
    "Outcome",
    "Place",
    "Plan",
    "Shown",
    "Via",
    "Wish",
    "put_back",
    "reset",
    "rewind",
    "set_sink",
    "set_source",
]
