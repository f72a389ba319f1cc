"""The real REST API with a herder whose worker is scripted, and a client of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from penstock.client import Client
from penstock.testing.waiting import patient, soon
from penstock.worker.rest.listeners import bind
from penstock.worker.rest.server import RestServer
from tests.unit.worker.herder.harness import SETTINGS, Bench, VaultSource, running

VAULT_CLASS = VaultSource.class_name()


@dataclass(frozen=True, slots=True)
class Served:
    """A worker without Spark, and its client."""

    bench: Bench
    client: Client
    url: str

    def stored(self, name: str) -> dict[str, str]:
        """A config as it is stored, with its passwords."""
        found = self.bench.configs.snapshot().connectors[name].config
        assert found is not None
        return dict(found)

    def target(self, name: str) -> str:
        """The target state that is stored."""
        return self.bench.configs.snapshot().connectors[name].target


@contextmanager
def served() -> Iterator[Served]:
    with running() as bench:
        listeners = bind(SETTINGS)
        server = RestServer(listeners, bench.herder, SETTINGS)
        server.start(soon())
        url = f"http://127.0.0.1:{listeners.main[0].port}"
        try:
            with Client(url, timeout=patient(), retry_seconds=2) as client:
                yield Served(bench, client, url)
        finally:
            server.close(soon())
