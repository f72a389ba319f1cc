"""Workers for tests: one that all share, one for tests that look at everything a worker has."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock.machine.free_ports import free_port
from penstock.machine.process import Server
from penstock.testing.connect import distributed_properties
from penstock.testing.rest import ConnectRest
from penstock.testing.worker import PenstockWorker
from tests.shared import servers

ENV_PROVIDER = "org.apache.kafka.common.config.provider.EnvVarConfigProvider"


@pytest.fixture(scope="session")
def shared_worker(server: Callable[[str], Server]) -> PenstockWorker:
    """A distributed worker on the run's broker; tests ask for `worker`."""
    found = server("worker")
    assert isinstance(found, PenstockWorker)
    return found


@pytest.fixture(scope="session")
def dropped_plugins(shared_worker: PenstockWorker) -> Path:
    """A folder on the shared worker's plugin.path, empty at its start."""
    return servers.dropped_plugins(shared_worker.directory)


@pytest.fixture
def worker(shared_worker: PenstockWorker, token: str) -> Iterator[PenstockWorker]:
    """The shared worker: other tests have connectors there, so names come from `unique`."""
    found = copy.copy(shared_worker)
    found.rest = ConnectRest(found.url, own=token)
    yield found
    _clean(found.rest)


@pytest.fixture(scope="session")
def lone_worker(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PenstockWorker]:
    """A worker for tests that list, count or change all it has; they ask for `lone`.

    It knows the database of the examples from its environment, and its Spark tells about its jobs.
    """
    directory = tmp_path_factory.mktemp("lone")
    properties = {
        **distributed_properties(kafka, f"lone-{uuid.uuid4().hex[:8]}"),
        "config.providers": "env",
        "config.providers.env.class": ENV_PROVIDER,
        "spark.ui.enabled": "true",
        "spark.ui.port": str(free_port()),
        "spark.driver.host": "127.0.0.1",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHOP_DATABASE", f"jdbc:sqlite:{directory / 'shop.db'}")
        with PenstockWorker(directory, properties) as found:
            yield found


@pytest.fixture
def lone(lone_worker: PenstockWorker) -> Iterator[PenstockWorker]:
    """The worker that one test at a time has for itself, without connectors before and after."""
    _clean(lone_worker.rest)
    yield lone_worker
    _clean(lone_worker.rest)


@pytest.fixture(scope="session")
def mortal_worker(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PenstockWorker]:
    """A worker that tests may kill, as `mortal`. Its answers are as plain as Connect's."""
    properties = servers.worker_properties(kafka, f"mortal-{uuid.uuid4().hex[:8]}")
    properties |= {"consumer.session.timeout.ms": "6000", "penstock.secrets.shown": "always"}
    with PenstockWorker(tmp_path_factory.mktemp("mortal"), properties) as found:
        yield found


@pytest.fixture
def mortal(mortal_worker: PenstockWorker) -> Iterator[PenstockWorker]:
    """The worker that one test at a time may kill. It runs before, and again afterwards."""
    yield mortal_worker
    if not mortal_worker.running:
        mortal_worker.start()
    _clean(mortal_worker.rest)


def _clean(rest: ConnectRest) -> None:
    for name in rest.connectors():
        rest.delete(name)
