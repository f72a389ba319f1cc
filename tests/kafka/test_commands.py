"""`penstock kafka` and the pieces of `penstock doctor` that talk to a broker."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from penstock.cli import doctor
from penstock.machine.broker_probe import describe
from penstock.machine.free_ports import free_port
from penstock.machine.process import Child
from penstock.testing.waiting import patient


def test_penstock_kafka_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    port = free_port()
    data = str(tmp_path / "data")
    command = [sys.executable, "-m", "penstock", "kafka", "--data-dir", data, "--port", str(port)]
    with Child("penstock kafka", command, log=tmp_path / "log") as child:

        def serves() -> bool:
            try:
                return bool(describe("127.0.0.1", port, 2).brokers)
            except OSError:
                return False

        child.wait_until(serves, patient(), "Kafka answered")
        child.signal(signal.SIGINT)
        assert child.wait(patient())
        assert child.exit_code == 0
        assert f"127.0.0.1:{port}" in child.tail()
        assert not serves()


def test_the_doctor_finds_a_live_broker(kafka: str) -> None:
    finding = doctor._broker({"bootstrap.servers": kafka})
    assert (finding.verdict, finding.text) == (
        doctor.Verdict.OK,
        f"{kafka} answers for 1 broker(s)",
    )
