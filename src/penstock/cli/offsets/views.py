"""Offsets and changes of them on the screen, and for scripts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.cli.formats import Output, show, show_document
from penstock.cli.output import out, say
from penstock.kernel.times import shown_moment
from penstock.tools.offsets import Entry, Kind, Move, Shown
from penstock.tools.offsets.texts import read_again, shown_offset, shown_partition

_COLUMNS = ("connector", "type", "partition", "offset", "end", "lag", "in_topic", "written")


def held_row(shown: Shown) -> dict[str, Any]:
    """All that is known, for scripts. A missing offset is null."""
    held = shown.held
    row: dict[str, Any] = {
        "connector": shown.connector,
        "type": shown.kind.value,
        "partition": dict(held.partition),
        "offset": None if held.offset is None else dict(held.offset),
    }
    if held.place is not None:
        row["topic_partition"] = held.place.partition
        row["topic_offset"] = held.place.offset
        row["written"] = shown_moment(held.place.written)
    if held.end is not None:
        row |= {"end": held.end, "lag": held.lag}
    return row


def show_held(rows: Sequence[Shown], output: Output) -> None:
    """Offsets of connectors; as JSON one object on each line, as kcat's format option is used."""
    if output is Output.JSON:
        _lines(map(held_row, rows))
    elif output is Output.YAML:
        show_document(list(map(held_row, rows)), output)
    elif rows:
        _table(list(map(_for_people, rows)))
    else:
        say("There are no offsets.")


def _for_people(shown: Shown) -> dict[str, Any]:
    kind, held = shown.kind, shown.held
    place = held.place
    return {
        "connector": shown.connector,
        "type": kind.value,
        "partition": shown_partition(kind, held.partition),
        "offset": shown_offset(kind, held.offset),
        "end": held.end,
        "lag": held.lag,
        # As the tools of Kafka write it: partition, then offset.
        "in_topic": None if place is None else f"{place.partition}@{place.offset}",
        "written": None if place is None else shown_moment(place.written),
    }


def _table(rows: Sequence[Mapping[str, Any]]) -> None:
    filled = [column for column in _COLUMNS if any(row[column] is not None for row in rows)]
    show(rows, Output.TABLE, filled)


def move_row(kind: Kind, move: Move) -> dict[str, Any]:
    """A change of an offset, for scripts."""
    return {
        "partition": dict(move.partition),
        "before": move.before,
        "after": move.after,
        "read_again": read_again(kind, move),
    }


def show_moves(kind: Kind, moves: Sequence[Move], output: Output) -> None:
    """Print the old and new offsets."""
    if output is Output.JSON:
        _lines(move_row(kind, move) for move in moves)
    elif output is Output.YAML:
        show_document([move_row(kind, move) for move in moves], output)
    else:
        show([_move_for_people(kind, move) for move in moves], output)


def _move_for_people(kind: Kind, move: Move) -> dict[str, Any]:
    return {
        "partition": shown_partition(kind, move.partition),
        "from": shown_offset(kind, move.before),
        "to": shown_offset(kind, move.after),
        "read again": read_again(kind, move),
    }


def show_entries(entries: Sequence[Entry], output: Output) -> None:
    """Print the recorded changes."""
    rows = [
        {
            "time": shown_moment(entry.time),
            "action": entry.action,
            "undone": None if entry.undone is None else shown_moment(entry.undone),
            "offsets": len(entry.moves),
        }
        for entry in entries
    ]
    if output is Output.JSON:
        _lines(entry.to_json() for entry in entries)
    elif rows:
        show(rows, output)
    else:
        say("There are no recorded changes.")


def _lines(documents: Iterable[Mapping[str, Any]]) -> None:
    for document in documents:
        out.file.write(json.dumps(document, ensure_ascii=False) + "\n")
