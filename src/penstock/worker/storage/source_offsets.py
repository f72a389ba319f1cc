"""Source offsets: in memory, in the standalone worker's file, in the offsets topic."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.kafka.clients import Admin, LogRecord
from penstock.kafka.compacted_log import CompactedLog, LogEvents
from penstock.kafka.topics import InternalTopic, ensure_internal_topic
from penstock.kernel.clock import Clock, Deadline
from penstock.kernel.errors import StorageError
from penstock.machine.files import replace_file
from penstock.worker.storage.java_json import canonical, decode, encode
from penstock.worker.storage.java_objects import dump_map, load_map

log = logging.getLogger(__name__)

Partition = Mapping[str, Any]
Offset = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Entry:
    """One stored offset with its bytes as they were last seen."""

    key: bytes
    value: bytes
    partition: Partition
    offset: Offset
    timestamp: int = 0


class OffsetIndex:
    """Offsets by connector and partition; equal partitions are one, whatever their bytes.

    Connect finds an offset by the bytes of its key, which depend on the order of a Java map. So
    the index reuses the bytes last read for a partition.
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], _Entry] = {}
        self._keys: dict[tuple[str, str], bytes] = {}
        self._lock = threading.Lock()

    def get(self, connector: str, partition: Partition) -> Offset | None:
        with self._lock:
            entry = self._entries.get((connector, canonical(partition)))
        return None if entry is None else entry.offset

    def all(self, connector: str) -> list[tuple[Partition, Offset]]:
        with self._lock:
            found = [
                (name, entry)
                for (owner, name), entry in self._entries.items()
                if owner == connector
            ]
        found.sort(key=lambda item: item[0])
        return [(entry.partition, entry.offset) for _, entry in found]

    def key_for(self, connector: str, partition: Partition) -> bytes:
        """The bytes of the key for this partition."""
        with self._lock:
            known = self._keys.get((connector, canonical(partition)))
        return known or encode([connector, partition])

    def apply(self, key: bytes, value: bytes | None, timestamp: int = 0) -> None:
        """Apply one stored record; log a warning and skip it if it is not an offset."""
        parsed = _parse(key, value)
        if parsed is None:
            return
        connector, partition, offset = parsed
        name = (connector, canonical(partition))
        with self._lock:
            known = self._entries.get(name)
            if known is not None and known.key != key and known.timestamp > timestamp:
                return  # An older record of the same partition in other bytes.
            self._keys[name] = key
            if offset is None or value is None:
                self._entries.pop(name, None)
            else:
                self._entries[name] = _Entry(key, value, partition, offset, timestamp)

    def stored(self) -> dict[bytes, bytes]:
        """Every key and value, as bytes to store."""
        with self._lock:
            return {entry.key: entry.value for entry in self._entries.values()}


def _parse(key: bytes, value: bytes | None) -> tuple[str, Partition, Offset | None] | None:
    try:
        name = decode(key)
        offset = None if value is None else decode(value)
    except ValueError:
        log.warning("Skipped an offset that is not JSON: %r", key)
        return None
    if not (isinstance(name, list) and len(name) == 2 and isinstance(name[0], str)):
        log.warning("Skipped an offset whose key is not [connector, partition]: %r", key)
        return None
    if not isinstance(name[1], dict) or not isinstance(offset, dict | None):
        log.warning("Skipped an offset that is not a map: %r", key)
        return None
    return name[0], name[1], offset


Offsets = Sequence[tuple[Partition, Offset | None]]


def _records(
    index: OffsetIndex, connector: str, offsets: Offsets
) -> list[tuple[bytes, bytes | None]]:
    return [
        (index.key_for(connector, partition), None if offset is None else encode(offset))
        for partition, offset in offsets
    ]


def _apply(index: OffsetIndex, records: Iterable[tuple[bytes, bytes | None]]) -> None:
    for key, value in records:
        index.apply(key, value)


class FileOffsetStore:
    """The file of `offset.storage.file.filename`, in the format of Connect's standalone worker.

    Each put writes a whole new file beside the old one and then renames it, so a crash leaves
    either the old file or the new one, never half of one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._index = OffsetIndex()
        self._writing = threading.Lock()

    def start(self, deadline: Deadline) -> None:
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            data = b""
        except OSError as error:
            raise StorageError(f"can't read the offsets in {self._path}: {error}") from error
        if not data:  # As in Connect, an empty file has no offsets.
            return
        try:
            entries = load_map(data)
        except StorageError as error:
            raise StorageError(
                f"can't read the offsets in {self._path}: {error}. Move the file away to start "
                "without offsets, or set offset.storage.file.filename to the right one"
            ) from error
        _apply(self._index, entries.items())

    def get(self, connector: str, partition: Partition) -> Offset | None:
        return self._index.get(connector, partition)

    def all(self, connector: str) -> list[tuple[Partition, Offset]]:
        return self._index.all(connector)

    def refresh(self, deadline: Deadline) -> None:
        return

    def put(self, connector: str, offsets: Offsets, deadline: Deadline) -> None:
        with self._writing:
            records = _records(self._index, connector, offsets)
            stored = {**self._index.stored(), **dict(records)}
            kept = {key: value for key, value in stored.items() if value is not None}
            self._write(dump_map(kept))
            # Readers see it only now that it is stored.
            _apply(self._index, records)

    def _write(self, data: bytes) -> None:
        try:
            replace_file(self._path, data)
        except OSError as error:
            raise StorageError(f"can't write the offsets to {self._path}: {error}") from error

    def close(self) -> None:
        return


class KafkaOffsetStore:
    """The offsets topic, in Connect's bytes."""

    def __init__(
        self,
        topic: InternalTopic,
        properties: Mapping[str, str],
        admin: Admin,
        *,
        clock: Clock | None = None,
    ) -> None:
        self._topic = topic
        self._admin = admin
        self._index = OffsetIndex()
        self._log = CompactedLog(
            topic.spec.name, properties, admin, LogEvents(self._read), clock=clock
        )

    def start(self, deadline: Deadline) -> None:
        """Create the topic if it is missing, and read it."""
        ensure_internal_topic(self._admin, self._topic, deadline)
        self._log.start(deadline)

    def get(self, connector: str, partition: Partition) -> Offset | None:
        return self._index.get(connector, partition)

    def all(self, connector: str) -> list[tuple[Partition, Offset]]:
        return self._index.all(connector)

    def refresh(self, deadline: Deadline) -> None:
        self._log.read_to_end(deadline)

    def put(self, connector: str, offsets: Offsets, deadline: Deadline) -> None:
        written = self._log.append(_records(self._index, connector, offsets), deadline)
        self._log.wait_for(written, deadline)

    def close(self) -> None:
        self._log.close()

    def _read(self, record: LogRecord) -> None:
        if record.key is not None:
            self._index.apply(record.key, record.value, record.timestamp)
