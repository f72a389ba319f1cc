"""The stores of a worker, put together from its properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.kafka.clients import Admin
from penstock.kafka.topics import CONFIGS, OFFSETS, STATUSES, internal_topic
from penstock.kernel.clock import Clock
from penstock.worker.storage.configs import ConfigEvents, KafkaConfigStore, MemoryConfigStore
from penstock.worker.storage.interfaces import ConfigStore, OffsetStore, StatusStore
from penstock.worker.storage.source_offsets import FileOffsetStore, KafkaOffsetStore
from penstock.worker.storage.statuses import KafkaStatusStore, MemoryStatusStore


@dataclass(frozen=True, slots=True)
class Stores:
    """Everything a worker stores."""

    configs: ConfigStore
    statuses: StatusStore
    offsets: OffsetStore


def distributed_stores(
    worker: Mapping[str, str],
    client: Mapping[str, str],
    admin: Admin,
    *,
    events: ConfigEvents | None = None,
    clock: Clock | None = None,
) -> Stores:
    """The three topics of a distributed worker's properties, with `client`'s properties."""
    return Stores(
        KafkaConfigStore(
            internal_topic(worker, CONFIGS), client, admin, events=events, clock=clock
        ),
        KafkaStatusStore(internal_topic(worker, STATUSES), client, admin, clock=clock),
        KafkaOffsetStore(internal_topic(worker, OFFSETS), client, admin, clock=clock),
    )


def standalone_stores(offsets: Path) -> Stores:
    """The offset file of a standalone worker; the rest is in memory."""
    return Stores(MemoryConfigStore(), MemoryStatusStore(), FileOffsetStore(offsets))
