"""One worker for all tests that leave it as they found it: a Spark start takes its time."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.testing.connect import distributed_properties
from penstock.testing.worker import PenstockWorker

HERE = Path(__file__).parent

JSON = "org.apache.kafka.connect.json.JsonConverter"

FILE_PROVIDER = "org.apache.kafka.common.config.provider.FileConfigProvider"


def worker_properties(kafka: str, group: str) -> dict[str, str]:
    """Worker properties with short intervals, and JSON headers."""
    return {
        **distributed_properties(kafka, group),
        "header.converter": JSON,
        "connector.client.config.override.policy": "All",
        # The group of a killed worker waits that long for its members.
        "consumer.session.timeout.ms": "10000",
        "plugin.path": str(HERE / "plugins"),
        "config.providers": "file",
        "config.providers.file.class": FILE_PROVIDER,
    }


@pytest.fixture(scope="session")
def dropped_plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder on the shared worker's plugin.path, empty at its start."""
    return tmp_path_factory.mktemp("dropped-plugins")


@pytest.fixture(scope="session")
def shared_worker(
    kafka: str, dropped_plugins: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PenstockWorker]:
    """A distributed worker on the run's broker; tests ask for `worker`."""
    properties = worker_properties(kafka, f"shared-{uuid.uuid4().hex[:8]}")
    properties["plugin.path"] += f",{dropped_plugins}"
    with PenstockWorker(tmp_path_factory.mktemp("worker"), properties) as worker:
        yield worker


@pytest.fixture
def worker(shared_worker: PenstockWorker) -> Iterator[PenstockWorker]:
    """The shared worker, without connectors before and after. Do not stop it, nor its Spark."""
    yield shared_worker
    for name in shared_worker.rest.connectors():
        shared_worker.rest.delete(name)
