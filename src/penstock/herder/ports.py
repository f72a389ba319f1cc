"""The worker as the herder sees it (moved to penstock.worker_port; import it from there)."""

from penstock.worker_port import (
    PartitionOffset,
    State,
    TargetState,
    Worker,
    WorkerEvents,
)

__all__ = ["PartitionOffset", "State", "TargetState", "Worker", "WorkerEvents"]
