"""What a herder works with, and what the worker's settings say to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from penstock.kernel.clock import Clock, Deadline
from penstock.kernel.logs import ConnectorLogs
from penstock.plugins import Plugins
from penstock.worker.herder.reports import WorkerReports
from penstock.worker.herder.status_writer import Identity
from penstock.worker.herder.writes import Validation
from penstock.worker.interface import Worker
from penstock.worker.storage.stores import Stores


@dataclass(frozen=True, slots=True, kw_only=True)
class HerderOptions:
    """What the worker's settings say to the herder."""

    graceful_stop_seconds: float = 5.0
    track_topics: bool = True
    allow_topic_reset: bool = True
    commit: str = "penstock"


@dataclass(frozen=True, slots=True, kw_only=True)
class HerderParts:
    """What a herder works with.

    Attributes:
        reports: what the worker reports, until the herder listens.
        cluster_id: asks Kafka who it is.
    """

    worker: Worker
    reports: WorkerReports
    stores: Stores
    plugins: Plugins
    validation: Validation
    identity: Identity
    cluster_id: Callable[[Deadline], str | None]
    clock: Clock
    logs: ConnectorLogs = field(default_factory=ConnectorLogs)
