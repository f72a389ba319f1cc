"""The REST API over real HTTP, with a herder whose worker is scripted."""

from __future__ import annotations

from typing import Any

import httpx

from penstock.testing.waiting import patient, soon
from penstock.worker.rest.listeners import bind
from penstock.worker.rest.server import RestServer
from penstock.worker.settings import StandaloneSettings
from tests.unit.worker.herder.harness import SETTINGS, SOURCE, Bench


class Served:
    """A herder and its API."""

    def __init__(self, bench: Bench, **props: str) -> None:
        self.bench = bench
        given = {**SETTINGS.props, **{key.replace("_", "."): text for key, text in props.items()}}
        settings = StandaloneSettings.read(given)
        self.listeners = bind(settings)
        self.server = RestServer(self.listeners, bench.herder, settings)
        self.server.start(soon())
        port = self.listeners.main[0].port
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=patient())

    def close(self) -> None:
        self.http.close()
        self.server.close(soon())

    def create(self, name: str = "c", **extra: Any) -> httpx.Response:
        return self.http.post("/connectors", json={"name": name, "config": SOURCE, **extra})
