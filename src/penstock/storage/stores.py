"""The stores of a worker, put together from its properties."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from penstock.clock import Clock, Deadline
from penstock.kafka.clients import Admin
from penstock.kafka.topics import CONFIGS, OFFSETS, STATUSES, internal_topic
from penstock.storage.configs import ConfigEvents, KafkaConfigStore, MemoryConfigStore
from penstock.storage.offsets import FileOffsetStore, KafkaOffsetStore
from penstock.storage.ports import ConfigStore, OffsetStore, StatusStore
from penstock.storage.statuses import KafkaStatusStore, MemoryStatusStore


@dataclass(frozen=True, slots=True)
class Stores:
    """Everything a worker remembers."""

    configs: ConfigStore
    statuses: StatusStore
    offsets: OffsetStore

    def start(self, deadline: Deadline) -> None:
        """Create what is missing and read everything; closes again what it opened on failure."""
        with ExitStack() as opened:
            for store in (self.offsets, self.configs, self.statuses):
                opened.callback(store.close)
                store.start(deadline)
            opened.pop_all()

    def close(self) -> None:
        """The statuses last: others still report while they stop."""
        with ExitStack() as closing:
            for store in (self.statuses, self.configs, self.offsets):
                closing.callback(store.close)


def distributed_stores(
    worker: Mapping[str, str],
    client: Mapping[str, str],
    admin: Admin,
    *,
    events: ConfigEvents | None = None,
    clock: Clock | None = None,
) -> Stores:
    """The three topics that a distributed worker's properties name, reached as `client` says."""
    return Stores(
        KafkaConfigStore(
            internal_topic(worker, CONFIGS), client, admin, events=events, clock=clock
        ),
        KafkaStatusStore(internal_topic(worker, STATUSES), client, admin, clock=clock),
        KafkaOffsetStore(internal_topic(worker, OFFSETS), client, admin, clock=clock),
    )


def standalone_stores(offsets: Path) -> Stores:
    """The offset file of a standalone worker; the rest lasts as long as the process."""
    return Stores(MemoryConfigStore(), MemoryStatusStore(), FileOffsetStore(offsets))
