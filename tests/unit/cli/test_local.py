"""Who hears of the end of the embedded Kafka; another program stands for it here."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from penstock.cli import local
from penstock.kernel.errors import SetupError
from penstock.machine.embedded_kafka import EmbeddedKafka
from penstock.machine.process import Child
from penstock.testing.waiting import patient


@pytest.fixture(params=["it recovers", "it serves"])
def kafka(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> EmbeddedKafka:
    monkeypatch.setattr(local, "_WATCH_SECONDS", 0.05)
    found = EmbeddedKafka(tmp_path)
    found._child = Child("Kafka", ["sleep", "60"], log=found.log)
    monkeypatch.setattr(found, "_serves", lambda: request.param == "it serves")
    return found


def test_a_kafka_that_we_stop_is_no_failure(kafka: EmbeddedKafka) -> None:
    stopping = threading.Timer(0.2, kafka.stop)
    stopping.start()
    local._attend(kafka)
    assert not kafka.running
    stopping.join(patient())


def test_a_kafka_that_dies_is_one(kafka: EmbeddedKafka) -> None:
    threading.Timer(0.2, kafka.child.kill).start()
    with pytest.raises(SetupError, match=r"Kafka ended (by itself|with status -9)"):
        local._attend(kafka)
