"""What the tests of the storage share."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.kafka.clients import Admin
from penstock.testing.waiting import soon
from penstock.worker.storage.configs import ConfigEvents
from penstock.worker.storage.stores import Stores, distributed_stores


def worker_properties(kafka: str, name: str) -> dict[str, str]:
    """The properties a distributed worker needs to find its topics."""
    return {
        "bootstrap.servers": kafka,
        "group.id": name,
        "config.storage.topic": f"{name}-configs",
        "config.storage.replication.factor": "1",
        "offset.storage.topic": f"{name}-offsets",
        "offset.storage.replication.factor": "1",
        "offset.storage.partitions": "5",
        "status.storage.topic": f"{name}-status",
        "status.storage.replication.factor": "1",
    }


def stores_of(worker: Mapping[str, str], events: ConfigEvents | None = None) -> Stores:
    """The stores that these properties name, read to their ends."""
    client = {"bootstrap.servers": worker["bootstrap.servers"]}
    stores = distributed_stores(worker, client, Admin(client), events=events)
    for store in (stores.offsets, stores.configs, stores.statuses):
        store.start(soon())
    return stores


def close(stores: Stores) -> None:
    for store in (stores.offsets, stores.configs, stores.statuses):
        store.close()
