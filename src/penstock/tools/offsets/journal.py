"""Records changes, so that they can be undone: one small file for each connector of a cluster."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from penstock.kernel.errors import StorageError
from penstock.tools.offsets.models import Move
from penstock.tools.offsets.state_files import state_file, state_home, write_state

_MOST_ENTRIES: Final = 20


@dataclass(frozen=True, slots=True)
class Entry:
    """One change. `undone` is the time when it was undone.

    An address may lead to another cluster one day: `cluster_id` is Kafka's own, if known.
    """

    time: int
    action: str
    moves: Sequence[Move]
    undone: int | None = None
    cluster_id: str | None = None

    def to_json(self) -> dict[str, Any]:
        """For the file."""
        return {
            "time": self.time,
            "action": self.action,
            "undone": self.undone,
            "kafka_cluster_id": self.cluster_id,
            "moves": [
                {"partition": move.partition, "before": move.before, "after": move.after}
                for move in self.moves
            ],
        }

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Entry:
        """From the file."""
        moves = [Move(each["partition"], each["before"], each["after"]) for each in found["moves"]]
        return cls(
            int(found["time"]),
            str(found["action"]),
            moves,
            found.get("undone"),
            found.get("kafka_cluster_id"),
        )


class Journal:
    """The changes of connectors, the last twenty of each."""

    def __init__(self, home: Path | None = None) -> None:
        self._home = (home or state_home()) / "offsets"

    def entries(self, cluster: str, connector: str) -> list[Entry]:
        """Its changes, the oldest first.

        Raises:
            StorageError: the file can't be read.
        """
        file = self.file(cluster, connector)
        try:
            document = json.loads(file.read_text(encoding="utf-8"))
            return [Entry.of(each) for each in document["entries"]]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StorageError(
                f"{file}, which records changes of offsets, can't be read: {error}; move it away"
            ) from error

    def add(self, cluster: str, connector: str, entry: Entry) -> None:
        """Record a change."""
        self._write(cluster, connector, [*self.entries(cluster, connector), entry])

    def drop(self, cluster: str, connector: str, entry: Entry) -> None:
        """Remove a change that was not made."""
        kept = [each for each in self.entries(cluster, connector) if each != entry]
        self._write(cluster, connector, kept)

    def mark_undone(self, cluster: str, connector: str, entry: Entry, time: int) -> None:
        """Mark a change as undone: the next undo is for the one before it."""
        marked = [
            replace(each, undone=time) if each == entry else each
            for each in self.entries(cluster, connector)
        ]
        self._write(cluster, connector, marked)

    def last(self, cluster: str, connector: str) -> Entry | None:
        """The last change that was not undone."""
        found = [each for each in self.entries(cluster, connector) if each.undone is None]
        return found[-1] if found else None

    def file(self, cluster: str, connector: str) -> Path:
        """The file with the changes of a connector."""
        return state_file(self._home, cluster, connector)

    def _write(self, cluster: str, connector: str, entries: Sequence[Entry]) -> None:
        file = self.file(cluster, connector)
        document = {
            "connector": connector,
            "entries": [entry.to_json() for entry in entries[-_MOST_ENTRIES:]],
        }
        write_state(file, json.dumps(document, ensure_ascii=False).encode())
