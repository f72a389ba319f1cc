"""The stores of a worker, put together from its properties."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from penstock.clock import Clock, Deadline
from penstock.errors import ConfigError
from penstock.kafka.clients import Admin
from penstock.kafka.options import Role, client_properties
from penstock.kafka.topics import CONFIGS, OFFSETS, STATUSES, internal_topic
from penstock.storage.configs import ConfigEvents, KafkaConfigStore, MemoryConfigStore
from penstock.storage.offsets import FileOffsetStore, KafkaOffsetStore, MemoryOffsetStore
from penstock.storage.ports import ConfigStore, OffsetStore, StatusStore
from penstock.storage.statuses import KafkaStatusStore, MemoryStatusStore

_FILE_KEY = "offset.storage.file.filename"


@dataclass(frozen=True, slots=True)
class Stores:
    """Everything a worker remembers, and the administration client it shares."""

    offsets: OffsetStore
    configs: ConfigStore
    statuses: StatusStore
    admin: Admin

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
            closing.callback(self.admin.close)
            for store in (self.statuses, self.configs, self.offsets):
                closing.callback(store.close)


def distributed_stores(
    worker: Mapping[str, str], *, events: ConfigEvents | None = None, clock: Clock | None = None
) -> Stores:
    """The three topics of a distributed worker."""
    properties = client_properties(worker)
    admin = Admin(client_properties(worker, Role.ADMIN))
    return Stores(
        KafkaOffsetStore(internal_topic(worker, OFFSETS), properties, admin, clock=clock),
        KafkaConfigStore(
            internal_topic(worker, CONFIGS), properties, admin, events=events, clock=clock
        ),
        KafkaStatusStore(internal_topic(worker, STATUSES), properties, admin, clock=clock),
        admin,
    )


def standalone_stores(worker: Mapping[str, str], *, events: ConfigEvents | None = None) -> Stores:
    """The offset file of a standalone worker; the rest lasts as long as the process."""
    path = worker.get(_FILE_KEY, "").strip()
    if not path:
        message = f'Missing required configuration "{_FILE_KEY}" which has no default value.'
        raise ConfigError(message, {_FILE_KEY: (message,)})
    return Stores(
        FileOffsetStore(Path(path)),
        MemoryConfigStore(events),
        MemoryStatusStore(),
        Admin(client_properties(worker, Role.ADMIN)),
    )


def memory_stores(worker: Mapping[str, str]) -> Stores:
    """Nothing outlives the process; for tests and trials."""
    return Stores(
        MemoryOffsetStore(),
        MemoryConfigStore(),
        MemoryStatusStore(),
        Admin(client_properties(worker, Role.ADMIN)),
    )
